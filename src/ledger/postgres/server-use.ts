import type { HeldBy } from '../../observe/under-way.ts'
import { LedgerTooNew, LedgerUnavailable } from '../ledger.ts'
import { forgottenMark } from '../people/forgotten-mark.ts'
import { counterNames } from '../use/counters.ts'
import { bookedSum, holdValues, isDead, unbookedSum, type BookedRow } from '../use/hold-table.ts'
import type { NamesTable } from '../use/names-table.ts'
import { failureRows, timesRows, type FailureRow, type TimesRow } from '../use/outcome-rows.ts'
import { attemptColumns, attemptValues, requestColumns, requestValues } from '../use/row-values.ts'
import { rowRetentionDefault, type RowRetention } from '../use/rows-file.ts'
import { hourTables } from '../use/sums-file.ts'
import { identifiedSum, sumKeyColumns, type IdentifiedSum } from '../use/sums-table.ts'
import { readBatch, type ChargedRequest, type ReadBatch, type UseBatch } from '../use/use-batch.ts'
import type { UseStore, WriteResult } from '../use/use-store.ts'
import { useSums } from '../use/use-sums.ts'
import type { UseTotals } from '../use/use-totals.ts'
import { zoneHours, type ZoneHours } from '../use/zone-hours.ts'
import { jsonParameter, OutcomeUnknown, type PostgresClient, type Query, type SqlRow } from './postgres-client.ts'
import { deleteSomeServerContent } from './server-content.ts'
import { serverNames } from './server-names.ts'
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
const hoursKeptMs = 100 * 86_400_000
const sourcesKeptMs = 30 * 86_400_000
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
  let hours = zoneHours(zone)
  let names = serverNames(Date.now)
  let hasWeeks = false
  /** Of the people that were forgotten, as it was before the first of `names` was found. */
  let mark: string | undefined
  const clock = `(floor(extract(epoch FROM now()) * 1000)::bigint + ${clockOffsetMs})`

  async function timeOf(query: Query): Promise<number> {
    return Number((await query(`SELECT ${clock} AS now`))[0]?.['now'])
  }

  async function prepareWeeks(): Promise<void> {
    await client.transaction(async (query) => makeWeeks(query, await timeOf(query)))
    hasWeeks = true
  }

  /** Locks the sources of batches. @returns those that were not written before */
  async function begin(query: Query, batches: readonly ReadBatch[]): Promise<readonly ReadBatch[]> {
    const sources = jsonParameter(batches.map(({ source }) => ({ source })))
    const rows = await query(
      `INSERT INTO batch (source, number, time)
       SELECT source, 0, ${clock} FROM jsonb_to_recordset($1::text::jsonb) AS given (source text) GROUP BY 1 ORDER BY 1
       ON CONFLICT (source) DO UPDATE SET time = excluded.time
       RETURNING source, number, (SELECT value FROM meta WHERE name = $2) AS forgotten`,
      [sources, forgottenMark],
    )
    if (markOf(rows) !== mark) throw new PersonForgotten('the numbers of people must be looked up again')
    const last = new Map(rows.map((row) => [String(row['source']), Number(row['number'])]))
    const fresh = batches.filter(({ source, number }) => {
      if (number <= (last.get(source) ?? 0)) return false
      last.set(source, number)
      return true
    })
    await query(
      `UPDATE batch SET number = given.number
       FROM jsonb_to_recordset($1::text::jsonb) AS given (source text, number bigint)
       WHERE batch.source = given.source`,
      [jsonParameter(Array.from(last, ([source, number]) => ({ source, number })))],
    )
    return fresh
  }

  /** The ids of people and names that a failed transaction has stored stay right: they are stored before it. */
  async function prepareNames(batches: readonly ReadBatch[]): Promise<void> {
    await client.perform(async (query) => {
      mark ??= markOf(await query('SELECT (SELECT value FROM meta WHERE name = $1) AS forgotten', [forgottenMark]))
      await names.prepare(query, (table) => {
        const { use, times, failures } = summed(batches, hours)
        for (const sum of use) identifiedSum(sum, table)
        timesRows(times, 'hour', table)
        failureRows(failures, 'hour', table)
        for (const { costs } of heldBySource(batches).values()) for (const held of costs) holdValues(held, table)
        for (const request of requestsOf(batches)) {
          requestValues(request, table)
          attemptValues(request, table)
        }
      })
    })
  }

  function forgetNames(): void {
    names = serverNames(Date.now)
    mark = undefined
  }

  /** @returns why rows were given up; `undefined`: they are stored */
  async function writePart(batches: readonly ReadBatch[]): Promise<string | undefined> {
    try {
      return await tryPart(batches)
    } catch (error) {
      if (!(error instanceof PersonForgotten)) throw error
      forgetNames()
      return await tryPart(batches)
    }
  }

  async function tryPart(batches: readonly ReadBatch[]): Promise<string | undefined> {
    if (!hasWeeks) await prepareWeeks()
    await prepareNames(batches)
    const problem = await client.transaction(async (query) => {
      const fresh = await begin(query, batches)
      const taken = await replaceHolds(query, fresh, names.table)
      const { use, times, failures } = summed(fresh, hours)
      await addSums(query, [...taken, ...use.map((sum) => identifiedSum(sum, names.table))])
      for (const unit of ['hour', 'day'] as const) {
        await addTimes(query, unit, timesRows(times, unit, names.table))
        await addFailures(query, unit, failureRows(failures, unit, names.table))
      }
      await noteZone(query, hours.zone)
      return await tried(query, () => addRows(query, fresh, { names: names.table, clock }))
    })
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
      // Ids may belong to a database that was put back since.
      if (!(error instanceof LedgerUnavailable)) forgetNames()
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
        return await client.transaction(async (query) => {
          const hour = hours.at(await timeOf(query))
          const booked = await markDead(query, { clock, hour: hour.start, day: hour.day })
          await addSums(
            query,
            booked.map((row) => bookedSum(row, hour)),
          )
          return (await query('SELECT FROM hold WHERE booked_hour IS NULL LIMIT 1')).length > 0
        })
      } catch {
        return true // The next write reports the trouble.
      }
    },
    write,
    setZone(next) {
      if (next !== hours.zone) hours = zoneHours(next)
    },
    async sweep() {
      try {
        await prepareWeeks()
        return await client.transaction(async (query) => {
          const now = await timeOf(query)
          await query(`SET LOCAL lock_timeout = ${dropLockMs}`)
          await dropWeeks(query, now, retention)
          await query('DELETE FROM batch WHERE time < $1', [now - sourcesKeptMs])
          await query('DELETE FROM hold WHERE booked_hour IS NOT NULL AND source NOT IN (SELECT source FROM batch)')
          let hasMore = await deleteSomeServerContent(query, now)
          for (const table of hourTables) {
            const deleted = await query(
              `DELETE FROM ${table} WHERE hour = (SELECT min(hour) FROM ${table}) AND hour < $1 RETURNING hour`,
              [now - hoursKeptMs],
            )
            if (deleted.length > 0) hasMore = true
          }
          return hasMore
        })
      } catch {
        return false // The next write reports the trouble.
      }
    },
    close: () => client.close(),
  }
}

/** A person who was forgotten and comes back is a new one, with another number. */
class PersonForgotten extends Error {
  override readonly name = 'PersonForgotten'
}

/** The mark of a row of `forgotten`, which is absent before the first person was forgotten. */
function markOf([row]: readonly SqlRow[]): string {
  return String(row?.['forgotten'])
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

function summed(batches: readonly ReadBatch[], hours: ZoneHours): UseTotals {
  const sums = useSums()
  for (const batch of batches) sums.add(batch, hours)
  return sums.totals()
}

function requestsOf(batches: readonly ReadBatch[]): readonly ChargedRequest[] {
  return batches.flatMap((batch) => ('requests' in batch ? batch.requests : []))
}

/** What each source holds after its last batch. */
function heldBySource(batches: readonly ReadBatch[]): ReadonlyMap<string, HeldBy> {
  return new Map(batches.flatMap(({ source, holds }) => (holds === undefined ? [] : [[source, holds]])))
}

const holdColumns = [...sumKeyColumns, 'attempts', 'cost'] as const

/** Puts holds in the place of those of their sources. @returns sums that take back what was booked of these */
async function replaceHolds(
  query: Query,
  batches: readonly ReadBatch[],
  names: NamesTable,
): Promise<readonly IdentifiedSum[]> {
  const held = heldBySource(batches)
  if (held.size === 0) return []
  const holders = Array.from(held, ([source, { holder }]) => ({ source, holder }))
  await query(
    `UPDATE batch SET holder = given.holder
     FROM jsonb_to_recordset($1::text::jsonb) AS given (source text, holder text) WHERE batch.source = given.source`,
    [jsonParameter(holders)],
  )
  const removed = await query(
    `DELETE FROM hold WHERE source IN (SELECT jsonb_array_elements_text($1::text::jsonb)) RETURNING *`,
    [jsonParameter([...held.keys()])],
  )
  const rows = Array.from(held, ([source, { costs }]) =>
    costs.map((cost) => ({ source, ...named(holdColumns, holdValues(cost, names)) })),
  ).flat()
  if (rows.length > 0) {
    const [keys, types] = [sumKeyColumns.join(', '), holdColumns.map((name) => `${name} bigint`).join(', ')]
    await query(
      `INSERT INTO hold (source, ${holdColumns.join(', ')})
       SELECT source, ${keys}, sum(attempts), sum(cost)
       FROM jsonb_to_recordset($1::text::jsonb) AS given (source text, ${types}) GROUP BY source, ${keys}`,
      [jsonParameter(rows)],
    )
  }
  return removed.flatMap((row) => unbookedSum(bookedRow(row)) ?? [])
}

/** Marks the holds of dead processes as booked. @returns them */
async function markDead(
  query: Query,
  { clock, hour, day }: { readonly clock: string; readonly hour: number; readonly day: number },
): Promise<readonly BookedRow[]> {
  const open = await query(
    `SELECT source, holder, ${clock} - coalesce(time, 0) AS age
     FROM (SELECT DISTINCT source FROM hold WHERE booked_hour IS NULL) AS open LEFT JOIN batch USING (source)`,
  )
  const dead = open.filter(({ holder, age }) =>
    isDead({ holder: holder === null ? null : String(holder), age: Number(age) }),
  )
  if (dead.length === 0) return []
  const marked = await query(
    `UPDATE hold SET booked_hour = $2, booked_day = $3
     WHERE booked_hour IS NULL AND source IN (SELECT jsonb_array_elements_text($1::text::jsonb)) RETURNING *`,
    [jsonParameter(dead.map(({ source }) => String(source))), hour, day],
  )
  return marked.map(bookedRow)
}

function bookedRow(row: Readonly<Record<string, unknown>>): BookedRow {
  const number = (name: string): number => Number(row[name])
  const optional = (name: string): number | null => (row[name] === null ? null : number(name))
  return {
    ...{ line: number('line'), person: number('person'), team: number('team') },
    ...{ model: number('model'), provider: number('provider') },
    ...{ attempts: number('attempts'), cost: number('cost') },
    ...{ booked_hour: optional('booked_hour'), booked_day: optional('booked_day') },
  }
}

/** Adds in the order of keys, so that machines that add to the same sums wait for each other. */
async function addSums(query: Query, sums: readonly IdentifiedSum[]): Promise<void> {
  if (sums.length === 0) return
  for (const unit of ['hour', 'day'] as const) await addSumsOf(query, unit, sums)
}

async function addSumsOf(query: Query, unit: 'hour' | 'day', sums: readonly IdentifiedSum[]): Promise<void> {
  const columns = [unit, ...sumKeyColumns, ...counterNames]
  const keys = [unit, ...sumKeyColumns].join(', ')
  await query(
    `INSERT INTO usage_${unit} (${columns.join(', ')})
     SELECT ${keys}, ${counterNames.map((name) => `sum(${name})`).join(', ')}
     FROM jsonb_to_recordset($1::text::jsonb) AS given (${columns.map((name) => `${name} bigint`).join(', ')})
     GROUP BY ${keys} ORDER BY ${keys}
     ON CONFLICT (${keys}) DO UPDATE SET
     ${counterNames.map((name) => `${name} = usage_${unit}.${name} + excluded.${name}`).join(', ')}`,
    [jsonParameter(sums.map((sum) => named(columns, [sum[unit], ...sum.values])))],
  )
}

/** Buckets of times are added by their places. */
async function addTimes(query: Query, unit: 'hour' | 'day', rows: readonly TimesRow[]): Promise<void> {
  if (rows.length === 0) return
  const added = (column: 'first' | 'total'): string =>
    `${column} = ARRAY(SELECT coalesce(known, 0) + coalesce(more, 0)
       FROM unnest(times_${unit}.${column}, excluded.${column}) WITH ORDINALITY AS pair (known, more, place)
       ORDER BY place)`
  await query(
    `INSERT INTO times_${unit} (${unit}, model, provider, first, total)
     SELECT time, model, provider, first::integer[], total::integer[]
     FROM jsonb_to_recordset($1::text::jsonb)
       AS given (time bigint, model bigint, provider bigint, first text, total text)
     ORDER BY 1, 2, 3
     ON CONFLICT (${unit}, model, provider) DO UPDATE SET ${added('first')}, ${added('total')}`,
    [jsonParameter(rows.map((row) => ({ ...row, first: `{${row.first.join()}}`, total: `{${row.total.join()}}` })))],
  )
}

async function addFailures(query: Query, unit: 'hour' | 'day', rows: readonly FailureRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    `INSERT INTO failure_${unit} (${unit}, model, provider, failure, requests, attempts)
     SELECT time, model, provider, failure, requests, attempts FROM jsonb_to_recordset($1::text::jsonb)
       AS given (time bigint, model bigint, provider bigint, failure bigint, requests bigint, attempts bigint)
     ORDER BY 1, 2, 3, 4
     ON CONFLICT (${unit}, model, provider, failure) DO UPDATE SET
     requests = failure_${unit}.requests + excluded.requests, attempts = failure_${unit}.attempts + excluded.attempts`,
    [jsonParameter(rows)],
  )
}

/** Readers name the zone. */
async function noteZone(query: Query, zone: string): Promise<void> {
  await query(
    `INSERT INTO meta (name, value) VALUES ('time_zone', $1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value`,
    [zone],
  )
}

interface RowOptions {
  readonly names: NamesTable
  /** SQL of the server's time in Unix milliseconds. */
  readonly clock: string
}

async function addRows(query: Query, batches: readonly ReadBatch[], { names, clock }: RowOptions): Promise<void> {
  const charged = requestsOf(batches)
  if (charged.length === 0) return
  const numbers = await query(`SELECT nextval('request_seq') AS seq FROM generate_series(1, $1)`, [charged.length])
  const seqOf = (index: number): number => Number(numbers[index]?.['seq'])
  const requests = charged.map((request, index) => ({
    seq: seqOf(index),
    ...named(requestColumns, requestValues(request, names)),
  }))
  await addRecordset(query, { table: 'request', columns: ['seq', ...requestColumns], rows: requests, clock })
  const attempts = charged.flatMap((request, index) =>
    attemptValues(request, names).map((values) => ({ seq: seqOf(index), ...named(attemptColumns, values) })),
  )
  await addRecordset(query, { table: 'attempt', columns: ['seq', ...attemptColumns], rows: attempts, clock })
}

interface Recordset {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly object[]
  readonly clock: string
}

async function addRecordset(query: Query, { table, columns, rows, clock }: Recordset): Promise<void> {
  if (rows.length === 0) return
  const names = columns.join(', ')
  const types = columns.map((name) => `${name} ${name === 'id' ? 'text' : 'bigint'}`).join(', ')
  await query(
    `INSERT INTO ${table} (stored, ${names}) SELECT ${clock}, ${names}
     FROM jsonb_to_recordset($1::text::jsonb) AS given (${types})`,
    [jsonParameter(rows)],
  )
}

function named(columns: readonly string[], values: readonly (string | number | null)[]): object {
  return Object.fromEntries(columns.map((name, index) => [name, values[index]]))
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
