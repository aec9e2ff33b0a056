import { LedgerRefused, LedgerTooNew } from '../ledger.ts'
import type { PostgresClient, Query } from './postgres-client.ts'
import { serverMigrations } from './postgres-migrations.ts'

/** `svcl` in ASCII: the advisory lock of migrations. */
const lockId = 0x7376636c
const migrationMs = 600_000
/** PostgreSQL 15. */
const versionMin = 150_000

export interface SchemaOptions {
  /** Names the database in errors. */
  readonly name: string
  readonly migrations?: readonly string[]
  /** A newer schema is used, too: steps only add. For a process that replaces one of a running service. */
  readonly mayBeNewer?: boolean
}

/**
 * Brings the schema `svc` up to date, once for all processes.
 *
 * @returns the id of the database, which no other one has
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function prepareSchema(
  client: PostgresClient,
  { name, migrations = serverMigrations, mayBeNewer = false }: SchemaOptions,
): Promise<string> {
  const found = await client.perform(stateOf)
  if (found.server < versionMin)
    throw new LedgerRefused(`the database ${name} is of an older PostgreSQL: 15 or later is needed`)
  if (found.encoding !== 'UTF8')
    throw new LedgerRefused(
      `the database ${name} has the encoding ${found.encoding}: make one with ` +
        'createdb --encoding=UTF8 --template=template0',
    )
  const state =
    found.version < migrations.length ? await client.transaction(migrated, { deadlineMs: migrationMs }) : found
  if (state.version > migrations.length && !mayBeNewer)
    throw new LedgerTooNew(
      `the database ${name} has schema ${state.version}, this version of svc knows ${migrations.length}: ` +
        'use the newer svc',
    )
  return state.id

  async function migrated(query: Query): Promise<SchemaState> {
    await query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0`)
    await query('SELECT pg_advisory_xact_lock($1)', [lockId])
    // Another process may have migrated it meanwhile.
    const { version } = await stateOf(query)
    if (version === 0) await begin(query, name)
    for (const step of migrations.slice(version)) await query(step)
    if (version < migrations.length) await query('UPDATE schema SET version = $1', [migrations.length])
    return await stateOf(query)
  }
}

interface SchemaState {
  /** 0: none. */
  readonly version: number
  readonly id: string
  /** Version of the server: 150018 is 15.18. */
  readonly server: number
  /** The server converts nothing for `SQL_ASCII`, and refuses what others cannot write. */
  readonly encoding: string
}

async function stateOf(query: Query): Promise<SchemaState> {
  const [facts] = await query(
    // By the catalogue itself: names that a function looks up may be those of before the lock.
    `SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = 'svc' AND relname = 'schema') AS there, current_setting('server_version_num') AS server,
            current_setting('server_encoding') AS encoding`,
  )
  const server = Number(facts?.['server'])
  const encoding = String(facts?.['encoding'])
  if (facts?.['there'] !== true) return { version: 0, id: '', server, encoding }
  const [row] = await query('SELECT version, id FROM svc.schema')
  return { version: Number(row?.['version']), id: String(row?.['id']), server, encoding }
}

async function begin(query: Query, name: string): Promise<void> {
  const [others] = await query(
    `SELECT count(*) AS count FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'svc'`,
  )
  if (Number(others?.['count']) > 0)
    throw new LedgerRefused(`the database ${name} has a schema svc of another program: use another database`)
  await query('CREATE SCHEMA IF NOT EXISTS svc')
  await query('CREATE TABLE schema (version bigint NOT NULL, id uuid NOT NULL)')
  await query('INSERT INTO schema (version, id) VALUES (0, gen_random_uuid())')
}
