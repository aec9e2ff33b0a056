import type { Tokens } from './tokens.ts'

/**
 * Classes of failures at an upstream. {@link failureEffects} gives the effect of each on its health; docs/failover.md
 * explains them to users, row by row.
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
  | 'budget'
  | 'no_price'
  | 'other_model'

/** A failure concerns this request, this model at the provider, all of the provider, or all that its key may do. */
export type FailureScope = 'request' | 'model' | 'provider' | 'key'

/** Effect of a failure class on the health of the upstream. */
export interface FailureEffect {
  /** Counts towards the circuit breaker. */
  readonly breaker: boolean
  /** Scope of failures that name no other. */
  readonly scope: FailureScope
  /** Milliseconds of cool-down from the third consecutive failure of this class; 0: none. */
  readonly coolDownMs: number
  /** A retry cannot help. When all causes are permanent, the client gets `x-should-retry: false`. */
  readonly permanent: boolean
}

/** Whether it is the scope of all models of a provider. */
export function isWhole(scope: FailureScope): boolean {
  return scope === 'provider' || scope === 'key'
}

/** Failures of the request itself: another upstream would most likely refuse it too. */
export const requestFailures: ReadonlySet<FailureClass> = new Set(['bad_request', 'context_length', 'content_policy'])

const [request, model, provider, key] = ['request', 'model', 'provider', 'key'] as const

/**
 * Effects by class (failover.md, table of failures). Those of `rate_limit`, `overloaded` and `quota` also obey a wait
 * that the upstream names.
 */
export const failureEffects: Readonly<Record<FailureClass, FailureEffect>> = {
  dns: { breaker: true, scope: provider, coolDownMs: 0, permanent: false },
  connect: { breaker: true, scope: provider, coolDownMs: 0, permanent: false },
  tls: { breaker: true, scope: provider, coolDownMs: 30_000, permanent: false },
  reset: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  timeout: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  informational: { breaker: true, scope: model, coolDownMs: 0, permanent: false },
  redirect: { breaker: true, scope: model, coolDownMs: 60_000, permanent: true },
  bad_request: { breaker: false, scope: request, coolDownMs: 0, permanent: true },
  context_length: { breaker: false, scope: request, coolDownMs: 0, permanent: true },
  content_policy: { breaker: false, scope: request, coolDownMs: 0, permanent: true },
  credential: { breaker: false, scope: key, coolDownMs: 60_000, permanent: true },
  quota: { breaker: false, scope: key, coolDownMs: 300_000, permanent: true },
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
  budget: { breaker: false, scope: model, coolDownMs: 0, permanent: true },
  no_price: { breaker: false, scope: model, coolDownMs: 0, permanent: true },
  other_model: { breaker: false, scope: model, coolDownMs: 300_000, permanent: false },
}

/** Part of a request that an upstream refuses: clients can repair it. */
export type Unsupported = 'context' | 'reasoning' | 'image' | 'document' | 'effort' | 'schema'

/** Details of a failed attempt beside its class and reason. */
export interface FailureDetails {
  /** HTTP status the upstream sent. */
  readonly status?: number | undefined
  /** Wait that the upstream names, in milliseconds; at most 24 hours. */
  readonly retryAfterMs?: number | undefined
  /** Default: that of the class. */
  readonly scope?: FailureScope | undefined
  /** Only a status says that the key is refused: one such answer is no ground to rest the provider. */
  readonly isUnproven?: boolean
  /** The upstream may have done the work although no answer arrived. */
  readonly ambiguous?: boolean
  /** No other candidate is tried: content policy, or a lack of our own resources. */
  readonly isFinal?: boolean
  /** A timer ran out, in any class. */
  readonly timedOut?: boolean
  /** The upstream refuses the reasoning of earlier answers in the request. */
  readonly refusesReasoning?: boolean
  readonly unsupported?: Unsupported | undefined
  /** The caller's name of the field that is refused, if it is known. */
  readonly field?: string | undefined
  /** Tokens of an answer that was given up. */
  readonly tokens?: Tokens | undefined
  readonly cause?: unknown
}

const summaryCharactersMax = 220

/**
 * An attempt at an upstream failed. `message` may be shown to clients: no key, URL or header. It has at most some 200
 * characters, for the statuses 400 and 413 some 2,000: clients repair their requests by these sentences.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly failure: FailureClass
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly scope: FailureScope
  readonly isUnproven: boolean
  readonly ambiguous: boolean
  readonly isFinal: boolean
  readonly timedOut: boolean
  readonly refusesReasoning: boolean
  readonly unsupported: Unsupported | undefined
  readonly field: string | undefined
  readonly tokens: Tokens | undefined

  constructor(failure: FailureClass, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.failure = failure
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.scope = details.scope ?? failureEffects[failure].scope
    this.isUnproven = details.isUnproven ?? false
    this.ambiguous = details.ambiguous ?? false
    this.isFinal = details.isFinal ?? false
    this.timedOut = details.timedOut ?? failure === 'timeout'
    this.refusesReasoning = details.refusesReasoning ?? false
    this.unsupported = details.unsupported ?? impliedBy(failure, this.refusesReasoning)
    this.field = details.field
    this.tokens = details.tokens
  }

  /** The message in at most some 200 characters. */
  get summary(): string {
    const { message } = this
    return message.length <= summaryCharactersMax
      ? message
      : `${message.slice(0, summaryCharactersMax - 1).toWellFormed()}…`
  }

  /** The same failure, found in an answer with this status. */
  answeredWith(status: number): UpstreamFailure {
    return new UpstreamFailure(this.failure, this.message, { ...this, status, cause: this.cause })
  }
}

function impliedBy(failure: FailureClass, refusesReasoning: boolean): Unsupported | undefined {
  if (failure === 'context_length') return 'context'
  return refusesReasoning ? 'reasoning' : undefined
}

/** Failures of an answer with status 200: the work was done, but its result is lost. */
const spoiled: ReadonlySet<FailureClass> = new Set(['malformed', 'empty', 'too_large', 'cut'])

/** Whether the upstream may have done the work, and may bill it, although there is no usable answer. */
export function mayHaveWorked({ ambiguous, status, failure }: UpstreamFailure): boolean {
  return ambiguous || (status === 200 && spoiled.has(failure))
}

/** Lack of our own resources. Final: another upstream's answer would not fit either (failover.md row 42). */
export function outOfResources(cause?: unknown): UpstreamFailure {
  return new UpstreamFailure('resources', 'this service is out of resources', { cause, isFinal: true })
}
