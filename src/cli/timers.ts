import { UsageError } from './arguments.ts'

/**
 * Times of the service itself, in milliseconds. Their defaults suit nearly everyone; each has an environment variable
 * (docs/configuration.md, "Times of the service").
 */
export interface ServeTimers {
  /** Until the first keep-alive comment to a waiting stream, and between them. */
  readonly heartbeatMs: number
  /** A client may take so long to read what is there. */
  readonly stallMs: number
  /** A request's body may take so long. */
  readonly bodyMs: number
  /** And so long without a byte. */
  readonly bodyIdleMs: number
  /** After SIGTERM, requests under way may take so long. */
  readonly drainMs: number
  /** After SIGTERM, new connections are served for at least so long, so that a balancer can notice. */
  readonly drainWindowMs: number
  /** Between two questions to a worker whether it is alive; one that leaves four unanswered is ended. */
  readonly livenessMs: number
}

const variables: Readonly<
  Record<keyof ServeTimers, { readonly name: string; readonly fallback: number; readonly least: number }>
> = {
  heartbeatMs: { name: 'SVC_HEARTBEAT_MS', fallback: 10_000, least: 10 },
  stallMs: { name: 'SVC_STALL_MS', fallback: 30_000, least: 100 },
  bodyMs: { name: 'SVC_BODY_TIMEOUT_MS', fallback: 30_000, least: 100 },
  bodyIdleMs: { name: 'SVC_BODY_IDLE_MS', fallback: 10_000, least: 100 },
  drainMs: { name: 'SVC_DRAIN_MS', fallback: 30_000, least: 0 },
  drainWindowMs: { name: 'SVC_DRAIN_WINDOW_MS', fallback: 1_000, least: 0 },
  livenessMs: { name: 'SVC_LIVENESS_MS', fallback: 5_000, least: 100 },
}

/** @throws {UsageError} for a value that is not a whole number up to 3,600,000, or so small that it would do harm */
export function readTimers(environment: Readonly<Record<string, string | undefined>>): ServeTimers {
  const read = (timer: keyof ServeTimers): number => {
    const { name, fallback, least } = variables[timer]
    const text = environment[name]
    if (text === undefined || text === '') return fallback
    const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= 3_600_000))
      throw new UsageError(`${name} must be a whole number of milliseconds from ${least} to 3600000`)
    return value
  }
  return {
    heartbeatMs: read('heartbeatMs'),
    stallMs: read('stallMs'),
    bodyMs: read('bodyMs'),
    bodyIdleMs: read('bodyIdleMs'),
    drainMs: read('drainMs'),
    drainWindowMs: read('drainWindowMs'),
    livenessMs: read('livenessMs'),
  }
}
