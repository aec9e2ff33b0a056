import type { RequestRecord } from '../../observe/record.ts'
import { rowFlags } from '../../observe/row-facts.ts'
import type { NewEntry } from '../ledger.ts'
import { numberInRow } from '../work.ts'
import { pageAfter, storedRow, sumsThere, type RowOrder, type StoredRow, type SumMove } from './reprice-works.ts'
import { namesOfNumbers, timeZoneOf, type UseTables } from './stored-requests.ts'
import { sumKeyColumns } from './sums-table.ts'
import { zoneHours, type ZoneHours } from './zone-hours.ts'

type Usage = NonNullable<RequestRecord['usage']>

const pageRows = 2_000

/** An answer, as its row tells it. */
export interface PricedRow {
  readonly model: string
  readonly provider: string
  readonly usage: Usage
  /** Its cost was known. */
  readonly hasCost: boolean
  /** Its facts beside its tokens. */
  readonly bill: 'plain' | 'more' | 'unknown'
}

/** Why the cost of a row stays as it is. */
export type KeptRow = 'no price' | 'not stored'

/** Options of a repricing. */
export interface RepriceOptions {
  /** Unix milliseconds: the first arrival that counts. */
  readonly since: number
  /** Default: all. */
  readonly model?: string | undefined
  readonly isDryRun: boolean
  /** The cost of a row in nano-USD with the prices of now. */
  readonly priceOf: (row: PricedRow) => number | KeptRow
  readonly now: () => number
}

/** What a repricing did, or would do. */
export interface RepriceReport {
  /** Rows whose cost changes. */
  readonly changed: number
  /** Of these, rows that had no price. */
  readonly unpriced: number
  /** Sums of the changed rows, in nano-USD. */
  readonly before: number
  readonly after: number
  /** Rows that stay as they are: by the reason. */
  readonly kept: Readonly<Record<KeptRow | 'reported' | 'no sum', number>>
}

/** The new cost of a row. */
export interface NewCost {
  readonly row: StoredRow
  /** Nano-USD. */
  readonly cost: number
  readonly flags: number
}

/** The database of a repricing. */
export interface RepriceSource extends UseTables {
  readonly order: RowOrder
  /** Stores the new costs of a page. Not called in a dry run. */
  store(costs: readonly NewCost[]): Promise<void>
}

/** All differences of the sums. */
export interface Repricing {
  readonly report: RepriceReport
  readonly moves: readonly SumMove[]
}

/** Computes the costs of all rows anew, page by page. */
export async function computeCosts(options: RepriceOptions, source: RepriceSource): Promise<Repricing> {
  const { since, model, isDryRun, priceOf } = options
  const { order, kind } = source
  const hours = zoneHours(await timeZoneOf(source))
  const names = new Map<number, string>()
  const moves = new Map<string, SumMove | undefined>()
  const kept = { 'no price': 0, 'not stored': 0, reported: 0, 'no sum': 0 }
  const report = { changed: 0, unpriced: 0, before: 0, after: 0, kept }

  function costOf(row: StoredRow): number | undefined {
    if (row.cost === null && !has(row, rowFlags.unpriced)) return undefined
    const named = { model: names.get(row.model) ?? '', provider: names.get(row.provider) ?? '' }
    if (model !== undefined && named.model !== model) return undefined
    const isReported = has(row, rowFlags.reported)
    const cost = isReported
      ? 'reported'
      : priceOf({ ...named, usage: usageOf(row), hasCost: row.cost !== null, bill: billOf(row) })
    if (typeof cost !== 'string') return cost === row.cost ? undefined : cost
    kept[cost] += 1
    return undefined
  }

  function move(row: StoredRow, cost: number): readonly NewCost[] {
    const sum = moves.get(placeOf(row, hours).name)
    if (sum === undefined) {
      kept['no sum'] += 1
      return []
    }
    const isUnpriced = has(row, rowFlags.unpriced)
    const difference = cost - (row.cost ?? 0)
    sum.cost += difference
    if (has(row, rowFlags.estimated)) sum.estimated += difference
    if (isUnpriced) sum.unpriced -= 1
    report.changed += 1
    if (isUnpriced) report.unpriced += 1
    report.before += row.cost ?? 0
    report.after += cost
    return [{ row, cost, flags: row.flags & ~(rowFlags.unpriced | rowFlags.source | rowFlags.priceOfServed) }]
  }

  async function findSums(rows: readonly StoredRow[]): Promise<void> {
    const unknown = new Map<string, SumMove>()
    for (const row of rows) {
      const { name, sum } = placeOf(row, hours)
      if (!moves.has(name)) unknown.set(name, sum)
    }
    if (unknown.size === 0) return
    const found = await source.names(sumsThere([...unknown.values()], kind))
    const places = new Set(found.map((row) => numberInRow(row, 'place')))
    for (const [place, [name, sum]] of [...unknown].entries()) moves.set(name, places.has(place) ? sum : undefined)
  }

  async function findNames(rows: readonly StoredRow[]): Promise<void> {
    const unknown = new Set(rows.flatMap((row) => [row.model, row.provider]).filter((id) => !names.has(id)))
    for (const [id, name] of await namesOfNumbers(source, 'label', [...unknown])) names.set(id, name)
  }

  for (let last: StoredRow | undefined; ;) {
    const rows = (await source.rows(pageAfter(last, { since, order, limit: pageRows }))).map(storedRow)
    last = rows.at(-1)
    if (last === undefined) break
    await findNames(rows)
    const computed = rows.flatMap((row) => {
      const cost = costOf(row)
      return cost === undefined ? [] : [{ row, cost }]
    })
    await findSums(computed.map(({ row }) => row))
    const changed = computed.flatMap(({ row, cost }) => move(row, cost))
    if (!isDryRun && changed.length > 0) await source.store(changed)
  }
  return { report, moves: [...moves.values()].flatMap((each) => (each !== undefined && hasChange(each) ? [each] : [])) }
}

/** The entry of the audit. */
export function repriceEntry({ since, model, now }: RepriceOptions, { changed, ...report }: RepriceReport): NewEntry {
  return {
    time: now(),
    actor: 'command line',
    via: 'command line',
    action: 'use.repriced',
    object: model ?? 'all models',
    before: { nanoUsd: report.before, unpriced: report.unpriced },
    after: { nanoUsd: report.after, rows: changed, since: new Date(since).toISOString() },
  }
}

function billOf(row: StoredRow): PricedRow['bill'] {
  return has(row, rowFlags.plain) ? 'plain' : has(row, rowFlags.billedMore) ? 'more' : 'unknown'
}

function has({ flags }: StoredRow, flag: number): boolean {
  return (flags & flag) !== 0
}

function hasChange({ cost, estimated, unpriced }: SumMove): boolean {
  return cost !== 0 || estimated !== 0 || unpriced !== 0
}

/** The sums that a row is in: those of the hour and the day of its end, and of its session. */
function placeOf(row: StoredRow, hours: ZoneHours): { readonly name: string; readonly sum: SumMove } {
  const { start: hour, day } = hours.at(row.time + row.ms)
  const key = sumKeyColumns.map((name) => row[name])
  const { session } = row
  return {
    name: [hour, ...key, session].join(' '),
    sum: { hour, day, session, key, cost: 0, estimated: 0, unpriced: 0 },
  }
}

/** The stored units as a usage, which has the same units again. */
function usageOf(row: StoredRow): Usage {
  const { input, cached, write5, write60, output, reasoning } = row
  const promptTokens = input + cached + write5 + write60
  const completionTokens = output + reasoning
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: cached,
    cacheWriteTokens: write5 + write60,
    cacheWriteHourTokens: write60,
    reasoningTokens: reasoning,
    ...(has(row, rowFlags.estimated) ? { isEstimated: true } : {}),
    ...(row.served === undefined ? {} : { billed: { model: row.served } }),
  }
}
