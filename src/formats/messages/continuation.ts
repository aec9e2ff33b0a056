import type { JsonObject } from '../../base/json-value.ts'
import { parseChecked } from '../chat/read-event.ts'
import { encodeJson, numberOf, objectOf, objectsOf } from '../exact-json.ts'
import type { Continuation, Retracer } from '../format.ts'
import type { Part } from '../part.ts'
import type { Delivered } from '../reply.ts'
import { messagesAnswerReader } from './answer-reader.ts'
import { messagePart } from './make-part.ts'

/**
 * Starts the rest of a stream. The start of the other stream is left out, and so is that of its first block of text
 * while the client has one open. Indexes go on from there.
 */
export function messageContinuation({ place: last }: Delivered): Continuation {
  const place = last === undefined ? {} : parseChecked(last.data)
  let index = numberOf(place['index']) ?? (last?.event === 'message_start' ? -1 : 0)
  let isOpen = last !== undefined && last.event !== 'content_block_stop' && last.event !== 'message_start'
  let hasJoined = false

  function close(): readonly Part[] {
    if (!isOpen) return []
    isOpen = false
    return [messagePart({ type: 'content_block_stop', index }, { hasOpenChoice: true })]
  }

  function open(block: JsonObject, facts: Partial<Part> = { hasOpenChoice: true }): readonly Part[] {
    const before = close()
    index++
    isOpen = true
    return [...before, messagePart({ type: 'content_block_start', index, content_block: block }, facts)]
  }

  function moved(part: Part, event: JsonObject): Part {
    return { ...part, data: encodeJson({ ...event, index }), framed: undefined }
  }

  function delta(part: Part, event: JsonObject, text: string): readonly Part[] {
    if (part.text === '') return [...(isOpen ? [] : open(textBlock)), moved(part, event)]
    if (text === '') return []
    hasJoined = true
    const changed = { ...event, delta: { ...objectOf(event['delta']), text } }
    return [...(isOpen ? [] : open(textBlock)), { ...moved(part, changed), text }]
  }

  return {
    write(part, text = part.text) {
      if (part.data.length === 0) return [part]
      const event = parseChecked(part.data)
      switch (event['type']) {
        case 'message_start':
          return []
        case 'content_block_start': {
          const block = objectOf(event['content_block'])
          const joins = isOpen && !hasJoined && block['type'] === 'text'
          hasJoined = true
          return joins ? [] : open(block, part)
        }
        case 'content_block_delta':
          return delta(part, event, text)
        case 'content_block_stop':
          return close()
        case 'message_delta':
          return [...close(), part]
        default:
          return [part]
      }
    },
  }
}

const textBlock = { type: 'text', text: '' }

/** Starts reading parts as events. */
export function messageRetracer(): Retracer {
  const reader = messagesAnswerReader()
  return {
    read({ data }) {
      if (data.length === 0) return []
      const event = parseChecked(data)
      if (!isComparable(event)) return undefined
      const events = reader.read(event)
      return events === 'done' || 'kind' in events ? [] : events
    },
  }
}

const comparableTypes: ReadonlySet<unknown> = new Set([
  ...['tool_use', 'thinking', 'redacted_thinking'],
  ...['text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta'],
])

/** Whether an event has no content but text, thinking and calls, which begin without any. */
function isComparable({ type, message, content_block, delta }: JsonObject): boolean {
  if (type === 'message_start') return objectsOf(objectOf(message)['content']).length === 0
  if (type === 'content_block_delta') return comparableTypes.has(objectOf(delta)['type'])
  if (type !== 'content_block_start') return true
  const block = objectOf(content_block)
  return block['type'] === 'text' ? block['text'] === '' : comparableTypes.has(block['type'])
}
