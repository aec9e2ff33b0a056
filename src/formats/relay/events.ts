import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { withoutLineBreaks } from '../../bytes/text.ts'
import { isDone } from '../done.ts'
import { isObject, numberOf, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { errorOf, errorWithin } from '../upstream-error.ts'
import { usageOf } from './answer.ts'

/** Facts of an event. */
interface EventFacts {
  readonly isMeaningful: boolean
  readonly finishReason: string | undefined
  readonly hasOpenChoice: boolean
}

/** Reads streams of completions: each event has the shape of a whole answer. */
export function completionReader(): PartReader {
  const open = new Set<number>()
  return eventReader((event) => {
    const choices = objectsOf(event['choices'])
    let finishReason: string | undefined
    for (const { index, finish_reason } of choices) {
      const place = numberOf(index) ?? 0
      const reason = textOf(finish_reason)
      if (reason === undefined) open.add(place)
      else open.delete(place)
      finishReason = reason ?? finishReason
    }
    return {
      isMeaningful: finishReason !== undefined || choices.some(({ text }) => (textOf(text) ?? '') !== ''),
      finishReason,
      hasOpenChoice: open.size > 0,
    }
  })
}

/** Reads the events with these facts. Their data passes through. */
function eventReader(factsOf: (event: JsonObject) => EventFacts): PartReader {
  function read(event: ServerSentEvent): readonly Part[] | AnsweredError {
    const parsed = parseEvent(event.data)
    const error = event.event === 'error' ? errorOf(parsed) : errorWithin(event.data)
    if (event.event === 'error' || error !== undefined) return { kind: 'error', error }
    const facts = factsOf(parsed)
    const part: Part = {
      kind: 'part',
      data: oneLine(event.data),
      event: event.event || undefined,
      ...facts,
      text: '',
      // Streams of relays are never resumed, nor empty.
      isBeyondText: facts.isMeaningful,
      usage: usageOf(objectOf(parsed['usage'])),
    }
    return [part]
  }

  return {
    // A choice of which nothing has come yet is unknown.
    hasOneChoice: false,
    read: (event) => (isDone(event.data) ? 'done' : read(event)),
    finish: () => [],
  }
}

/** The data of an event; several data lines, and answers that became events, have line breaks. */
function oneLine(data: Uint8Array): Uint8Array {
  return data.includes(0x0a) || data.includes(0x0d) ? withoutLineBreaks(data) : data
}

function parseEvent(data: Uint8Array): JsonObject {
  let value: unknown
  try {
    value = parseJsonBytes(data)
  } catch (cause) {
    throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
  }
  if (!isObject(value)) throw new MalformedAnswer('malformed', 'an event is not a JSON object')
  return value
}
