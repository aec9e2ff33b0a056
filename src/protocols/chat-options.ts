import type { ChatRequest } from '../wire/chat-request.ts'
import { untranslatable } from './chat-conversation.ts'
import { listOf, numberOf, objectOf, isObject, parseJsonBytes, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import type { Connection } from './protocol.ts'

/** How hard the model is to think; `none` not at all. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The form the answer is to have. */
export type AnswerFormat = { readonly kind: 'text' | 'json' } | { readonly kind: 'schema'; readonly schema: JsonObject }

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/**
 * The request as an object, without the fields the provider refuses.
 *
 * @throws {UpstreamFailure} when it is no object
 */
export function readBody(request: ChatRequest, connection: Connection): JsonObject {
  const body = parseBody(request.body)
  if (!isObject(body)) throw untranslatable('A request that is no object')
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !connection.drop.includes(name)),
  )
}

/** `max_completion_tokens`, else `max_tokens`. */
export function readMaxTokens(body: JsonObject): number | undefined {
  return numberOf(body['max_completion_tokens']) ?? numberOf(body['max_tokens'])
}

/** `stop` as a list. Those without anything but white space are left out: upstreams refuse them. */
export function readStops(body: JsonObject): readonly string[] {
  const { stop } = body
  const stops = typeof stop === 'string' ? [stop] : listOf(stop)
  return stops.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value] : []))
}

/** `reasoning_effort`, else what `enable_thinking` says: `medium` or `none`. */
export function readEffort(body: JsonObject): Effort | undefined {
  const effort = body['reasoning_effort']
  if (isEffort(effort)) return effort
  if (body['enable_thinking'] === true) return 'medium'
  return body['enable_thinking'] === false ? 'none' : undefined
}

/** `response_format`. */
export function readFormat(body: JsonObject): AnswerFormat {
  const format = objectOf(body['response_format'])
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return { kind: 'text' }
  const { schema } = objectOf(format['json_schema'])
  return isObject(schema) ? { kind: 'schema', schema } : { kind: 'json' }
}

/** Whether the caller asks for sound in the answer. */
export function wantsAudio(body: JsonObject): boolean {
  return listOf(body['modalities']).some((modality) => textOf(modality)?.toLowerCase() === 'audio')
}

function isEffort(value: unknown): value is Effort {
  return efforts.has(value)
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch {
    // The request was checked before it came here, so this is no fault of the caller's that we could explain.
    throw untranslatable('This request')
  }
}
