import {
  keyColumns,
  ownerColumns,
  ownerCondition,
  keyOwnerOf,
  lineRowColumns,
  lineRowValues,
  ownerValues,
  personValues,
  storedKey,
  type KeyRow,
} from '../key-row.ts'
import {
  checkCeilings,
  checkKeysInUse,
  dayBefore,
  ending,
  making,
  refusalOfSuccessor,
  rotation,
  type ChangedKey,
} from '../key-rules.ts'
import type { Recording } from '../key-table.ts'
import type { AuditMark, KeyOwner, KeyTable, NewKey, StoredKey } from '../ledger.ts'
import type { KeyCache, KeysRead, ServerKey } from './key-cache.ts'
import {
  jsonParameter,
  type PostgresClient,
  type Query,
  type SqlRow,
  type SqlValue,
  type WorkOptions,
} from './postgres-client.ts'
import { appendServerEntry } from './server-audit.ts'

/** Facilities of {@link serverKeys}. */
export interface ServerKeysOptions {
  readonly client: PostgresClient
  /** The copy on this machine; `undefined`: there is none. */
  readonly cache: KeyCache | undefined
}

/**
 * The keys of a database in PostgreSQL. A change and its entry in the audit are one transaction, then the copy of this
 * machine has the change, then the call returns. Other machines read it within a second.
 */
export function serverKeys(options: ServerKeysOptions, { via, onEntry }: Recording): KeyTable {
  const { client, cache } = options

  /** Performs a change, and records it. */
  async function change<Value>(
    work: (query: Query, version: number, record: Recorder) => Promise<Value>,
  ): Promise<Value> {
    let entry: AuditMark | undefined
    const value = await changeAtServer(options, (query, version) => {
      entry = undefined
      return work(query, version, async ({ id, ...facts }) => {
        entry = await appendServerEntry(query, { ...facts, via, object: String(id) })
      })
    })
    if (entry !== undefined) onEntry?.(entry)
    return value
  }

  const rows = (condition: string, values: readonly SqlValue[]): Promise<readonly StoredKey[]> =>
    client.perform(async (query) => (await readKeys(query, condition, values)).map(withoutVersion))

  return {
    mayBeAway: true,
    stamp: () => cache?.stamp() ?? -1,
    changes(mark) {
      if (cache === undefined) throw new Error('without a copy there are no changes')
      return cache.changes(mark)
    },
    find: async (id) => (await rows('id = $1', [id]))[0],
    list: (after, limit) => rows('id > $1 ORDER BY id LIMIT $2', [after, limit]),
    listOf(owner, limit) {
      const [column, value] = ownerCondition(owner)
      return rows(`${column} = $1 ORDER BY id DESC LIMIT $2`, [value, limit])
    },
    add: (key, most) =>
      change(async (query, version, record) => {
        await checkOwned(query, key, most)
        const added = await insert(query, key, version)
        await record(making(added))
        return added
      }),
    notePerson: (person) =>
      change(async (query, version) => {
        await query(
          `UPDATE key SET person_name = $2, person_user_id = $3, person_caseless = $4, person_seen = $5, version = $6
           WHERE person = $1 AND ended IS NULL`,
          [...personValues(person), version],
        )
      }),
    replace: (id, successor, expires, most) =>
      change(async (query, version, record) => {
        const [before] = await readKeys(query, 'id = $1', [id])
        const newer =
          before && (await query('SELECT 1 FROM key WHERE line = $1 AND id > $2 LIMIT 1', [before.line, id]))
        const refusal = refusalOfSuccessor(before, newer?.length === 0, successor.made)
        if (before === undefined || refusal !== undefined) return refusal ?? 'unknown'
        const end = Math.min(expires, before.expires ?? expires)
        await query('UPDATE key SET expires = $2, version = $3 WHERE id = $1', [id, end, version])
        await checkOwned(query, successor, most)
        const added = await insert(query, successor, version, before.line)
        await record(rotation(before, added, end))
        await record(making(added))
        return added
      }),
    end: (id, { at, by }) =>
      change(async (query, version, record) => {
        const ended = await query(
          'UPDATE key SET ended = $2, ended_by = $3, version = $4 WHERE id = $1 AND ended IS NULL RETURNING id',
          [id, at, by, version],
        )
        if (ended.length > 0) await record(ending(id, { at, by }))
        const [key] = await readKeys(query, 'id = $1', [id])
        return key && withoutVersion(key)
      }),
    async nameLine(line, name) {
      await client.perform((query) =>
        query(
          `INSERT INTO key (${lineRowColumns.names}) OVERRIDING SYSTEM VALUE
           VALUES ($1, $1, $2, $3, ${lineRowColumns.constants}) ON CONFLICT DO NOTHING`,
          lineRowValues(line, name),
        ),
      )
    },
    async uses(ids) {
      const query = `SELECT id, used FROM key WHERE used IS NOT NULL AND
                       id IN (SELECT value::bigint FROM jsonb_array_elements_text($1::text::jsonb))`
      const found = await client.perform((ask) => ask(query, [jsonParameter(ids.map(String))]))
      return new Map(found.map(({ id, used }) => [Number(id), Number(used)]))
    },
    async noteUses(uses) {
      const noted = jsonParameter(Array.from(uses, ([id, used]) => ({ id, used })))
      await client.perform((query) =>
        // Locked in their order: machines that note the same keys wait for each other.
        query(
          `WITH noted AS (
             SELECT key.id, given.used FROM key
             JOIN jsonb_to_recordset($1::text::jsonb) AS given (id bigint, used bigint)
               ON given.id = key.id ORDER BY key.id FOR UPDATE OF key)
           UPDATE key SET used = greatest(key.used, noted.used) FROM noted WHERE key.id = noted.id`,
          [noted],
        ),
      )
    },
  }
}

/** Performs a change in one transaction. Changes of all machines are in one order: each locks the row of `head`. */
export async function changeAtServer<Value>(
  { client, cache }: ServerKeysOptions,
  work: (query: Query, version: number) => Promise<Value>,
): Promise<Value> {
  const { value, database, keys } = await client.transaction(async (query) => {
    const version = await nextVersion(query)
    const value = await work(query, version)
    const keys = cache === undefined ? [] : await readKeys(query, 'version = $1', [version])
    return { value, keys, database: await databaseId(query) }
  })
  await cache?.applyOwn(database, keys)
  return value
}

type Recorder = (entry: ChangedKey) => Promise<void>

/** Brings the copy up to date. @param isWhole compares all keys */
export async function readIntoCache(
  client: PostgresClient,
  cache: KeyCache,
  isWhole: boolean,
  options: WorkOptions = {},
): Promise<void> {
  const base = await cache.state()
  const time = Date.now()
  const read = await client.perform(async (query): Promise<Omit<KeysRead, 'base' | 'time'>> => {
    const [head] = await query(
      'SELECT version, id FROM (SELECT version FROM head) AS head, (SELECT id FROM schema) AS own',
    )
    const state = { database: String(head?.['id']), version: Number(head?.['version']) }
    if (!isWhole && base?.database === state.database && base.highest <= state.version) {
      const isSame = base.version === state.version
      return { ...state, isWhole: false, keys: isSame ? [] : await readKeys(query, 'version > $1', [base.version]) }
    }
    return { ...state, isWhole: true, keys: await readKeys(query, 'true', []) }
  }, options)
  await cache.apply({ ...read, base, time })
}

async function nextVersion(query: Query): Promise<number> {
  const [head] = await query('UPDATE head SET version = version + 1 RETURNING version')
  return Number(head?.['version'])
}

async function databaseId(query: Query): Promise<string> {
  const [row] = await query('SELECT id FROM schema')
  return String(row?.['id'])
}

async function readKeys(query: Query, condition: string, values: readonly SqlValue[]): Promise<readonly ServerKey[]> {
  const rows = await query(`SELECT ${keyColumns}, version FROM key WHERE ${condition}`, values)
  return rows.map((row) => ({ ...storedKey(keyRow(row)), version: Number(row['version']) }))
}

function withoutVersion({ version: _, ...key }: ServerKey): StoredKey {
  return key
}

/** @throws {LedgerFull} */
async function checkOwned(query: Query, key: NewKey, most: number | undefined): Promise<void> {
  const owner = keyOwnerOf(key)
  if (owner !== undefined && most !== undefined) checkCeilings(owner, await ownedKeys(query, owner, key), most)
}

async function ownedKeys(query: Query, owner: KeyOwner, { made }: NewKey) {
  const [column, value] = ownerCondition(owner)
  const [row] = await query(
    `SELECT count(*) FILTER (WHERE ended IS NULL AND coalesce(expires, $2 + 1) > $2) AS in_use,
            count(*) FILTER (WHERE made > $3) AS of_today FROM key WHERE ${column} = $1`,
    [value, made, dayBefore(made)],
  )
  return { inUse: Number(row?.['in_use']), ofToday: Number(row?.['of_today']) }
}

/** @throws {LedgerFull} */
async function insert(query: Query, key: NewKey, version: number, line?: number): Promise<StoredKey> {
  const [row] = await query(
    'SELECT count(*) AS count FROM key WHERE ended IS NULL AND coalesce(expires, $1 + 1) > $1',
    [key.made],
  )
  checkKeysInUse(Number(row?.['count']))
  const { hash, hint, name, kind, made, madeBy, expires, grants } = key
  const [added] = await query(
    `INSERT INTO key (line, hash, hint, name, kind, made, made_by, expires, grants, version, ${ownerColumns})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING id`,
    [
      ...[line ?? 0, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, grants, version],
      ...ownerValues(key),
    ],
  )
  const id = Number(added?.['id'])
  if (line === undefined) await query('UPDATE key SET line = id WHERE id = $1', [id])
  return { ...key, id, line: line ?? id }
}

/** Numbers come as texts. */
function keyRow(row: SqlRow): KeyRow {
  const number = (name: string): number => Number(row[name])
  const numberOrNull = (name: string): number | null => (row[name] === null ? null : Number(row[name]))
  const text = (name: string): string => String(row[name])
  const textOrNull = (name: string): string | null => (row[name] === null ? null : String(row[name]))
  const hash = row['hash']
  return {
    id: number('id'),
    line: number('line'),
    hash: hash instanceof Uint8Array ? hash : new Uint8Array(),
    hint: text('hint'),
    name: text('name'),
    kind: text('kind'),
    made: number('made'),
    made_by: text('made_by'),
    expires: numberOrNull('expires'),
    ended: numberOrNull('ended'),
    ended_by: textOrNull('ended_by'),
    used: numberOrNull('used'),
    grants: text('grants'),
    person: textOrNull('person'),
    person_name: textOrNull('person_name'),
    person_user_id: textOrNull('person_user_id'),
    person_caseless: numberOrNull('person_caseless'),
    person_seen: numberOrNull('person_seen'),
    team: textOrNull('team'),
  }
}
