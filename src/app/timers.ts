import { UsageError } from '../base/start-errors.ts'

/**
 * Timers of the service in milliseconds, each with an environment variable (docs/configuration.md, "Times of the
 * service").
 */
export interface ServeTimers {
  /** Between keep-alives of a waiting stream. Undefined: each format has its own time. */
  readonly heartbeatMs: number | undefined
  /** Limit for a client to read available bytes. */
  readonly stallMs: number
  /** Limit for receiving a request body. */
  readonly bodyMs: number
  /** Limit between bytes of a request body. */
  readonly bodyIdleMs: number
  /** Limit for open requests after SIGTERM. */
  readonly drainMs: number
  /** New connections are served at least this long after SIGTERM, so that a balancer can notice. */
  readonly drainWindowMs: number
  /** Between pings of a worker; one that misses four is killed. */
  readonly livenessMs: number
  /** Delay of answers to a client that is refused too often; 0: none. */
  readonly lateRefusalMs: number
}

/** A timer's variable, its value without it, and the least value. */
interface TimerVariable<Fallback> {
  readonly name: string
  readonly fallback: Fallback
  readonly min: number
}

const heartbeat: TimerVariable<undefined> = { name: 'SVC_HEARTBEAT_MS', fallback: undefined, min: 10 }
const variables: Readonly<Record<Exclude<keyof ServeTimers, 'heartbeatMs'>, TimerVariable<number>>> = {
  stallMs: { name: 'SVC_STALL_MS', fallback: 30_000, min: 100 },
  bodyMs: { name: 'SVC_BODY_TIMEOUT_MS', fallback: 30_000, min: 100 },
  bodyIdleMs: { name: 'SVC_BODY_IDLE_MS', fallback: 10_000, min: 100 },
  drainMs: { name: 'SVC_DRAIN_MS', fallback: 30_000, min: 0 },
  drainWindowMs: { name: 'SVC_DRAIN_WINDOW_MS', fallback: 1_000, min: 0 },
  livenessMs: { name: 'SVC_LIVENESS_MS', fallback: 5_000, min: 100 },
  lateRefusalMs: { name: 'SVC_LATE_REFUSAL_MS', fallback: 1_000, min: 0 },
}

type Variables = Readonly<Record<string, string | undefined>>

function readVariable<Fallback>(
  environment: Variables,
  { name, fallback, min }: TimerVariable<Fallback>,
): number | Fallback {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= 3_600_000))
    throw new UsageError(`${name} must be a whole number of milliseconds from ${min} to 3600000`)
  return value
}

/**
 * Milliseconds without the PostgreSQL database after which its keys are refused (docs/postgresql.md).
 *
 * @throws {UsageError} as {@link readTimers} does
 */
export function readKeysGrace(environment: Variables): number {
  return readVariable(environment, { name: 'SVC_KEYS_GRACE_MS', fallback: 600_000, min: 1_000 })
}

/** @throws {UsageError} for a value that is not a whole number between its minimum and 3,600,000 */
export function readTimers(environment: Variables): ServeTimers {
  const read = <Fallback>(variable: TimerVariable<Fallback>) => readVariable(environment, variable)
  return {
    heartbeatMs: read(heartbeat),
    stallMs: read(variables.stallMs),
    bodyMs: read(variables.bodyMs),
    bodyIdleMs: read(variables.bodyIdleMs),
    drainMs: read(variables.drainMs),
    drainWindowMs: read(variables.drainWindowMs),
    livenessMs: read(variables.livenessMs),
    lateRefusalMs: read(variables.lateRefusalMs),
  }
}
