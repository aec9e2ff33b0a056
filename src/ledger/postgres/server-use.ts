import { LedgerTooNew, LedgerUnavailable } from '../ledger.ts'
import { bookDead } from '../use/hold-table.ts'
import { rowsOfBatches } from '../use/named-use.ts'
import type { TimesRow, Unit } from '../use/outcome-rows.ts'
import { rowRetentionDefault, type RowRetention } from '../use/rows-file.ts'
import { readBatch, type ReadBatch, type UseBatch } from '../use/use-batch.ts'
import type { UseStore, WriteResult } from '../use/use-store.ts'
import { addRows, addUse, sweepSums, type UseKind } from '../use/use-works.ts'
import { UseWriter } from '../use/use-writer.ts'
import { inSteps, insertRows, numberInRow, rowsOf, sql, statement, type Work } from '../work.ts'
import { OutcomeUnknown, type PostgresClient, type Query } from './postgres-client.ts'
import { deleteSomeServerContent } from './server-content.ts'
import { serverSql } from './server-sql.ts'
import { dropWeeks, makeWeeks } from './server-weeks.ts'

export interface ServerUseOptions {
  readonly client: PostgresClient
  /** IANA name. */
  readonly zone: string
  readonly retention?: RowRetention
  /** Added to the clock of the server, for tests. */
  readonly clockOffsetMs?: number
}

/** Requests, or sums, of one transaction; a batch is never cut. */
const partMax = 1_000
/** Limit of waiting for a lock on rows that others write, in which partitions are dropped. */
const dropLockMs = 1_000

/**
 * The use in PostgreSQL. Sums and rows of batches are one transaction. Several machines may write at a time: all add
 * sums in one order, so that no two wait for each other.
 */
export function serverUseStore({
  client,
  zone,
  retention = rowRetentionDefault,
  clockOffsetMs = 0,
}: ServerUseOptions): UseStore {
  const kind: UseKind = {
    ...serverSql,
    now: () => statement(`(floor(extract(epoch FROM now()) * 1000)::bigint + ${clockOffsetMs})`),
    ...{ addTimes, rowNumbers, rowsHaveTime: true },
  }
  const writer = new UseWriter({
    perform: (work) => client.perform((query) => inSteps(query, work())),
    ...{ zone, now: Date.now },
  })
  let hasWeeks = false

  async function timeOf(query: Query): Promise<number> {
    const [row] = await inSteps(query, rowsOf(sql`SELECT ${kind.now()} AS now`))
    return numberInRow(row, 'now')
  }

  async function prepareWeeks(): Promise<void> {
    await client.transaction(async (query) => makeWeeks(query, await timeOf(query)))
    hasWeeks = true
  }

  /** @returns why rows were given up; `undefined`: they are stored */
  async function writePart(batches: readonly ReadBatch[]): Promise<string | undefined> {
    if (!hasWeeks) await prepareWeeks()
    const problem = await writer.write(batches, (prepared) =>
      client.transaction(async (query) => {
        const { fresh, time } = await inSteps(query, addUse(prepared, kind))
        return await tried(query, () => inSteps(query, addRows(rowsOfBatches(prepared, fresh), kind, time)))
      }),
    )
    if (problem !== undefined) hasWeeks = false
    return problem
  }

  /** Batches that a later failure leaves written count once when they are sent again. */
  async function write(batches: readonly UseBatch[]): Promise<WriteResult> {
    let rowsProblem: string | undefined
    let isPartWritten = false
    try {
      for (const part of partsOf(batches.map(readBatch))) {
        rowsProblem = (await writePart(part)) ?? rowsProblem
        isPartWritten = true
      }
    } catch (error) {
      const isUnknown = isPartWritten || error instanceof OutcomeUnknown
      return { sumsProblem: reasonOf(error), ...(isUnknown ? { isUnknown } : {}) }
    }
    return rowsProblem === undefined ? {} : { rowsProblem, areRowsLost: true }
  }

  return {
    async prepare() {
      try {
        await prepareWeeks()
      } catch {
        // The next write reports the trouble.
      }
    },
    async bookDead() {
      try {
        return await client.transaction((query) => inSteps(query, bookDead(writer.hours, kind)))
      } catch {
        return true // The next write reports the trouble.
      }
    },
    write,
    setZone: (next) => writer.setZone(next),
    async sweep() {
      try {
        await prepareWeeks()
        return await client.transaction(async (query) => {
          const now = await timeOf(query)
          await query(`SET LOCAL lock_timeout = ${dropLockMs}`)
          await dropWeeks(query, now, retention)
          const hasMore = await inSteps(query, sweepSums(now))
          return (await deleteSomeServerContent(query, now)) || hasMore
        })
      } catch {
        return false // The next write reports the trouble.
      }
    },
    close: () => client.close(),
  }
}

/** Parts of few requests, so that a slow server can write each within the deadline of a statement. */
function partsOf(batches: readonly ReadBatch[]): readonly (readonly ReadBatch[])[] {
  const parts: ReadBatch[][] = []
  let count = Number.POSITIVE_INFINITY
  for (const batch of batches) {
    const more = 'requests' in batch ? batch.requests.length : batch.sums.use.length
    if (count + more > partMax) {
      parts.push([])
      count = 0
    }
    parts.at(-1)?.push(batch)
    count += more
  }
  return parts
}

/** Buckets of times are added by their places. */
function* addTimes(unit: Unit, rows: readonly TimesRow[]): Work<void> {
  const keys = [unit, 'model', 'provider']
  const added = (column: 'first' | 'total'): string =>
    `${column} = ARRAY(SELECT coalesce(known, 0) + coalesce(more, 0)
       FROM unnest(times_${unit}.${column}, excluded.${column}) WITH ORDINALITY AS pair (known, more, place)
       ORDER BY place)`
  const add = insertRows(
    `times_${unit}`,
    { columns: [...keys, 'first integer[]', 'total integer[]'], keys: keys.length },
    statement(`ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${added('first')}, ${added('total')}`),
  )
  yield add(
    rows.map(({ time, model, provider, first, total }) => [
      ...[time, model, provider],
      ...[`{${first.join()}}`, `{${total.join()}}`],
    ]),
  )
}

function* rowNumbers(count: number): Work<readonly number[]> {
  const rows = yield sql`SELECT nextval('request_seq') AS seq FROM generate_series(1, ${count})`
  return rows.map((row) => numberInRow(row, 'seq'))
}

/** Rows that cannot be stored must not keep sums from being stored. @returns why they were not */
async function tried(query: Query, work: () => Promise<void>): Promise<string | undefined> {
  await query('SAVEPOINT rows')
  try {
    await work()
    return undefined
  } catch (error) {
    await query('ROLLBACK TO SAVEPOINT rows')
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof LedgerUnavailable || error instanceof LedgerTooNew) return error.message
  return error instanceof Error ? error.message : String(error)
}
