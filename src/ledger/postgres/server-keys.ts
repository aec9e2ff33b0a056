import { keyColumns, storedKey } from '../key-row.ts'
import { keyTable, type Recording } from '../key-works.ts'
import type { KeyTable } from '../ledger.ts'
import { inSteps } from '../work.ts'
import type { KeyCache, KeysRead, ServerKey } from './key-cache.ts'
import type { PostgresClient, Query, SqlValue, WorkOptions } from './postgres-client.ts'
import { serverSql } from './server-sql.ts'

export interface ServerKeysOptions {
  readonly client: PostgresClient
  /** The copy on this machine; absent without one. */
  readonly cache: KeyCache | undefined
}

/**
 * The keys of a database in PostgreSQL. After the transaction of a change the copy of this machine has it, then the
 * call returns. Other machines read it within a second.
 */
export function serverKeys(options: ServerKeysOptions, recording: Recording): KeyTable {
  const { client, cache } = options
  return keyTable(
    {
      read: (work) => client.perform((query) => inSteps(query, work())),
      change: (work) => changeAtServer(options, (query, version) => inSteps(query, work(version))),
      kind: serverSql,
      own: {
        mayBeAway: true,
        stamp: () => cache?.stamp() ?? -1,
        changes(mark) {
          if (cache === undefined) throw new Error('without a copy there are no changes')
          return cache.changes(mark)
        },
      },
    },
    recording,
  )
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
  return rows.map((row) => ({ ...storedKey(row), version: Number(row['version']) }))
}
