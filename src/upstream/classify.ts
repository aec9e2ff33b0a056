import type { UpstreamError } from '../formats/upstream-error.ts'
import { UpstreamFailure, type FailureClass, type FailureDetails } from '../service/failure.ts'
import type { ResponseHeaders } from '../transport/transport.ts'
import { redact } from './redact.ts'
import {
  contextPhrases,
  credentialPhrases,
  modelAccessPhrases,
  modelPhrases,
  plainWords,
  policyPhrases,
  quotaPhrases,
  reasoningPhrases,
  refusesModality,
  requestPhrases,
  says,
  unsupportedIn,
} from './refusal-phrases.ts'
import { parseRetryAfter, retryAfterMaxMs } from './retry-after.ts'

/** Codes and types that mean a content policy by themselves. */
const policyCodes: ReadonlySet<string> = new Set([
  'content_policy_violation',
  'content_filter',
  'content_policy',
  'safety',
  'moderation',
  'data_inspection_failed',
  'prohibited_content',
  'responsibleaipolicyviolation',
])
const contentFlagged = /(?:content|input|prompt|request|message|text|image)[^.]{0,60} flagged/
/** The provider flagged the account or key, not the content. */
const callerFlagged = /(?:account|organi[sz]ation|user|project|team|key|token)\b[^.]{0,60} flagged/
const parameterFault =
  /\b(?:unknown|unrecognized|unsupported|unexpected|invalid) (?:parameter|argument|field|value)|\bsafety settings?\[/
const tooManyTokens = new RegExp(
  /(?<!max (?:completion |output )?tokens[^.]{0,20})exceeds? the (?:model'?s )?max/.source +
    /(?!.{0,40}(?:output|completion))[^.]{0,40}tokens/.source,
)
const namedModel = /model:? ?[`'"]?[\w./:@-]{0,120}[`'"]?/.source
const unknownPattern = /does not exist|doesn't exist|not exist|(?:(?:was|is|could) )?not (?:be )?found/.source
const withdrawnPattern =
  /(?:has been|is|was) (?:decommissioned|deprecated|no longer|not available|not supported|not a valid)/.source
const namedModelGone = new RegExp(`${namedModel} ?(?:${unknownPattern}|${withdrawnPattern})`, 'i')

/** Codes and types of error bodies → the status they stand for (failover.md row 22). */
const statusByCode: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  bad_request: 400,
  invalid_value: 400,
  unsupported_parameter: 400,
  unknown_parameter: 400,
  invalid_encrypted_content: 400,
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
  exceed_context_size_error: 413,
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

/** Amazon's error types whose status or text would give a wrong class. */
const classByAmazonType: Readonly<Record<string, FailureClass>> = {
  ServiceQuotaExceededException: 'quota',
  ModelNotReadyException: 'overloaded',
  ModelErrorException: 'server_error',
  ModelStreamErrorException: 'server_error',
}

/**
 * Classifies an upstream's refusal (failover.md rows 9 to 22). Providers use statuses differently, so code, type and
 * text count too.
 *
 * @param status as sent, or by the error body (see {@link statusOfError})
 * @param headers names in lower case
 * @param error from the body, if it has one
 * @param nowMs wall clock, for a Retry-After that is a date
 */
export function classifyFailure(
  status: number,
  headers: Pick<ResponseHeaders, 'get'>,
  error: UpstreamError | undefined,
  nowMs: number = Date.now(),
): UpstreamFailure {
  const failure = classOfAmazon(headers) ?? classOf(status, error)
  const reason =
    error === undefined || error.message === ''
      ? `status ${status}`
      : `status ${status}: ${redact(error.message, wholeSentence.has(status) ? sentenceCharactersMax : undefined)}`
  const retryAfterMs =
    error?.retryDelayMs === undefined ? parseRetryAfter(headers, nowMs) : Math.min(error.retryDelayMs, retryAfterMaxMs)
  const details: FailureDetails = {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(failure === 'content_policy' ? { isFinal: true } : {}),
    ...(failure === 'bad_request' && says(wordsOf(error), reasoningPhrases) ? { refusesReasoning: true } : {}),
    ...(failure === 'bad_request' ? { unsupported: unsupportedIn(wordsOf(error)) } : {}),
  }
  return new UpstreamFailure(failure, reason, details)
}

/** Statuses whose message is passed on whole: it tells the client what to change. */
const wholeSentence: ReadonlySet<number> = new Set([400, 413])
const sentenceCharactersMax = 2048

/** Returns the status that an error inside a 200 answer or an event stands for; 500 when it names none. */
export function statusOfError(error: UpstreamError): number {
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

/** By the header `x-amzn-errortype`, such as `ModelErrorException:http://…`. */
function classOfAmazon(headers: Pick<ResponseHeaders, 'get'>): FailureClass | undefined {
  const type = headers.get('x-amzn-errortype')?.split(':', 1)[0] ?? ''
  return Object.hasOwn(classByAmazonType, type) ? classByAmazonType[type] : undefined
}

/** Statuses that mean one class, regardless of the text. */
const classByStatus: ReadonlyMap<number, FailureClass> = new Map([
  [401, 'credential'],
  [402, 'quota'],
  [405, 'bad_request'],
  [406, 'bad_request'],
  [408, 'request_timeout'],
  [409, 'conflict'],
  [413, 'context_length'],
  [415, 'bad_request'],
  // "Failed Dependency": at Amazon the model itself has failed.
  [424, 'server_error'],
  [425, 'conflict'],
])

function wordsOf(error: UpstreamError | undefined): string {
  return error === undefined ? '' : plainWords(`${error.code ?? ''} ${error.type ?? ''} ${error.message}`)
}

/** Redirects first, then texts about content and media, then statuses of one meaning, then status and text. */
function classOf(status: number, error: UpstreamError | undefined): FailureClass {
  if (status >= 300 && status < 400) return 'redirect'
  const words = wordsOf(error)
  if ((status === 400 || status === 403 || status === 422) && isPolicy(words, error)) return 'content_policy'
  if (refusesModality(words)) return 'bad_request'
  return classByStatus.get(status) ?? classByText(status, words, error)
}

function classByText(status: number, words: string, error: UpstreamError | undefined): FailureClass {
  switch (status) {
    case 400:
    case 422:
      return classOfBadRequest(words, error)
    case 403:
      if (says(words, quotaPhrases)) return 'quota'
      return says(words, modelAccessPhrases) ? 'model_gone' : 'credential'
    case 404:
    case 410:
      return says(words, requestPhrases) ? 'bad_request' : 'model_gone'
    case 429:
      // Gemini calls a temporary limit "quota" too, but gives a delay.
      return says(words, quotaPhrases) && error?.retryDelayMs === undefined ? 'quota' : 'rate_limit'
    default:
      return status >= 500 && status <= 599 ? classOfServerError(status, words) : 'unknown_status'
  }
}

/** Some providers answer 400 for a key, credit or model problem. */
function classOfBadRequest(words: string, error: UpstreamError | undefined): FailureClass {
  if (isTooLong(words)) return 'context_length'
  if (says(words, quotaPhrases)) return 'quota'
  if (says(words, credentialPhrases)) return 'credential'
  return says(words, modelPhrases) || namedModelGone.test(error?.message ?? '') ? 'model_gone' : 'bad_request'
}

/** By a code or type, or by a text that is not about a parameter or an account. */
function isPolicy(words: string, error: UpstreamError | undefined): boolean {
  if ([error?.code, error?.type].some((code) => policyCodes.has(code?.toLowerCase() ?? ''))) return true
  // Google's status says no more than 400.
  if (parameterFault.test(words.replace('invalid argument', '')) || callerFlagged.test(words)) return false
  return says(words, policyPhrases) || contentFlagged.test(words)
}

function isTooLong(words: string): boolean {
  return says(words, contextPhrases) || tooManyTokens.test(words)
}

/** Local servers answer 500 to requests that they cannot serve; those are not failures of the server. */
function classOfServerError(status: number, words: string): FailureClass {
  if (isTooLong(words)) return 'context_length'
  if (says(words, requestPhrases)) return 'bad_request'
  return status === 503 || status === 529 ? 'overloaded' : 'server_error'
}
