import { addBuckets } from '../../observe/time-histogram.ts'
import type { UseNames } from './use-names.ts'
import type { FailureSum, SumPlace, TimesSum } from './use-totals.ts'

/** Sums are kept by hour and by day. */
export const sumUnits = ['hour', 'day'] as const
export type Unit = (typeof sumUnits)[number]

/** Buckets of one hour or day, by numbers of names. */
export interface TimesRow {
  readonly time: number
  readonly model: number
  readonly provider: number
  readonly first: number[]
  readonly total: number[]
}

/** Failures of one hour or day, by numbers of names. */
export interface FailureRow {
  readonly time: number
  readonly model: number
  readonly provider: number
  readonly failure: number
  requests: number
  attempts: number
}

/** Sums of times by hour or day, each place once, in the order of their places. */
export function timesRows(sums: readonly TimesSum[], unit: Unit, names: UseNames): readonly TimesRow[] {
  const rows = new Map<string, TimesRow>()
  for (const sum of sums) {
    const place = placeOf(sum, unit, names)
    const key = Object.values(place).join(' ')
    const row = rows.get(key) ?? { ...place, first: [], total: [] }
    addBuckets(row.first, sum.first)
    addBuckets(row.total, sum.total)
    rows.set(key, row)
  }
  return inOrder(rows)
}

/** Sums of failures by hour or day, each place once, in the order of their places. */
export function failureRows(sums: readonly FailureSum[], unit: Unit, names: UseNames): readonly FailureRow[] {
  const rows = new Map<string, FailureRow>()
  for (const sum of sums) {
    const place = { ...placeOf(sum, unit, names), failure: names.idOf('error', sum.failure) }
    const key = Object.values(place).join(' ')
    const row = rows.get(key) ?? { ...place, requests: 0, attempts: 0 }
    row.requests += sum.requests
    row.attempts += sum.attempts
    rows.set(key, row)
  }
  return inOrder(rows)
}

function placeOf(sum: SumPlace, unit: Unit, names: UseNames): Pick<TimesRow, 'time' | 'model' | 'provider'> {
  return { time: sum[unit], model: names.idOf('model', sum.model), provider: names.idOf('provider', sum.provider) }
}

/** Machines that add to the same rows wait for each other in one order. */
function inOrder<Row extends Pick<TimesRow, 'time' | 'model' | 'provider'> & { readonly failure?: number }>(
  rows: ReadonlyMap<string, Row>,
): readonly Row[] {
  return [...rows.values()].toSorted(
    (one, other) =>
      one.time - other.time ||
      one.model - other.model ||
      one.provider - other.provider ||
      (one.failure ?? 0) - (other.failure ?? 0),
  )
}
