/**
 * What can go wrong at an upstream, one name a kind. The table below says what each kind means for its health;
 * docs/failover.md explains them to users, row by row.
 */
export type FailureClass =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'informational'
  | 'redirect'
  | 'bad_request'
  | 'context_length'
  | 'content_policy'
  | 'credential'
  | 'quota'
  | 'model_gone'
  | 'conflict'
  | 'request_timeout'
  | 'rate_limit'
  | 'server_error'
  | 'overloaded'
  | 'unknown_status'
  | 'malformed'
  | 'empty'
  | 'too_large'
  | 'cut'
  | 'resources'

/** What a failure class does to the health of the upstream. */
export interface FailureEffect {
  /** Counts towards the circuit breaker. */
  readonly breaker: boolean
  /** What the failure speaks of: the whole provider, or this model at this provider. */
  readonly scope: 'provider' | 'model'
  /** Milliseconds of cool-down from the third consecutive failure of this class; 0: none. */
  readonly coolDownMs: number
  /** Whether asking the same upstream again soon can help. All causes permanent: the client is told not to retry. */
  readonly permanent: boolean
}

/** These speak of the request: another upstream would most likely refuse it likewise. */
export const requestFailures: ReadonlySet<FailureClass> = new Set(['bad_request', 'context_length', 'content_policy'])

const model = 'model',
  provider = 'provider'

/** Effects by class (failover.md, table of failures). `rate_limit` and `overloaded` cool down by Retry-After instead. */
export const failureEffects: Readonly<Record<FailureClass, FailureEffect>> = {
  dns: { breaker: true, scope: provider, coolDownMs: 0, permanent: false },
  connect: { breaker: true, scope: provider, coolDownMs: 0, permanent: false },
  tls: { breaker: true, scope: provider, coolDownMs: 30_000, permanent: false },
  reset: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  timeout: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  informational: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  redirect: { breaker: true, scope: model, coolDownMs: 60_000, permanent: true },
  bad_request: { breaker: false, scope: model, coolDownMs: 0, permanent: true },
  context_length: { breaker: false, scope: model, coolDownMs: 0, permanent: true },
  content_policy: { breaker: false, scope: model, coolDownMs: 0, permanent: true },
  credential: { breaker: false, scope: provider, coolDownMs: 60_000, permanent: true },
  quota: { breaker: false, scope: provider, coolDownMs: 300_000, permanent: true },
  model_gone: { breaker: false, scope: model, coolDownMs: 300_000, permanent: true },
  conflict: { breaker: false, scope: model, coolDownMs: 0, permanent: false },
  request_timeout: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  rate_limit: { breaker: false, scope: model, coolDownMs: 0, permanent: false },
  server_error: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  overloaded: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  unknown_status: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  malformed: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  empty: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  too_large: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  cut: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  resources: { breaker: false, scope: provider, coolDownMs: 0, permanent: false },
}

/** What is known of a failed attempt beside its class and reason. */
export interface FailureDetails {
  /** HTTP status the upstream sent. */
  readonly status?: number | undefined
  /** Milliseconds the upstream asked us to stay away, already clamped. */
  readonly retryAfterMs?: number | undefined
  /** The upstream may have done the work although we saw no answer. */
  readonly ambiguous?: boolean
  /** No other upstream is to be asked: content policy, our own resources. */
  readonly isFinal?: boolean
  /** It was time that ran out, whatever the class. */
  readonly timedOut?: boolean
  readonly cause?: unknown
}

/**
 * One attempt at one upstream has failed. `message` is safe to show: no key, no URL, no header; at most some 200
 * characters.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly failure: FailureClass
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly ambiguous: boolean
  readonly isFinal: boolean
  readonly timedOut: boolean

  constructor(failure: FailureClass, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.failure = failure
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.ambiguous = details.ambiguous ?? false
    this.isFinal = details.isFinal ?? false
    this.timedOut = details.timedOut ?? failure === 'timeout'
  }

  /** The same failure, told by an answer that had another status. */
  answeredWith(status: number): UpstreamFailure {
    return new UpstreamFailure(this.failure, this.message, { ...this, status, cause: this.cause })
  }
}

/** Not the upstream's fault, and another one's answer would not fit either (failover.md row 42). */
export function outOfRoom(cause?: unknown): UpstreamFailure {
  return new UpstreamFailure('resources', 'this service is out of room', { cause, isFinal: true })
}
