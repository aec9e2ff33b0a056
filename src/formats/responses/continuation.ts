import type { AnswerEvent } from '../answer.ts'
import { numberOf, objectOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { Continuation, Retracer } from '../format.ts'
import { logprobsOfEnd } from '../logprobs-end.ts'
import type { Part } from '../part.ts'
import type { Delivered } from '../reply.ts'
import { clientCalls, restReader } from './answer-reader.ts'
import { echoOf } from './echo.ts'
import type { ResponsesRequest } from './request.ts'
import { readHead } from './response-object.ts'
import { responseWriter, type ContinuedResponse } from './response-writer.ts'
import { declaredTools, toolNames } from './tool-names.ts'

/** Starts the rest of a stream. Ids, indexes and sequence numbers go on, and the last event has all items. */
export function responseContinuation(request: ResponsesRequest, delivered: Delivered, text: string): Continuation {
  const names = toolNames(declaredTools(request))
  const reader = restReader(names)
  const writer = responseWriter({
    model: request.model,
    echo: echoOf(request),
    names,
    isSealed: false,
    continued: continuedAt(delivered, text),
  })
  let hasEnded = false
  return {
    write(part, newText) {
      if (hasEnded || part.data.length === 0) return []
      const event = objectOf(parseJsonBytes(part.data))
      const events = reader.read(event)
      const written = writer.write(newText === undefined ? events : events.flatMap((each) => endOf(each, newText)))
      hasEnded = written.some(({ finishReason }) => finishReason !== undefined)
      if (!hasEnded) return written
      return [...written, ...writer.end()].map((each) =>
        each.usage === undefined ? each : { ...each, usage: part.usage },
      )
    },
  }
}

/** Shortens text, and its log probabilities, to the end that is new to the client. */
function endOf(event: AnswerEvent, text: string): readonly AnswerEvent[] {
  if (event.kind === 'text') return [{ ...event, text }]
  return event.kind === 'logprobs' ? logprobsOfEnd(event, text) : [event]
}

function continuedAt(delivered: Delivered, text: string): ContinuedResponse | undefined {
  const { first, place, others = [] } = delivered
  if (first === undefined || place === undefined) return undefined
  const { response } = objectOf(parseJsonBytes(first.data))
  return {
    head: readHead(objectOf(response)),
    nextSequenceNumber: nextSequenceNumber(delivered),
    message: messageAt(place),
    text,
    items: others.flatMap(endedItem),
  }
}

/** The item that a part ends, at its index. */
function endedItem({ event, data }: Part): ContinuedResponse['items'] {
  if (event !== 'response.output_item.done') return []
  const { output_index, item } = objectOf(parseJsonBytes(data))
  return [{ index: numberOf(output_index) ?? 0, item: objectOf(item) }]
}

/** Starts reading parts as events. Two messages in a row cannot be compared: their texts would be one. */
export function responseRetracer(request: ResponsesRequest): Retracer {
  const reader = restReader(toolNames(declaredTools(request)))
  let last: unknown
  return {
    read({ data, isAside }) {
      if (data.length === 0 || isAside === true) return []
      const event = objectOf(parseJsonBytes(data))
      const { type, item } = event
      if (!comparableEvents.has(type)) return undefined
      if (type === 'response.output_item.added' || type === 'response.output_item.done') {
        const kind = objectOf(item)['type']
        if (!comparableItems.has(kind)) return undefined
        if (type === 'response.output_item.added' && kind !== 'reasoning') {
          if (kind === 'message' && last === kind) return undefined
          last = kind
        }
      }
      return reader.read(event)
    },
  }
}

const comparableItems: ReadonlySet<unknown> = new Set(['message', 'reasoning', ...clientCalls])
const comparableEvents: ReadonlySet<unknown> = new Set(
  [
    ...['created', 'queued', 'in_progress', 'completed', 'incomplete', 'output_item.added', 'output_item.done'],
    ...['content_part.added', 'content_part.done', 'output_text.delta', 'output_text.done'],
    ...['function_call_arguments.delta', 'function_call_arguments.done'],
    ...['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
    ...['reasoning_summary_part.added', 'reasoning_summary_part.done'],
    ...['reasoning_summary_text.delta', 'reasoning_summary_text.done'],
    ...['reasoning_text.delta', 'reasoning_text.done'],
  ].map((name) => `response.${name}`),
)

/** The number of the next event. Pings may have none. */
export function nextSequenceNumber({ place, last }: Delivered): number {
  const numbers = [last, place].flatMap(
    (part) => numberOf(part && objectOf(parseJsonBytes(part.data))['sequence_number']) ?? [],
  )
  return (numbers[0] ?? -1) + 1
}

/** The message that a part belongs to. */
function messageAt(place: Part): ContinuedResponse['message'] {
  const { item_id, item, output_index, content_index } = objectOf(parseJsonBytes(place.data))
  const { id, type } = objectOf(item)
  const itemId = textOf(item_id) ?? (type === 'message' ? textOf(id) : undefined)
  if (itemId === undefined) return undefined
  return { id: itemId, outputIndex: numberOf(output_index) ?? 0, contentIndex: numberOf(content_index) ?? 0 }
}
