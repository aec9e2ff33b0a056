import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson, isObject, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import type { WholeReply } from '../reply.ts'
import { errorInside } from '../upstream-error.ts'
import { countedUsage } from '../usage.ts'
import { addUsage, countsOf, readStopReason, soundReason } from './message-usage.ts'
import { messageEventReader } from './native.ts'
import { withSoundCall } from './sound-call.ts'

/**
 * Inspects a whole Message. Its bytes stay as they are, unless calls have the same id, or an input that is no object,
 * or the reason does not say that there are calls.
 *
 * @throws {MalformedAnswer} if it is no JSON object, or has no content
 */
export function readMessage(body: Uint8Array): WholeReply | AnsweredError {
  const message = parseMessage(body)
  const error = errorInside(message)
  if (error !== undefined) return { kind: 'error', error }
  const { content } = message
  if (!Array.isArray(content)) throw new MalformedAnswer('no_choices', 'the answer has no content')
  const usage = addUsage(undefined, message['usage'])
  const isBlank = objectsOf(content).every(isEmptyText)
  return {
    kind: 'whole',
    body: repaired(message, objectsOf(content)) ?? body,
    usage: usage && countedUsage(countsOf(usage)),
    isEmpty: isBlank && readStopReason(textOf(message['stop_reason'])) === 'stop',
    isBlank,
    model: textOf(message['model']),
  }
}

/** The Message with calls that clients can use. Undefined: it has no others. */
function repaired(message: JsonObject, content: readonly JsonObject[]): Uint8Array | undefined {
  const ids = new Set<string>()
  const blocks = content.map((block) => (block['type'] === 'tool_use' ? withSoundCall(block, ids) : block))
  const reason = textOf(message['stop_reason'])
  const stop_reason = soundReason(reason, ids.size > 0)
  if (stop_reason === reason && blocks.every((block, position) => block === content[position])) return undefined
  return encodeJson({ ...message, content: blocks, stop_reason })
}

/**
 * Converts a whole Message to the parts of a stream (failover.md row 30).
 *
 * @throws {MalformedAnswer}
 */
export function messageToParts(body: Uint8Array): readonly Part[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = parseMessage(body)
  const stopReason = textOf(stop_reason) ?? 'end_turn'
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: objectOf(usage) }
  const events: readonly JsonObject[] = [
    { type: 'message_start', message: start },
    ...objectsOf(content).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: stop_sequence ?? null },
      usage: objectOf(usage),
    },
    { type: 'message_stop' },
  ]
  const reader = messageEventReader()
  const parts = events.flatMap((event) => {
    const read = reader.read({ event: String(event['type']), data: encodeJson(event) })
    return read === 'done' || 'kind' in read ? [] : read
  })
  return [...parts, ...(reader.end?.() ?? [])]
}

function blockEvents(block: JsonObject, index: number): readonly JsonObject[] {
  const { start, deltas } = emptied(block)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it starts, and its content as deltas. Blocks of other types start whole. */
function emptied(block: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (block['type']) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: textOf(block['text']) ?? '' }] }
    case 'thinking': {
      const { thinking, signature, ...others } = block
      const signed = textOf(signature)
      return {
        start: { ...others, thinking: '', ...(signed === undefined ? {} : { signature: '' }) },
        deltas: [
          { type: 'thinking_delta', thinking: textOf(thinking) ?? '' },
          ...(signed === undefined ? [] : [{ type: 'signature_delta', signature: signed }]),
        ],
      }
    }
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(objectOf(block['input'])) }],
      }
    default:
      return { start: block, deltas: [] }
  }
}

function isEmptyText({ type, text }: JsonObject): boolean {
  return type === 'text' && (textOf(text) ?? '') === ''
}

/** Parses a whole answer. @throws {MalformedAnswer} if it is no JSON object */
export function parseMessage(body: Uint8Array): JsonObject {
  let message: unknown
  try {
    message = parseJsonBytes(body)
  } catch (cause) {
    if (body.length === 0) throw new MalformedAnswer('empty', 'the answer is empty')
    throw new MalformedAnswer('malformed', 'the answer is not JSON', { cause })
  }
  if (!isObject(message)) throw new MalformedAnswer('malformed', 'the answer is not a JSON object')
  return message
}
