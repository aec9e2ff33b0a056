import type { HeldBy, RequestRecord } from '../../observe/record.ts'
import type { UseTotals } from './use-totals.ts'

/**
 * Requests of one process, to be counted once. The batches of a source are written in the order of their numbers; one
 * whose number is not above the last written one is not counted again.
 */
export type UseBatch = RecordedUse | SummedUse

/** The origin of a batch. */
export interface BatchName {
  /** Unique to the process that recorded the requests. */
  readonly source: string
  readonly number: number
  /** What the process holds after these requests: it takes the place of what was stored. Absent: nothing changes. */
  readonly holds?: HeldBy
}

/** Requests with all facts. */
export interface RecordedUse extends BatchName {
  /** JSON of `RequestRecord`s. */
  readonly records: string
  /** Number of the requests. */
  readonly count: number
}

/** Requests whose rows were given up. */
export interface SummedUse extends BatchName {
  readonly sums: UseTotals
}

/** The requests of a batch. */
export function recordsOf({ records }: Pick<RecordedUse, 'records'>): readonly RequestRecord[] {
  // A process of this service wrote RequestRecords.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return JSON.parse(records) as readonly RequestRecord[]
}
