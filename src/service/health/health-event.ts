import { failureEffects, type FailureClass } from '../failure.ts'

/** Longest time a breaker stays open, before jitter of ±20 %. */
export const openMsMax = 15_000
/** Time after which the probe of another process is ignored: the process may have died before the probe ended. */
export const probeMsMax = 30_000

/**
 * Why an upstream is unavailable, each with its remaining milliseconds when the event was sent. Clocks of processes are
 * never compared.
 */
export interface Restrictions {
  readonly retryAfterMs?: number
  readonly coolDownMs?: number
  /**
   * The breaker is open. `remainingMs` of 0: its time has passed, and no probe has succeeded yet. `stepMs`: the whole
   * time before jitter; it doubles each time.
   */
  readonly breaker?: { readonly remainingMs: number; readonly stepMs: number }
}

/**
 * An attempt failed with a shared class. `retryAfterMs`: the upstream's Retry-After. `restrictions`: all current ones,
 * if this failure started or extended any.
 */
export interface FailureEvent {
  readonly kind: 'failed'
  readonly failure: FailureClass
  readonly retryAfterMs?: number
  readonly restrictions?: Restrictions
}

/** State of a failing upstream. `consecutiveOfClass`: consecutive failures of class `failure`. */
export interface SnapshotEvent {
  readonly kind: 'snapshot'
  readonly consecutiveFailures: number
  readonly failure?: FailureClass
  readonly consecutiveOfClass: number
  readonly restrictions?: Restrictions
}

/**
 * A change in the health of an upstream that other processes need. `answered`: it starts to answer, so its breaker
 * closes. `succeeded`: a success after failures. Both list remaining `restrictions`. `probing`: its probe has started.
 * `probe_over`: the probe ended without an outcome.
 */
export type HealthChange =
  | FailureEvent
  | SnapshotEvent
  | { readonly kind: 'answered' | 'succeeded'; readonly restrictions?: Restrictions }
  | { readonly kind: 'probing' }
  | { readonly kind: 'probe_over' }

/** A change in the health of a provider, or of one model at it, for other processes. Plain JSON. */
export type HealthEvent = HealthChange & {
  readonly provider: string
  /**
   * The sender's target of the provider: protocol, address and account. Targets of workers differ while a change of the
   * configuration spreads. Absent: the sender has no targets.
   */
  readonly target?: string
  /** Absent: the whole provider. */
  readonly model?: string
}

/** Whether failures of this class are shared between processes: those that count for the breaker or a cool-down. */
export function isShared(failure: FailureClass): boolean {
  const { breaker, coolDownMs } = failureEffects[failure]
  return breaker || coolDownMs > 0 || failure === 'rate_limit'
}
