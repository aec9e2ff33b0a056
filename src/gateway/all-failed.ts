import { WireError } from '../formats/error.ts'
import { BudgetRefusal } from '../limits/budgets/budgets.ts'
import type { AllFailed } from '../service/failover.ts'
import { failureEffects, requestFailures, type FailureClass, type UpstreamFailure } from '../service/failure.ts'

const retryAfterDefaultMs = 1_000
/** Callers are told no longer wait: the order of providers may change, and other models are there. */
const retryAfterMaxMs = 600_000

/** The error of docs/errors.md when no provider answered; its status says why (failover.md, "When all fail"). */
export function allFailed(model: string, error: AllFailed): WireError {
  const { failures, skipped, isInDoubt } = error
  const last = failures.at(-1)
  const clauses = failures
    .map(({ name, failure }) => `${name}: ${failure === last?.failure ? failure.message : failure.summary}`)
    .join('; ')
  if (failures.length === 0) {
    const waitMs = Math.min(...skipped.map(({ remainingMs }) => remainingMs), retryAfterDefaultMs)
    return new WireError(
      503,
      'overloaded_error',
      'overloaded',
      `Every provider for model '${model}' is at its concurrency limit`,
      {
        headers: { 'retry-after': seconds(waitMs), 'x-should-retry': 'true' },
        cause: error,
      },
    )
  }
  const doubt = isInDoubt ? '; no other provider was asked, since this one may have done the work' : ''
  const refused = budgetError(failures, error)
  if (refused !== undefined) return refused
  const message = `All providers failed for model '${model}': ${clauses}${doubt}`
  const status = statusOf(error)
  const waitMs = smallest([
    ...failures.flatMap(({ failure }) => failure.retryAfterMs ?? []),
    ...skipped.map(({ remainingMs }) => remainingMs),
  ])
  const isPermanent =
    isInDoubt || (skipped.length === 0 && failures.every(({ failure }) => failureEffects[failure.failure].permanent))
  const headers: Record<string, string> = { 'x-should-retry': isPermanent ? 'false' : 'true' }
  if (status === 429 || status === 503)
    headers['retry-after'] = seconds(Math.min(waitMs ?? retryAfterDefaultMs, retryAfterMaxMs))
  if (failures.every(({ failure }) => failure.failure === 'context_length')) {
    return new WireError(400, 'invalid_request_error', 'context_length_exceeded', message, {
      param: 'messages',
      unsupported: 'context',
      headers,
      cause: error,
    })
  }
  return new WireError(status, 'api_error', 'provider_error', message, {
    ...(status === 400 ? refusedBy(failures) : {}),
    headers,
    cause: error,
  })
}

/** Limits of money passed over every provider that was tried; the first one says why. Undefined: others failed. */
function budgetError(failures: AllFailed['failures'], cause: AllFailed): WireError | undefined {
  const refusals = failures.map(({ failure }) => failure.cause)
  if (!refusals.every((refusal) => refusal instanceof BudgetRefusal)) return undefined
  const headers = { 'x-should-retry': 'false' }
  const exhausted = refusals.find(({ kind }) => kind === 'exhausted')
  if (exhausted !== undefined)
    return new WireError(429, 'insufficient_quota', 'insufficient_quota', exhausted.message, { headers, cause })
  const message = refusals.map((refusal) => refusal.message).join('; ')
  return new WireError(403, 'permission_error', 'model_price_unknown', message, { param: 'model', headers, cause })
}

/** What all of them refused, and in which field. */
function refusedBy(failures: AllFailed['failures']) {
  const shared = <Value>(of: (failure: UpstreamFailure) => Value | undefined): Value | undefined => {
    const [first, ...others] = failures.map(({ failure }) => of(failure))
    return others.every((each) => each === first) ? first : undefined
  }
  return { unsupported: shared(({ unsupported }) => unsupported), param: shared(({ field }) => field) }
}

/** A provider rejected the content by its policy. The error has the provider's reason (failover.md row 13). */
export function policyViolation(failure: UpstreamFailure): WireError {
  return new WireError(
    400,
    'invalid_request_error',
    'content_policy_violation',
    `The provider rejected the content: ${failure.message}`,
    {
      headers: { 'x-should-retry': 'false' },
      cause: failure,
    },
  )
}

/** Providers have the model, but none serves the format. @param does what none of them does */
export function notServed(model: string, does: string): WireError {
  return new WireError(501, 'api_error', 'not_supported', `No provider of the model '${model}' ${does}`, {
    headers: { 'x-should-retry': 'false' },
  })
}

/** No provider of a model counts tokens: svc estimates them. */
export class CannotCount extends Error {
  override readonly name = 'CannotCount'
}

/** All providers that were asked lack the endpoint. */
export function lackEndpoint({ failures, skipped }: AllFailed): boolean {
  return skipped.length === 0 && failures.every(({ failure: { status } }) => status === 404 || status === 501)
}

/** The service itself is at its limit of requests or memory (failover.md rows 41 and 42). */
export function overloaded(message: string, cause?: unknown, headers?: Readonly<Record<string, string>>): WireError {
  return new WireError(503, 'overloaded_error', 'overloaded', message, {
    headers: { 'retry-after': '1', 'x-should-retry': 'true', ...headers },
    cause,
  })
}

/** A stream was cut, and no provider resumed it exactly. Sent to the client as an error event. */
export function cutOff(failure: UpstreamFailure): WireError {
  return new WireError(502, 'api_error', 'provider_error', `The answer was cut off: ${failure.summary}`, {
    headers: { 'x-should-retry': 'true' },
    cause: failure,
  })
}

/** The caller's key excludes the model, or all providers of it (docs/keys.md). */
export function modelNotAllowed(model: string): WireError {
  return new WireError(
    403,
    'permission_error',
    'model_not_allowed',
    `This key may not use the model '${model}', or none of its providers: GET /v1/models lists what it may use`,
    { param: 'model' },
  )
}

/** No enabled provider offers the model (docs/errors.md). */
export function modelNotFound(model: string): WireError {
  return new WireError(
    404,
    'invalid_request_error',
    'model_not_found',
    `The model '${model}' was not found in any enabled provider`,
    {
      param: 'model',
      headers: { 'x-should-retry': 'false' },
    },
  )
}

function statusOf({ failures, skipped }: AllFailed): 400 | 429 | 502 | 503 | 504 {
  const all = (...classes: readonly FailureClass[]) =>
    failures.every(({ failure }) => classes.includes(failure.failure))
  if (failures.every(({ failure }) => failure.timedOut)) return 504
  if (all('rate_limit')) return 429
  if (all('overloaded', 'rate_limit')) return 503
  if (skipped.length === 0 && all(...requestFailures)) return 400
  return 502
}

function smallest(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : Math.min(...numbers)
}

function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
