import type { JsonObject } from '../../base/json-value.ts'
import { parseChecked } from '../chat/read-event.ts'
import { encodeJson, numberOf, objectOf } from '../exact-json.ts'
import type { Continuation } from '../format.ts'
import type { Part } from '../part.ts'
import type { Delivered } from '../reply.ts'
import { messagePart } from './make-part.ts'

/**
 * Starts the rest of a stream whose beginning is one block of text. The start of the other stream is left out, and so
 * is that of its first block of text while the client has one open. Indexes go on from there.
 */
export function messageContinuation({ place: last }: Delivered): Continuation {
  const place = last === undefined ? {} : parseChecked(last.data)
  let index = numberOf(place['index']) ?? 0
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
