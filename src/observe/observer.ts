import type { Caller } from '../people/person.ts'
import type { ProviderAttempts } from './provider-attempts.ts'
import type { Remembered, Scope } from './recent-requests.ts'
import type { RequestRecord } from './record.ts'
import type { RequestEntry } from './request-entry.ts'
import type { RunningRequests, RunningSource } from './under-way.ts'

/**
 * Records requests and answers questions about them, for the whole service: in one process (`localObserver`) or in
 * several (`workerObserver`, which asks the `primaryObserver` of the primary process).
 */
export interface Observer {
  /** Records one request that has ended. Does not wait; costs about a microsecond. */
  record(record: RequestRecord): void
  /** Number of streams being sent to clients: add 1 when one begins, -1 when it ends. */
  readonly streamsOpen: { add(difference: number): void }
  /** Counts a reload of the configuration. With several processes only the primary counts it. */
  reloaded(result: 'ok' | 'failed'): void
  /**
   * Returns the metrics in Prometheus text format 0.0.4.
   *
   * @throws {WireError} 503 when the primary process does not respond; so do the following methods
   */
  metricsText(): Promise<string>
  /** Returns the parts of the last 1,000 requests and sixty minutes that were recorded later than `after`. */
  remembered(scope: Scope, after: number): Promise<Remembered>
  /** Returns the latest remembered request with this id. */
  find(scope: Scope, id: string): Promise<RequestEntry | undefined>
  /** Sets the source of the requests under way in this process. */
  trackRunning(source: RunningSource): void
  /**
   * Returns the requests under way, without those of a process that does not answer within 1 s.
   *
   * @param id of those to be returned; absent: all
   */
  running(id?: string): Promise<RunningRequests>
  /** Returns the last 1,000 callers with a name, the one that asked last first. */
  callers(): Promise<readonly Caller[]>
  /** Returns the outcomes of attempts at these providers, by provider id. */
  attempts(providers: readonly string[]): Promise<ReadonlyMap<string, ProviderAttempts>>
  /**
   * Calls `listener` after requests were recorded, at most four times a second, with their number so far. Later calls
   * of `remembered` return at least these.
   *
   * @returns unsubscribes
   */
  subscribe(listener: (count: number) => void): () => void
  /**
   * Resolves when all records have reached the process that keeps them, or after 5 s. To be called before the process
   * exits. Never rejects.
   */
  flush(): Promise<void>
}
