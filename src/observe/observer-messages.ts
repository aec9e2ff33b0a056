import type { ProviderAttempts } from './provider-attempts.ts'
import type { RecentRequest, Remembered, Scope } from './recent-requests.ts'

/** What a worker tells of itself with its records. */
export interface WorkerGauges {
  /** Streams it is sending now. */
  readonly streamsOpen: number
  /** Log lines it lost since it started. */
  readonly logLinesDropped: number
  /** Records it lost since it started. */
  readonly recordsDropped: number
  /** Its resident memory. */
  readonly residentBytes: number
}

/** Records of requests that have ended, in their order. */
export interface RecordBatch {
  /** JSON of `RequestRecord`s without `cause`: half of what it takes to clone them (docs/observability.md). */
  readonly records: string
  readonly gauges: WorkerGauges
}

/** What the primary answers each of its workers. Messages of one worker are taken in the order they were sent in. */
export type PrimaryObservation = {
  /**
   * Takes the records in; answered at once, so that a worker sends no more than the primary takes. The first batch is
   * empty: the worker can be asked from then on.
   */
  readonly takeRecords: (batch: RecordBatch) => void
  /** What the questions of `Observer` are answered with. All workers have sent what they hold before. */
  readonly metricsText: (nothing: undefined) => Promise<string>
  readonly rememberedRequests: (wanted: { readonly scope: Scope; readonly after: number }) => Promise<Remembered>
  readonly findRequest: (wanted: { readonly scope: Scope; readonly id: string }) => Promise<RecentRequest | undefined>
  readonly attemptsAt: (providers: readonly string[]) => Promise<ReadonlyMap<string, ProviderAttempts>>
  /** From now on the worker wants, or no longer wants, to be told of what was recorded. */
  readonly followRequests: (isFollowing: boolean) => void
}

/** What a worker answers the primary. */
export type WorkerObservation = {
  /** Sends what it holds, and its gauges; answered when the primary has them. */
  readonly flushRecords: (nothing: undefined) => Promise<void>
  /** So many were recorded so far. Sent to workers that follow, at most four times a second. */
  readonly requestsRecorded: (count: number) => void
}

/** Functions of the other process, as this one sees them: they take their time, and reject when the other has ended. */
export type Remote<Functions extends Readonly<Record<string, (argument: never) => unknown>>> = {
  readonly [Name in keyof Functions]: (
    argument: Parameters<Functions[Name]>[0],
  ) => Promise<Awaited<ReturnType<Functions[Name]>>>
}
