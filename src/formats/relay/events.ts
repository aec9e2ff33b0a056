import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { utf8, withoutLineBreaks } from '../../bytes/text.ts'
import type { Ask } from '../ask.ts'
import { numberOf, objectOf, objectsOf, parseJson, textOf } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { emptyPart, type Part } from '../part.ts'
import { isDone } from '../reply.ts'
import { errorWithin, isFailedReason, readUpstreamError } from '../upstream-error.ts'
import { usageOf } from './answer.ts'

/** Facts of an event. */
type EventFacts = Pick<Part, 'isMeaningful' | 'finishReason' | 'hasOpenChoice'>

/** The members of an event that are read, parsed. Others may be large, and are passed. */
interface EventMembers {
  readonly type?: unknown
  readonly choices?: unknown
  readonly usage?: unknown
}

/** Reads streams of completions: each event has the shape of a whole answer. */
export function completionReader({ body, members }: Pick<Ask, 'body' | 'members'>): PartReader {
  const open = new Set<number>()
  const prompt = members.findLast(({ name }) => name === 'prompt')
  const hasOnePrompt = prompt !== undefined && body[prompt.valueStart] === quote
  return {
    hasOneChoice: hasOnePrompt && members.every(({ name }) => name !== 'n'),
    ...eventReader(({ choices }) => {
      const pieces = objectsOf(choices)
      let finishReason: string | undefined
      for (const { index, finish_reason } of pieces) {
        const place = numberOf(index) ?? 0
        const reason = textOf(finish_reason)
        if (reason === undefined) open.add(place)
        else open.delete(place)
        finishReason = reason ?? finishReason
      }
      return {
        isMeaningful: finishReason !== undefined || pieces.some(({ text }) => (textOf(text) ?? '') !== ''),
        finishReason,
        hasOpenChoice: open.size > 0,
      }
    }),
  }
}

/** Types of the events of a stream. */
export interface TypedEvents {
  /** Beginning of the types of events with content. */
  readonly beginning: string
  /** The end of the type of an event that ends the stream, or one of several pictures. */
  readonly last: string
  readonly eventBytesMax: number
}

/** Reads streams whose events have a `type`. */
export function typedReader({ members }: Pick<Ask, 'members'>, events: TypedEvents): PartReader {
  const { beginning, last, eventBytesMax } = events
  let hasOpenChoice = true
  let end: Uint8Array | undefined
  const { read, finish } = eventReader(({ type }) => {
    const isMeaningful = textOf(type)?.startsWith(beginning) === true
    const isLast = type === beginning + last
    if (isMeaningful) hasOpenChoice = !isLast
    return { isMeaningful, finishReason: isLast ? 'stop' : undefined, hasOpenChoice }
  })
  return {
    eventBytesMax,
    hasOneChoice: members.every(({ name }) => name !== 'n'),
    read(event) {
      if (isDone(event.data)) end = event.data
      return read(event)
    },
    finish,
    end: () => (end === undefined ? [] : [emptyPart({ data: end })]),
  }
}

/** Reads events with these facts. Their data passes through. */
function eventReader(factsOf: (event: EventMembers) => EventFacts): Pick<PartReader, 'read' | 'finish'> {
  function read({ event, data }: ServerSentEvent): readonly Part[] | AnsweredError {
    const found = readMembers(data)
    if (event === 'error' || found.isError) return { kind: 'error', error: readUpstreamError(data) }
    const failed = objectsOf(found.choices).some(isFailed) ? errorWithin(data) : undefined
    if (failed !== undefined) return { kind: 'error', error: failed }
    const facts = factsOf(found)
    const usage = usageOf(objectOf(found.usage))
    // Streams of relays are never resumed, and never empty.
    const part = { event: event || undefined, ...facts, text: '', isBeyondText: facts.isMeaningful, usage }
    return [{ kind: 'part', data: oneLine(data), ...part }]
  }

  return {
    read: (event) => (isDone(event.data) ? 'done' : read(event)),
    finish: () => [],
  }
}

/** Whether a choice may be an error, as OpenRouter sends it. */
function isFailed({ error, finish_reason }: JsonObject): boolean {
  return (error !== undefined && error !== null) || isFailedReason(textOf(finish_reason) ?? '')
}

const memberNames = ['type', 'choices', 'usage', 'error', 'object'] as const
const memberTable = nameTable(memberNames)
const quote = 0x22

/** @throws {MalformedAnswer} */
function readMembers(data: Uint8Array): EventMembers & { readonly isError: boolean } {
  const cursor = new JsonCursor(data)
  const found: { -readonly [Name in keyof EventMembers]: unknown } = {}
  let isError = false
  try {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an event is not a JSON object')
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const name = memberNames[cursor.nameCode(memberTable)]
      cursor.peek()
      const start = cursor.position
      if (name === 'error') isError ||= cursor.isFilled()
      else cursor.skip()
      if (name === 'object') isError ||= utf8(data, start, Math.min(cursor.position, start + 7)) === '"error"'
      else if (name !== undefined && name !== 'error') found[name] = parseJson(utf8(data, start, cursor.position))
    }
    cursor.finish()
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
    throw cause
  }
  return { ...found, isError: isError || found.type === 'error' }
}

/** The data of an event; several data lines, and answers that became events, have line breaks. */
function oneLine(data: Uint8Array): Uint8Array {
  return data.includes(0x0a) || data.includes(0x0d) ? withoutLineBreaks(data) : data
}
