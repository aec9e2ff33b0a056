import { holdValues, type NamedHolds } from './hold-table.ts'
import { failureRows, timesRows, type FailureRow, type TimesRow, type Unit } from './outcome-rows.ts'
import { rowValues, type RowValues } from './row-values.ts'
import { identifiedSum, type IdentifiedSum } from './sums-table.ts'
import type { ReadBatch } from './use-batch.ts'
import type { UseNames } from './use-names.ts'
import { useSums } from './use-sums.ts'
import type { UseTotals } from './use-totals.ts'
import type { ZoneHours } from './zone-hours.ts'

/** Sums and holds with the ids of their names. */
export interface NamedUse extends NamedTotals {
  /** Of each source, after its last batch. */
  readonly holds: readonly NamedHolds[]
}

interface NamedTotals {
  readonly sums: readonly IdentifiedSum[]
  readonly times: Readonly<Record<Unit, readonly TimesRow[]>>
  readonly failures: Readonly<Record<Unit, readonly FailureRow[]>>
}

/** Batches whose names have ids. */
export interface PreparedUse {
  readonly batches: readonly ReadBatch[]
  readonly hours: ZoneHours
  readonly names: UseNames
  readonly use: NamedUse
  readonly rows: ReadonlyMap<ReadBatch, readonly RowValues[]>
}

/** The rows of some batches. */
export function rowsOfBatches({ rows }: PreparedUse, batches: readonly ReadBatch[]): readonly RowValues[] {
  return batches.flatMap((batch) => rows.get(batch) ?? [])
}

/** Sums and holds of batches. */
export function namedUse(batches: readonly ReadBatch[], hours: ZoneHours, names: UseNames): NamedUse {
  const sums = useSums()
  for (const batch of batches) sums.add(batch, hours)
  const held = new Map(batches.flatMap(({ source, holds }) => (holds === undefined ? [] : [[source, holds]])))
  return {
    ...namedTotals(sums.totals(), names),
    holds: Array.from(held, ([source, { holder, costs }]) => ({
      ...{ source, holder },
      rows: costs.map((cost) => holdValues(cost, names)),
    })),
  }
}

/** Totals with the ids of their names. */
export function namedTotals({ use, times, failures }: UseTotals, names: UseNames): NamedTotals {
  return {
    sums: use.map((sum) => identifiedSum(sum, names)),
    times: { hour: timesRows(times, 'hour', names), day: timesRows(times, 'day', names) },
    failures: { hour: failureRows(failures, 'hour', names), day: failureRows(failures, 'day', names) },
  }
}

/** Batches with the ids of their names: those that have none yet are collected. */
export function preparedUse(batches: readonly ReadBatch[], hours: ZoneHours, names: UseNames): PreparedUse {
  const use = namedUse(batches, hours, names)
  // After the sums: a person keeps the name of the last request.
  const rows = new Map<ReadBatch, readonly RowValues[]>()
  for (const batch of batches)
    if ('requests' in batch)
      rows.set(
        batch,
        batch.requests.map((request) => rowValues(request, names)),
      )
  return { batches, hours, names, use, rows }
}
