import { appendEntry } from './audit-works.ts'
import {
  keyColumns,
  keyOwnerOf,
  lineRowColumns,
  lineRowValues,
  ownerColumns,
  ownerCondition,
  ownerValues,
  personValues,
  storedKey,
} from './key-row.ts'
import {
  checkCeilings,
  checkKeysInUse,
  dayBefore,
  ending,
  making,
  refusalOfSuccessor,
  rotation,
  type ChangedKey,
} from './key-rules.ts'
import type { AuditMark, ChangeVia, KeyTable, NewKey, StoredKey } from './ledger.ts'
import type { SqlKind } from './sql-kind.ts'
import { numberInRow, places, sql, statement, type PerformWork, type Statement, type Work } from './work.ts'

/** How changes are recorded. */
export interface Recording {
  readonly via: ChangeVia
  /** Called after each recorded change. */
  readonly onEntry?: (entry: AuditMark) => void
}

/** A database of keys. */
export interface KeyDatabase {
  readonly read: PerformWork
  /** Performs a change in one transaction, then publishes it to all processes. @param work gets its number */
  change<Value>(work: (version: number) => Work<Value>): Promise<Value>
  readonly kind: SqlKind
  /** What each database does in its own way. */
  readonly own: Pick<KeyTable, 'stamp' | 'changes' | 'mayBeAway'>
}

type Recorder = (entry: ChangedKey) => Work<void>

/** The keys of a database. A change and its entry in the audit are one transaction. */
export function keyTable(database: KeyDatabase, { via, onEntry }: Recording): KeyTable {
  const { read, kind, own } = database

  /** Performs a change, and records it. */
  async function change<Value>(work: (version: number, record: Recorder) => Work<Value>): Promise<Value> {
    let entry: AuditMark | undefined
    const value = await database.change((version) => {
      entry = undefined
      return work(version, function* ({ id, ...facts }) {
        entry = yield* appendEntry({ ...facts, via, object: String(id) }, kind)
      })
    })
    if (entry !== undefined) onEntry?.(entry)
    return value
  }

  return {
    ...own,
    find: (id) => read(() => findKey(id)),
    list: (after, limit) => read(() => keysWhere('id > $1 ORDER BY id LIMIT $2', [after, limit])),
    listOf(owner, limit) {
      const [column, value] = ownerCondition(owner)
      return read(() => keysWhere(`${column} = $1 ORDER BY id DESC LIMIT $2`, [value, limit]))
    },
    add: (key, most) => change((version, record) => addKey(key, { most, version, record })),
    notePerson: (person) =>
      change(function* (version) {
        yield statement(
          `UPDATE key SET person_name = $2, person_user_id = $3, person_caseless = $4, person_seen = $5, version = $6
           WHERE person = $1 AND ended IS NULL`,
          [...personValues(person), version],
        )
      }),
    replace: (id, successor, expires, most) =>
      change((version, record) => replaceKey(id, successor, expires, { most, version, record })),
    end: (id, { at, by }) =>
      change(function* (version, record) {
        const ended = yield statement(
          'UPDATE key SET ended = $2, ended_by = $3, version = $4 WHERE id = $1 AND ended IS NULL RETURNING id',
          [id, at, by, version],
        )
        if (ended.length > 0) yield* record(ending(id, { at, by }))
        return yield* findKey(id)
      }),
    nameLine: (line, name) =>
      read(function* () {
        // Rows of lines have ids of their own.
        yield statement(
          `INSERT INTO key (${lineRowColumns.names}) ${kind.overriding.text}
           VALUES ($1, $1, $2, $3, ${lineRowColumns.constants}) ON CONFLICT DO NOTHING`,
          lineRowValues(line, name),
        )
      }),
    noteUses: (uses) => read(() => noteUses(uses, kind)),
    uses: (ids) =>
      read(function* () {
        if (ids.length === 0) return new Map()
        const text = `SELECT id, used FROM key WHERE used IS NOT NULL AND id IN (${places(ids.length)})`
        const rows = yield statement(text, ids)
        return new Map(rows.map((row) => [numberInRow(row, 'id'), numberInRow(row, 'used')]))
      }),
  }
}

/** One statement: outside a transaction, locks last no longer. */
function* noteUses(uses: ReadonlyMap<number, number>, { arrays, lock }: SqlKind): Work<void> {
  const given = sql`(SELECT CAST(value ->> 0 AS bigint) AS id, CAST(value ->> 1 AS bigint) AS used
                     FROM ${arrays([...uses])})`
  // Locked in their order: machines that note the same keys wait for each other.
  yield sql`WITH noted AS (SELECT key.id, given.used FROM key JOIN ${given} AS given ON given.id = key.id
              ORDER BY key.id ${lock?.('key') ?? statement('')})
            UPDATE key SET used = noted.used FROM noted WHERE noted.id = key.id AND coalesce(key.used, 0) < noted.used`
}

interface Change {
  /** Limit of the keys of one owner. */
  readonly most: number | undefined
  readonly version: number
  readonly record: Recorder
}

/** @throws {LedgerFull} */
function* addKey(key: NewKey, { most, version, record }: Change): Work<StoredKey> {
  yield* checkOwned(key, most)
  const added = yield* insert(key, version)
  yield* record(making(added))
  return added
}

/** @throws {LedgerFull} */
function* replaceKey(
  id: number,
  successor: NewKey,
  expires: number,
  { most, version, record }: Change,
): Work<Awaited<ReturnType<KeyTable['replace']>>> {
  const before = yield* findKey(id)
  const newer =
    before === undefined
      ? []
      : yield statement('SELECT 1 FROM key WHERE line = $1 AND id > $2 LIMIT 1', [before.line, id])
  const refusal = refusalOfSuccessor(before, before !== undefined && newer.length === 0, successor.made)
  if (before === undefined || refusal !== undefined) return refusal ?? 'unknown'
  const end = Math.min(expires, before.expires ?? expires)
  yield statement('UPDATE key SET expires = $2, version = $3 WHERE id = $1', [id, end, version])
  yield* checkOwned(successor, most)
  const added = yield* insert(successor, version, before.line)
  yield* record(rotation(before, added, end))
  yield* record(making(added))
  return added
}

function* findKey(id: number): Work<StoredKey | undefined> {
  return (yield* keysWhere('id = $1', [id]))[0]
}

/** Keys by a condition, as they are stored. */
export function* keysWhere(condition: string, values: Statement['values']): Work<readonly StoredKey[]> {
  return (yield statement(`SELECT ${keyColumns} FROM key WHERE ${condition}`, values)).map(storedKey)
}

/** @throws {LedgerFull} */
function* checkOwned(key: NewKey, most: number | undefined): Work<void> {
  const owner = keyOwnerOf(key)
  if (owner === undefined || most === undefined) return
  const [column, value] = ownerCondition(owner)
  const [row] = yield statement(
    `SELECT count(*) FILTER (WHERE ended IS NULL AND coalesce(expires, $2 + 1) > $2) AS in_use,
            count(*) FILTER (WHERE made > $3) AS of_today FROM key WHERE ${column} = $1`,
    [value, key.made, dayBefore(key.made)],
  )
  checkCeilings(owner, { inUse: numberInRow(row, 'in_use'), ofToday: numberInRow(row, 'of_today') }, most)
}

/** @throws {LedgerFull} */
function* insert(key: NewKey, version: number, line?: number): Work<StoredKey> {
  const [row] = yield statement(
    'SELECT count(*) AS count FROM key WHERE ended IS NULL AND coalesce(expires, $1 + 1) > $1',
    [key.made],
  )
  checkKeysInUse(numberInRow(row, 'count'))
  const { hash, hint, name, kind, made, madeBy, expires, grants } = key
  const [added] = yield statement(
    `INSERT INTO key (line, hash, hint, name, kind, made, made_by, expires, grants, version, ${ownerColumns})
     VALUES (${places(16)}) RETURNING id`,
    [
      ...[line ?? 0, Buffer.from(hash, 'base64'), hint, name, kind, made, madeBy, expires ?? null, grants, version],
      ...ownerValues(key),
    ],
  )
  const id = numberInRow(added, 'id')
  if (line === undefined) yield statement('UPDATE key SET line = id WHERE id = $1', [id])
  return { ...key, id, line: line ?? id }
}
