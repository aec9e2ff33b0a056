import type { ProviderAttempts } from './provider-attempts.ts'
import type { RecentRequest, Remembered, Scope } from './recent-requests.ts'
import type { RequestRecord } from './record.ts'

/**
 * What a process that serves needs of observation: it says what happens, and asks what is known. What is known is of
 * the whole service, be it one process (`localObserver`) or many (`workerObserver`, which asks the primary's
 * `primaryObserver`).
 */
export interface Observer {
  /** Counts and remembers one request that has ended. Waits for nothing; costs about a microsecond. */
  record(record: RequestRecord): void
  /** Streams being sent to clients now: add 1 when one begins, -1 when it ends. */
  readonly streamsOpen: { add(difference: number): void }
  /** A reload of the configuration. Of a service of many processes the primary counts it, once. */
  reloaded(result: 'ok' | 'failed'): void
  /**
   * Prometheus text format 0.0.4. @throws {WireError} 503, as all questions do, when the process that knows does not
   * answer
   */
  metricsText(): Promise<string>
  /** The last 1,000 requests and sixty minutes, of these what was recorded later than `after`. */
  remembered(scope: Scope, after: number): Promise<Remembered>
  /** The latest with this id that is remembered. */
  find(scope: Scope, id: string): Promise<RecentRequest | undefined>
  /** How these providers are doing, each by its id. */
  attempts(providers: readonly string[]): Promise<ReadonlyMap<string, ProviderAttempts>>
  /**
   * Calls `listener` when something was recorded, at most four times a second, with how many there were so far: an
   * answer of `remembered` that is asked for from then on has at least those.
   *
   * @returns ends it
   */
  subscribe(listener: (count: number) => void): () => void
  /**
   * Settles when what was recorded until now is where it is asked for, or does not get there within 5 s. Before a
   * process ends. Never rejects.
   */
  flush(): Promise<void>
}
