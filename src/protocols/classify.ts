import { UpstreamFailure, type FailureClass, type FailureDetails } from '../service/failure.ts'
import { redact, type ErrorBody } from '../wire/error-body.ts'
import { parseRetryAfter, retryAfterMaxMs } from '../wire/retry-after.ts'

const policyCode =
  /^(?:content_policy_violation|content_filter|content_policy|safety|moderation|data_inspection_failed|prohibited_content|responsibleaipolicyviolation)$/i
const policy =
  /content[_ ]?policy|content[_ ]?filter|content management policy|responsible ?ai|prohibited_content|safety (?:system|filter|polic|setting|reason)|for safety\b|requires moderation|data_inspection_failed|(?:content|input|prompt|request|message|text|image)[^.]{0,60} flagged/i
/** Whom a provider has something against, rather than what was said. */
const callerFlagged = /(?:account|organi[sz]ation|user|project|team|key|token)\b[^.]{0,60} flagged/i
const parameterFault =
  /\b(?:unknown|unrecognized|unsupported|unexpected|invalid)[_ ](?:parameter|argument|field|value)/i
const contextLength =
  /context[_ ]?length|maximum context|context window|context size|too many tokens|prompt is too long|input is too long|reduce the length|exceeds? the (?:model'?s )?(?:maximum|max)[^.]{0,40}tokens/i
const key =
  /invalid[_ ]?(?:x-)?api[_ -]?key|api[_ -]?key[_ ](?:not valid|is invalid|invalid|missing|expired)|incorrect api key|authentication[_ ]?error|unauthori[sz]ed|invalid[_ ]?(?:token|credentials?)|permission[_ ]?denied/i
const quota =
  /insufficient[_ ]?(?:quota|credits?|funds|balance)|credit balance|billing[_ ](?:error|hard|limit|not)|payment[_ ]?required|specified API usage limits|arrearage|out of credits?|exceeded your current quota, please check your plan|hard limit/i
const modelGone =
  /model[_ ]?not[_ ]?found|model[_ ]?decommissioned|no such model|unknown model|invalid model|not a valid model|model:? ?[`'"]?[\w./:@-]{0,120}[`'"]? ?(?:does not exist|doesn't exist|not exist|(?:(?:was|is|could) )?not (?:be )?found|(?:has been|is|was) (?:decommissioned|deprecated|no longer|not available|not supported|not a valid))/i

/** Statuses that the codes and types of error bodies stand for, where they are not numbers (failover.md row 22). */
const statusByCode: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  bad_request: 400,
  invalid_value: 400,
  unsupported_parameter: 400,
  unknown_parameter: 400,
  content_policy_violation: 400,
  content_policy: 400,
  content_filter: 400,
  safety: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  unauthenticated: 401,
  billing_error: 402,
  insufficient_quota: 402,
  insufficient_credits: 402,
  payment_required: 402,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  not_found: 404,
  model_not_found: 404,
  model_decommissioned: 404,
  request_too_large: 413,
  context_length_exceeded: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  rate_limited: 429,
  too_many_requests: 429,
  server_error: 500,
  api_error: 500,
  internal_error: 500,
  internal: 500,
  service_unavailable: 503,
  unavailable: 503,
  server_is_overloaded: 503,
  timeout_error: 504,
  deadline_exceeded: 504,
  overloaded_error: 529,
  overloaded: 529,
}

/**
 * Tells what an upstream's refusal means (failover.md rows 9 to 22). Providers disagree on which status says what, so
 * code, type and text are heard too.
 *
 * @param status as sent, or as the error body means it (see {@link statusOfError})
 * @param headers lower-case
 * @param error what could be read of the body
 * @param nowMs wall clock, for a Retry-After that is a date
 */
export function classifyFailure(
  status: number,
  headers: ReadonlyMap<string, string>,
  error: ErrorBody | undefined,
  nowMs: number = Date.now(),
): UpstreamFailure {
  const words = error === undefined ? '' : `${error.code ?? ''} ${error.type ?? ''} ${error.message}`
  const { failure, isFinal } = classOf(status, words, error)
  const reason =
    error === undefined || error.message === '' ? `status ${status}` : `status ${status}: ${redact(error.message)}`
  const retryAfterMs =
    error?.retryDelayMs === undefined ? parseRetryAfter(headers, nowMs) : Math.min(error.retryDelayMs, retryAfterMaxMs)
  const details: FailureDetails = {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isFinal === true ? { isFinal } : {}),
  }
  return new UpstreamFailure(failure, reason, details)
}

/** The status an error inside a 200 answer or an event stands for; 500 where it does not say. */
export function statusOfError(error: ErrorBody): number {
  if (error.status !== undefined && error.status >= 400 && error.status <= 599) return error.status
  for (const word of [error.code, error.type]) {
    if (word === undefined) continue
    const number = Number(word)
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number
    const known = Object.hasOwn(statusByCode, word.toLowerCase()) ? statusByCode[word.toLowerCase()] : undefined
    if (known !== undefined) return known
  }
  return 500
}

/** A code or type says so, or a text that is not about a parameter of that name. */
function isPolicy(words: string, error: ErrorBody | undefined): boolean {
  if (policyCode.test(error?.code ?? '') || policyCode.test(error?.type ?? '')) return true
  return policy.test(words) && !parameterFault.test(words) && !callerFlagged.test(words)
}

function classOf(
  status: number,
  words: string,
  error: ErrorBody | undefined,
): { readonly failure: FailureClass; readonly isFinal?: boolean } {
  if (status >= 300 && status < 400) return { failure: 'redirect' }
  switch (status) {
    case 400:
    case 403:
    case 422:
      if (isPolicy(words, error)) return { failure: 'content_policy', isFinal: true }
      if (status === 403) return { failure: quota.test(words) ? 'quota' : 'credential' }
      if (contextLength.test(words)) return { failure: 'context_length' }
      if (quota.test(words)) return { failure: 'quota' }
      if (key.test(words)) return { failure: 'credential' }
      if (modelGone.test(words)) return { failure: 'model_gone' }
      return { failure: 'bad_request' }
    case 405:
    case 406:
    case 415:
      return { failure: 'bad_request' }
    case 401:
      return { failure: 'credential' }
    case 402:
      return { failure: 'quota' }
    case 404:
    case 410:
      return { failure: 'model_gone' }
    case 408:
      return { failure: 'request_timeout' }
    case 409:
    case 425:
      return { failure: 'conflict' }
    case 413:
      return { failure: 'context_length' }
    case 429:
      // Gemini calls a passing limit "quota" too, but says when to come back.
      return { failure: quota.test(words) && error?.retryDelayMs === undefined ? 'quota' : 'rate_limit' }
    case 503:
    case 529:
      return { failure: 'overloaded' }
    default:
      return { failure: status >= 500 && status <= 599 ? 'server_error' : 'unknown_status' }
  }
}
