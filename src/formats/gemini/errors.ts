import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { WireError } from '../error.ts'

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const statuses: ReadonlyMap<number, string> = new Map([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
])

/**
 * The status of an error. Google's clients repeat every 5xx (Gemini CLI ten times within four minutes). If all
 * providers failed and no repeat can help, it is Google's status for that: 400 with FAILED_PRECONDITION.
 */
export function googleStatus(error: WireError): number {
  return isHopeless(error) ? 400 : error.status
}

/** Only a change of the configuration, or of an account at a provider, can help. */
function isHopeless({ status, code, headers }: WireError): boolean {
  return status >= 500 && code === 'provider_error' && headers['x-should-retry'] === 'false'
}

/** An error in the shape of Google's APIs. */
export function googleError(error: WireError, requestId?: string): string {
  const { message } = error
  const status = googleStatus(error)
  const usual = statuses.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  return JSON.stringify({
    error: {
      code: status,
      message,
      status: isHopeless(error) ? 'FAILED_PRECONDITION' : usual,
      details: detailsOf(error, requestId),
    },
  })
}

/**
 * An error as the end of a stream. Older versions of Google's library take the event for an answer, and fail for text
 * behind the last event: the comment is there so that they do not take the answer for a complete one.
 */
export function googleErrorEvent(error: WireError): Uint8Array {
  return encode(`data: ${googleError(error)}\n\n: the answer is incomplete\n\n`)
}

function detailsOf({ code, param, message, headers }: WireError, requestId: string | undefined): readonly JsonObject[] {
  const retryAfter = headers['retry-after']
  // An error about the length of the whole request names the field that has it in another format.
  const field = param === 'messages' ? 'contents' : param
  return [
    detail('ErrorInfo', { reason: code.toUpperCase(), domain: 'svc' }),
    ...(field === null ? [] : [detail('BadRequest', { fieldViolations: [{ field, description: message }] })]),
    ...(retryAfter === undefined ? [] : [detail('RetryInfo', { retryDelay: `${retryAfter}s` })]),
    ...(requestId === undefined ? [] : [detail('RequestInfo', { requestId })]),
  ]
}

function detail(type: string, fields: JsonObject): JsonObject {
  return { '@type': `type.googleapis.com/google.rpc.${type}`, ...fields }
}
