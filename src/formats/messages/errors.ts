import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { Unsupported } from '../../service/failure.ts'
import type { WireError } from '../error.ts'

/** https://platform.claude.com/docs/en/api/errors */
const types: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** The status of an error. Messages have statuses of their own for an overload and for money that is used up. */
export function messagesStatus({ status, code }: WireError): number {
  if (code === 'insufficient_quota') return 402
  return status === 503 ? 529 : status
}

/** Classes by which Claude Code repairs a request: https://code.claude.com/docs/en/llm-gateway-protocol */
const classes: Readonly<Record<Unsupported, string>> = {
  context: 'prompt_too_long',
  reasoning: 'thinking_signature',
  image: 'image_block',
  document: 'document_block',
  effort: 'effort_unsupported',
  schema: 'structured_outputs_unsupported',
}

/**
 * What every provider refused, as the class that is the whole message; the reasons are beside it. Anthropic's own
 * sentence about the length has numbers that clients read.
 */
function wordsOf({ message, param, unsupported }: WireError): JsonObject {
  if (unsupported === undefined || /prompt is too long/i.test(message)) return { message }
  return { message: `capability_rejected: ${classes[unsupported]}`, param, reason: message }
}

/** An error in the shape of Messages. */
export function messagesError(error: WireError, requestId?: string): string {
  const status = messagesStatus(error)
  const type = types.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return JSON.stringify({
    type: 'error',
    error: { type, ...wordsOf(error) },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  })
}

/** An error as the last event of a stream. */
export function messagesErrorEvent(error: WireError): Uint8Array {
  return encode(`event: error\ndata: ${messagesError(error)}\n\n`)
}
