import type { RequestRecord } from '../../observe/record.ts'
import type { HeldBy } from '../../observe/under-way.ts'
import { chargesOf, type Charges } from './charges.ts'
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

/** A request, and its charges. */
export interface ChargedRequest {
  readonly record: RequestRecord
  readonly charges: Charges
}

/** A batch whose text was read. */
export type ReadBatch = ReadUse | SummedUse

/** Requests with all facts, read. */
export interface ReadUse extends BatchName {
  readonly requests: readonly ChargedRequest[]
}

/** Reads the text of a batch, for its sums and its rows. The result takes some five times the memory of the text. */
export function readBatch(batch: UseBatch): ReadBatch {
  if ('sums' in batch) return batch
  const { records, count: _, ...name } = batch
  // A process of this service wrote RequestRecords.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  const all = JSON.parse(records) as readonly RequestRecord[]
  return { ...name, requests: all.map(charged) }
}

/** A request with its charges. */
export function charged(record: RequestRecord): ChargedRequest {
  return { record, charges: chargesOf(record) }
}
