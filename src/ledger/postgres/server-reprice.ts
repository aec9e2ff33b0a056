import { appendEntry } from '../audit-works.ts'
import { nameOfServer } from '../ledger-place.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { moveSums } from '../use/reprice-works.ts'
import {
  computeCosts,
  repriceEntry,
  type RepriceOptions,
  type RepriceReport,
  type RepriceSource,
} from '../use/repricing.ts'
import type { TableReader } from '../use/stored-requests.ts'
import { inSteps } from '../work.ts'
import { jsonParameter, postgresClient, type Query } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'
import { serverSql } from './server-sql.ts'

/** `svcr` in ASCII: the advisory lock of a repricing. */
const lockId = 0x73766372
const deadlineMs = 60_000

/**
 * Computes the costs of the rows in PostgreSQL anew, and moves the sums by the differences, with an entry in the audit:
 * all in one transaction.
 *
 * @throws {LedgerUnavailable}
 */
export async function repriceServer(url: string, options: RepriceOptions): Promise<RepriceReport> {
  const client = postgresClient({ url })
  try {
    await prepareSchema(client, { name: nameOfServer(url) })
    return await client.transaction((query) => repriceWithin(query, options), { deadlineMs })
  } finally {
    await client.close()
  }
}

async function repriceWithin(query: Query, options: RepriceOptions): Promise<RepriceReport> {
  const [lock] = await query(`SELECT pg_try_advisory_xact_lock(${lockId}) AS taken`)
  if (lock?.['taken'] !== true)
    throw new LedgerUnavailable('costs are being computed anew by another process: wait for its end')
  // The deadline of the client is above the usual one of the server.
  await query(`SET LOCAL statement_timeout = ${deadlineMs}`)
  const { report, moves } = await computeCosts(options, serverSource(query))
  if (options.isDryRun || report.changed === 0) return report
  await inSteps(query, moveSums(moves, serverSql))
  await query('SELECT version FROM head FOR UPDATE')
  await inSteps(query, appendEntry(repriceEntry(options, report), serverSql))
  return report
}

function serverSource(query: Query): RepriceSource {
  const tables: TableReader = ({ text, values }) => query(text, values)
  return {
    names: tables,
    rows: tables,
    kind: serverSql,
    order: ['time', 'seq'],
    async store(costs) {
      await query(
        `UPDATE request SET cost = given.cost, flags = given.flags
         FROM jsonb_to_recordset($1::text::jsonb) AS given (time bigint, seq bigint, cost bigint, flags bigint)
         WHERE request.time = given.time AND request.seq = given.seq`,
        [jsonParameter(costs.map(({ row: { time, seq }, cost, flags }) => ({ time, seq, cost, flags })))],
      )
    },
  }
}
