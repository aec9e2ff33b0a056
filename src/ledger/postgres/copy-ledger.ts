import { Database } from 'bun:sqlite'
import { LedgerRefused } from '../ledger.ts'
import { jsonParameter, type PostgresClient, type Query } from './postgres-client.ts'

/** Tables that are copied; their columns have the same names in both databases. */
const tables = [
  'key',
  'audit',
  'meta',
  'label',
  'person',
  'batch',
  'hold',
  'usage_hour',
  'usage_day',
  'usage_session',
] as const

/** Rows sent in one statement. */
const chunkRows = 2_000
const copyMs = 600_000

/** Numbers of copied rows. */
export type CopiedLedger = Readonly<Record<(typeof tables)[number], number>>

/**
 * Copies all of svc.db, as it is at one moment, into an empty database with a current schema, in one transaction: keys
 * with their ids, the audit with its chain, sums of use with their names.
 *
 * @param path of svc.db, with a current schema
 * @param name of the server, for errors
 * @throws {LedgerRefused} the database is not empty @throws {LedgerUnavailable}
 */
export async function copyLedger(path: string, client: PostgresClient, name: string): Promise<CopiedLedger> {
  const source = new Database(path, { readonly: true })
  try {
    // A snapshot, also while a service writes.
    source.run('BEGIN')
    return await client.transaction((query) => copyAll(source, query, name), { deadlineMs: copyMs })
  } finally {
    source.close()
  }
}

async function copyAll(source: Database, query: Query, name: string): Promise<CopiedLedger> {
  await query('SET LOCAL statement_timeout = 0')
  // No key is made meanwhile.
  await query('LOCK TABLE head')
  const [found] = await query(
    'SELECT EXISTS (SELECT FROM key) OR EXISTS (SELECT FROM audit) OR EXISTS (SELECT FROM usage_day) AS is_used',
  )
  if (found?.['is_used'] !== false)
    throw new LedgerRefused(`the database ${name} has keys or use already: svc migrate fills an empty one only`)
  const counts: [string, number][] = []
  for (const table of tables) counts.push([table, await copyTable(source, query, table)])
  for (const table of ['key', 'label', 'person']) await continueIds(source, query, table)
  await query(`UPDATE head SET version = (SELECT coalesce(max(version), 0) FROM key), audit = $1`, [
    lastGiven(source, 'audit'),
  ])
  // Each table was counted.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return Object.fromEntries(counts) as CopiedLedger
}

async function copyTable(source: Database, query: Query, table: string): Promise<number> {
  let count = 0
  let chunk: object[] = []
  async function send(): Promise<void> {
    await query(
      `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
       SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
      [jsonParameter(chunk)],
    )
    count += chunk.length
    chunk = []
  }
  for (const row of source.query<Record<string, unknown>, []>(`SELECT * FROM ${table}`).iterate()) {
    chunk.push(Object.fromEntries(Object.entries(row).map(([column, value]) => [column, storable(value)])))
    if (chunk.length >= chunkRows) await send()
  }
  if (chunk.length > 0) await send()
  return count
}

/** Bytes as PostgreSQL reads them. */
function storable(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
}

/** Further ids follow those that were ever given. */
async function continueIds(source: Database, query: Query, table: string): Promise<void> {
  await query(
    `SELECT setval(pg_get_serial_sequence('${table}', 'id'), last, last > 0)
     FROM (SELECT greatest(coalesce(max(id), 0), $1) AS last FROM ${table}) AS ids WHERE last > 0`,
    [lastGiven(source, table)],
  )
}

/** The largest number that SQLite has given to a row of a table; 0: it keeps none. */
function lastGiven(source: Database, table: string): number {
  const row = source.query<{ seq: number }, [string]>('SELECT seq FROM sqlite_sequence WHERE name = ?1').get(table)
  return row?.seq ?? 0
}
