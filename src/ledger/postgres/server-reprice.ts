import { appendEntry, serverAudit } from '../audit-works.ts'
import { nameOfServer } from '../ledger-place.ts'
import { LedgerUnavailable } from '../ledger.ts'
import {
  computeCosts,
  repriceEntry,
  rowColumns,
  type RepriceOptions,
  type RepriceReport,
  type RepriceSource,
  type StoredRow,
  type SumMove,
} from '../use/repricing.ts'
import { sumKeyColumns } from '../use/sums-table.ts'
import { inSteps } from '../work.ts'
import { jsonParameter, postgresClient, type Query, type SqlRow } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'

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
  const { report, moves } = await computeCosts(options, await serverSource(query, options))
  if (options.isDryRun || report.changed === 0) return report
  for (const unit of ['hour', 'day'] as const) await addMoves(query, unit, moves)
  await query('SELECT version FROM head FOR UPDATE')
  await inSteps(query, appendEntry(repriceEntry(options, report), serverAudit))
  return report
}

async function serverSource(query: Query, { since }: RepriceOptions): Promise<RepriceSource> {
  const [zone] = await query("SELECT value FROM meta WHERE name = 'time_zone'")
  return {
    zone: typeof zone?.['value'] === 'string' ? zone['value'] : 'UTC',
    async page(last, limit) {
      const rows = await query(
        `SELECT ${rowColumns.join(', ')} FROM request
         WHERE time >= $1 AND (time, seq) > ($2, $3) AND provider <> 0 ORDER BY time, seq LIMIT $4`,
        [since, last?.time ?? Number.MIN_SAFE_INTEGER, last?.seq ?? 0, limit],
      )
      return rows.map(storedRow)
    },
    async namesOf(ids) {
      const rows = await query(
        `SELECT id, text FROM label
         WHERE id IN (SELECT id FROM jsonb_to_recordset($1::text::jsonb) AS given (id bigint))`,
        [jsonParameter(ids.map((id) => ({ id })))],
      )
      return new Map(rows.map((row) => [Number(row['id']), String(row['text'])]))
    },
    async areThere(sums) {
      if (sums.length === 0) return []
      const rows = await query(
        `SELECT EXISTS (SELECT FROM usage_hour AS sum WHERE sum.hour = given.hour AND ${sameKey})
            AND EXISTS (SELECT FROM usage_day AS sum WHERE sum.day = given.day AND ${sameKey}) AS found
         FROM ${givenSums} ORDER BY place`,
        [sumsParameter(sums)],
      )
      return rows.map((row) => row['found'] === true)
    },
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

const sameKey = sumKeyColumns.map((name) => `sum.${name} = given.${name}`).join(' AND ')
const movedColumns = ['place', 'hour', 'day', ...sumKeyColumns, 'cost', 'estimated', 'unpriced']
const movedTypes = movedColumns.map((name) => `${name} bigint`).join(', ')
const givenSums = `jsonb_to_recordset($1::text::jsonb) AS given (${movedTypes})`

function sumsParameter(sums: readonly SumMove[]): string {
  return jsonParameter(
    sums.map(({ key, ...sum }, place) => ({
      place,
      ...sum,
      ...Object.fromEntries(sumKeyColumns.map((name, index) => [name, key[index]])),
    })),
  )
}

/** Hours and days have several moves at most where they end in one day: these are added up. */
async function addMoves(query: Query, unit: 'hour' | 'day', moves: readonly SumMove[]): Promise<void> {
  const keys = [unit, ...sumKeyColumns]
  const amounts = ['cost', 'estimated', 'unpriced']
  // Rows are locked in the order in which machines add to them.
  await query(
    `WITH moved AS (
       SELECT ${keys.join(', ')}, ${amounts.map((name) => `sum(${name}) AS ${name}`).join(', ')}
       FROM ${givenSums} GROUP BY ${keys.join(', ')}
     ), locked AS (
       SELECT ${keys.map((name) => `sum.${name}`).join(', ')} FROM usage_${unit} AS sum JOIN moved AS given
       ON sum.${unit} = given.${unit} AND ${sameKey}
       ORDER BY ${keys.map((name) => `sum.${name}`).join(', ')} FOR UPDATE OF sum
     )
     UPDATE usage_${unit} AS sum SET cost = sum.cost + given.cost,
       cost_estimated = sum.cost_estimated + given.estimated, unpriced = sum.unpriced + given.unpriced
     FROM moved AS given JOIN locked ON ${keys.map((name) => `locked.${name} = given.${name}`).join(' AND ')}
     WHERE sum.${unit} = given.${unit} AND ${sameKey}`,
    [sumsParameter(moves)],
  )
}

/** Numbers come as texts. */
function storedRow(row: SqlRow): StoredRow {
  const number = (name: (typeof rowColumns)[number]): number => Number(row[name])
  return {
    seq: number('seq'),
    time: number('time'),
    ms: number('ms'),
    line: number('line'),
    person: number('person'),
    team: number('team'),
    model: number('model'),
    provider: number('provider'),
    input: number('input'),
    cached: number('cached'),
    write5: number('write5'),
    write60: number('write60'),
    output: number('output'),
    reasoning: number('reasoning'),
    cost: row['cost'] === null ? null : number('cost'),
    flags: number('flags'),
  }
}
