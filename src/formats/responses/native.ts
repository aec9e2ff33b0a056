import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { isDigits } from '../../bytes/fill.ts'
import { JsonCursor, JsonSyntaxError, nameTable, type JsonKind } from '../../bytes/json-cursor.ts'
import { isLike, jsonTemplate, type Hole, type JsonTemplate } from '../../bytes/json-template.ts'
import { latin1 } from '../../bytes/text.ts'
import { encodeJson, isObject, numberOf, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { isDone, type WholeReply } from '../reply.ts'
import { errorInside, errorOf } from '../upstream-error.ts'
import { countedUsage } from '../usage.ts'
import { readDelta, readFinish, readItem } from './answer-reader.ts'
import { ItemRepair } from './item-repair.ts'
import { readResponseUsage } from './response-object.ts'
import { responsePart } from './response-part.ts'

/** Limit of the events before the first content, which are kept until it arrives. */
const heldMax = 64
/** As {@link heldMax}, once there was progress. */
const heldWithProgressMax = 10_000
/** Limit of the bytes of these events. */
const heldBytesMax = 4 * 1024 * 1024
const textDelta = 'response.output_text.delta'
/** The last event has the whole answer, and an event may have a picture. */
export const responsesEventBytesMax = 8 * 1024 * 1024

/**
 * Inspects a whole response. Its bytes pass through.
 *
 * @throws {MalformedAnswer}
 */
export function readWhole(body: Uint8Array): WholeReply | AnsweredError {
  const response = parseObject(body, 'the answer')
  const { status, output, error } = response
  if (status === 'failed' || (isObject(error) && !Array.isArray(output)))
    return { kind: 'error', error: errorOf(response) }
  const inside = Array.isArray(output) ? undefined : errorInside(response)
  if (inside !== undefined) return { kind: 'error', error: inside }
  if (!Array.isArray(output)) throw new MalformedAnswer('no_choices', 'the answer has no output')
  const counts = readResponseUsage(response)
  const isBlank = objectsOf(output).every(isEmptyMessage)
  return {
    kind: 'whole',
    body,
    usage: counts && countedUsage(counts),
    isEmpty: isBlank && readFinish(response) === 'stop',
    isBlank,
    model: textOf(response['model']),
  }
}

/** The error that an event is; undefined for any other event. */
function failedEvent(name: string, event: JsonObject): AnsweredError | undefined {
  const { type, error, response } = event
  if (type === 'response.failed') return { kind: 'error', error: errorOf(response) }
  if (name === 'error' || type === 'error' || isObject(error)) return { kind: 'error', error: errorOf(event) }
  const inside = type === undefined ? errorInside(event) : undefined
  return inside && { kind: 'error', error: inside }
}

/**
 * Reads a stream of a provider that speaks this format. Events pass through with their names. Those before the first
 * content are held back, and released with it: they prove nothing. Content that clients would lose or refuse is
 * malformed: before the start, of an item that is not open, or a completed answer with an open call. Events behind the
 * end are dropped.
 */
export function partReader(): PartReader {
  return new ResponsesParts()
}

class ResponsesParts implements PartReader {
  readonly #items = itemOrder()
  readonly #repair = new ItemRepair()
  #hasBegun = false
  #head: JsonObject | undefined
  #held: Part[] | undefined = []
  #heldBytes = 0
  #hasProgress = false
  #hasText = false
  #isFinished = false
  /** Deltas of text that differ from an earlier one in a few values only are compared, not parsed. */
  #known: KnownDelta | undefined
  readonly #places: number[] = [0, 0, 0, 0, 0, 0]
  /** Ends of text. They wait for the next event, since a stream that is cut between them can be resumed. */
  #textEnds: Part[] = []
  #textEndBytes = 0
  #hasMore = false
  readonly eventBytesMax: number
  readonly hasOneChoice = true

  constructor() {
    this.eventBytesMax = responsesEventBytesMax
  }

  get model(): string | undefined {
    return textOf(this.#head?.['model'])
  }

  read(event: ServerSentEvent): 'done' | readonly Part[] | AnsweredError {
    return this.#isFinished || isDone(event.data) ? 'done' : this.#read(event)
  }

  finish(): never[] {
    if (this.#isFinished) return []
    throw new MalformedAnswer('malformed', 'the stream has no last event')
  }

  #readText({ data, framed }: ServerSentEvent): readonly Part[] | undefined {
    if (this.#known !== undefined && isLike(data, this.#known.template, this.#places)) {
      const text = latin1(data, this.#places[this.#known.text * 2] ?? 0, this.#places[this.#known.text * 2 + 1] ?? 0)
      this.#repair.addText(this.#known.index, text)
      return this.#passText(data, text, framed)
    }
    const delta = readTextDelta(data)
    if (delta === undefined || !this.#repair.isRight(delta.index, delta.id)) return undefined
    this.#repair.addText(delta.index ?? 0, delta.text)
    const line = oneLine(data)
    if (line === data) this.#known = knownDelta(data, delta) ?? this.#known
    return this.#passText(line, delta.text)
  }

  #read(event: ServerSentEvent): readonly Part[] | AnsweredError {
    const text = event.event === textDelta ? this.#readText(event) : undefined
    if (text !== undefined) return text
    const parsed = parseObject(event.data, 'an event')
    const failed = failedEvent(event.event, parsed)
    if (failed !== undefined) return failed
    const before = this.#repair.missingBefore(parsed).flatMap((made) => this.#readMade(made))
    return [...before, ...this.#readParsed(parsed, event)]
  }

  /** An event that the upstream left out. */
  #readMade(made: JsonObject): readonly Part[] {
    return this.#readParsed(made, { event: String(made['type']), data: encodeJson(made) })
  }

  #readParsed(given: JsonObject, event: ServerSentEvent): readonly Part[] {
    this.#checkPlace(given)
    const parsed = this.#repair.repaired(given)
    const changed = this.#withHead(parsed) ?? (parsed === given ? undefined : parsed)
    const data = changed === undefined ? oneLine(event.data) : encodeJson(changed)
    this.#repair.note(parsed, data)
    const { type } = parsed
    const part: Part = { kind: 'part', data, event: event.event || undefined, ...this.#factsOf(parsed) }
    if (type === 'response.output_item.added' && !part.isMeaningful)
      this.#hasProgress ||= objectOf(parsed['item'])['type'] === 'reasoning'
    if (isTextEnd(parsed) && this.#waits(part)) return []
    return part.isMeaningful ? this.#released(part) : this.#kept(part)
  }

  /** Whether the end of a text waits: nothing but text came before, and it is not large. */
  #waits(part: Part): boolean {
    if (!this.#hasText || this.#hasMore || this.#textEndBytes + part.data.length > waitingBytesMax) return false
    this.#textEnds.push(part)
    this.#textEndBytes += part.data.length
    return true
  }

  /** A part behind the ends of text. Pings do not wait. */
  #behindEnds(part: Part): readonly Part[] {
    if (part.isAside !== true) this.#hasMore ||= part.isBeyondText
    if (this.#textEnds.length === 0 || part.isAside === true) return [part]
    const all = [...this.#textEnds, part]
    this.#textEnds = []
    this.#textEndBytes = 0
    this.#hasMore = true
    return all
  }

  /** The event with the id, time and model of the first one (failover.md row 39). Undefined: it has them. */
  #withHead({ response, ...event }: JsonObject): JsonObject | undefined {
    if (!isObject(response)) return undefined
    const { id, created_at, model } = response
    this.#head ??= { id, created_at, model }
    if (id === this.#head['id'] && created_at === this.#head['created_at'] && model === this.#head['model'])
      return undefined
    return { ...event, response: { ...response, ...this.#head } }
  }

  /** @throws {MalformedAnswer} */
  #checkPlace(event: JsonObject): void {
    const { type, response } = event
    if (typeof type !== 'string') throw new MalformedAnswer('malformed', 'an event has no type')
    if (type === 'response.created' && this.#hasBegun) throw misplaced('a second start')
    this.#hasBegun ||= beginnings.has(type)
    if (!this.#hasBegun && isOfResponse(event)) throw misplaced('content before the start')
    this.#items.read(type, event)
    if (!ends.has(type)) return
    if (!isObject(response)) throw new MalformedAnswer('malformed', 'the end has no response')
    if (type === 'response.completed' && this.#items.hasOpenCall()) throw misplaced('the end')
  }

  /** The usual case. */
  #passText(data: Uint8Array, text: string, framed?: Uint8Array): readonly Part[] {
    if (!this.#hasBegun) throw misplaced('content before the start')
    this.#hasText ||= text !== ''
    const part: Part = {
      kind: 'part',
      data,
      framed,
      event: textDelta,
      isMeaningful: text !== '',
      text,
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: !this.#isFinished,
      usage: undefined,
    }
    return part.isMeaningful ? this.#released(part) : this.#kept(part)
  }

  #factsOf(event: JsonObject): Omit<Part, 'kind' | 'data' | 'event'> {
    const delta = readDelta(event)
    const text = delta?.kind === 'text' ? delta.text : ''
    this.#hasText ||= text !== ''
    const response = endOf(event)
    this.#isFinished ||= response !== undefined
    const counts = response && readResponseUsage(response)
    const isBeyondText = delta === undefined ? isMore(event, this.#hasText) : delta.kind !== 'text' && delta.text !== ''
    const isHidden = isHiddenThought(event)
    return {
      isMeaningful: text !== '' || (isBeyondText && !isHidden) || response !== undefined,
      isProgress: isHidden || undefined,
      text,
      isBeyondText,
      finishReason: response && readFinish(response),
      hasOpenChoice: !this.#isFinished,
      usage: counts && countedUsage(counts),
      isAside: isOfResponse(event) ? undefined : true,
    }
  }

  #released(part: Part): readonly Part[] {
    if (this.#held === undefined) return this.#behindEnds(part)
    const all = [...this.#held, ...this.#behindEnds(part)]
    this.#held = undefined
    return all
  }

  #kept(part: Part): readonly Part[] {
    if (this.#held === undefined) return this.#behindEnds(part)
    this.#heldBytes += part.data.length
    if (this.#held.length === (this.#hasProgress ? heldWithProgressMax : heldMax) || this.#heldBytes > heldBytesMax)
      throw new MalformedAnswer('malformed', 'too many events without content')
    this.#held.push(part)
    return this.#hasProgress ? progress : []
  }
}

/** Events that clients expect before all others; some providers leave out the first. */
const beginnings: ReadonlySet<unknown> = new Set(['response.created', 'response.queued', 'response.in_progress'])
const ends: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])

/** The response of an event that ends the stream. */
function endOf({ type, response }: JsonObject): JsonObject | undefined {
  return ends.has(type) ? objectOf(response) : undefined
}

/** Checks that pieces of calls belong to open items, and that each item begins once. */
function itemOrder() {
  const open = new Map<number, unknown>()
  const added = new Set<number>()

  return {
    hasOpenCall: () => open.values().some((type) => typeof type === 'string' && type.endsWith('_call')),
    /** @throws {MalformedAnswer} */
    read(type: string, { output_index, item }: JsonObject): void {
      const index = numberOf(output_index) ?? -1
      if (type === 'response.output_item.added') {
        if (added.has(index)) throw misplaced('a second item at an index')
        added.add(index)
        open.set(index, objectOf(item)['type'])
      } else if (type === 'response.output_item.done') open.delete(index)
      else if (callPieces.has(type) && !open.has(index)) throw misplaced('a piece of a call')
    },
  }
}

const callPieces: ReadonlySet<string> = new Set([
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.delta',
  'response.custom_tool_call_input.done',
])

function misplaced(what: string): MalformedAnswer {
  return new MalformedAnswer('malformed', `${what} is out of place`)
}

/** Events that carry no content: all others than these and deltas of text do. */
const bare: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
])
/** Events that end text: a stream that is cut after one cannot be continued. */
const textEndTypes: ReadonlySet<unknown> = new Set([
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
])
/** Limit of the ends of text that wait for the next event. */
const waitingBytesMax = 4 * 1024 * 1024

function isTextEnd({ type, item }: JsonObject): boolean {
  return textEndTypes.has(type) && (item === undefined || objectOf(item)['type'] === 'message')
}

/** Whether an event belongs to the response. Others are pings. */
function isOfResponse({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('response.')
}

/** Whether an event has content that a resumed stream cannot repeat. */
function isMore(event: JsonObject, hasText: boolean): boolean {
  const { type, item } = event
  if (bare.has(type) || !isOfResponse(event)) return false
  const kind = objectOf(item)['type']
  if (type === 'response.output_item.added') return kind !== 'message' && kind !== 'reasoning'
  return textEndTypes.has(type) ? hasText || (kind !== undefined && kind !== 'message') : true
}

/** Whether an event ends reasoning without any text, such as encrypted reasoning. */
function isHiddenThought({ type, item }: JsonObject): boolean {
  if (type !== 'response.output_item.done') return false
  const ended = objectOf(item)
  return ended['type'] === 'reasoning' && readItem(ended).length === 0
}

function isEmptyMessage({ type, content }: JsonObject): boolean {
  return (
    type === 'message' &&
    objectsOf(content).every((part) => (textOf(part['text']) ?? textOf(part['refusal']) ?? '') === '')
  )
}

/**
 * Parses an answer or an event.
 *
 * @throws {MalformedAnswer}
 */
export function parseObject(data: Uint8Array, subject: string): JsonObject {
  let value: unknown
  try {
    value = parseJsonBytes(data)
  } catch (cause) {
    throw new MalformedAnswer('malformed', `${subject} is not JSON`, { cause })
  }
  if (!isObject(value)) throw new MalformedAnswer('malformed', `${subject} is not a JSON object`)
  return value
}

/** An event was kept of an upstream that has begun to think. */
const progress: readonly Part[] = [responsePart(undefined, undefined, { isProgress: true })]

const deltaNames = nameTable(['type', 'output_index', 'item_id', 'delta', 'sequence_number', 'obfuscation'])
const deltaCode = 3

/** Index and id of an item. */
interface ItemPlace {
  index?: number
  id?: string
}

/** The text of a delta, and its values that differ in the next one. */
interface TextDelta extends ItemPlace {
  readonly text: string
  /** Of these, the text. -1: it is not plain. */
  readonly place: number
  readonly holes: readonly Hole[]
}

interface KnownDelta {
  readonly template: JsonTemplate
  /** Which of the values is the text. */
  readonly text: number
  /** Of its item. */
  readonly index: number
}

function knownDelta(data: Uint8Array, { place, holes, index = 0 }: TextDelta): KnownDelta | undefined {
  return place === -1 ? undefined : { template: jsonTemplate(data, holes), text: place, index }
}

/**
 * Reads a delta of text in place. Undefined for other events.
 *
 * @throws {MalformedAnswer}
 */
function readTextDelta(data: Uint8Array): TextDelta | undefined {
  const cursor = new JsonCursor(data)
  let isTextDelta = false
  let text: string | undefined
  let place = -1
  const item: ItemPlace = {}
  const holes: Hole[] = []
  try {
    if (cursor.peek() !== 'object') return undefined
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const code = cursor.nameCode(deltaNames)
      const kind = cursor.peek()
      const start = cursor.position
      if (code === 0 && kind === 'string') isTextDelta = cursor.string() === textDelta
      else if (code === deltaCode) {
        if (kind !== 'string') return undefined
        text = cursor.string()
      } else passPlace(cursor, code, item)
      const hole = code >= deltaCode ? holeFrom(cursor, kind, start) : undefined
      if (code === deltaCode) place = hole === undefined ? -1 : holes.length
      if (hole !== undefined) holes.push(hole)
    }
    cursor.finish()
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
    throw cause
  }
  return isTextDelta && text !== undefined ? { text, ...item, place, holes } : undefined
}

/** Passes a member that may tell the item. */
function passPlace(cursor: JsonCursor, code: number, item: ItemPlace): void {
  const kind = cursor.peek()
  if (code === 1 && kind === 'number') item.index = cursor.number()
  else if (code === 2 && kind === 'string') item.id = cursor.string()
  else cursor.skip()
}

/** The value that was passed, if another may take its place: a plain string, or digits. */
function holeFrom({ bytes, position, isPlain }: JsonCursor, kind: JsonKind, start: number): Hole | undefined {
  if (kind === 'string' && isPlain) return { kind: 'text', start: start + 1, end: position - 1 }
  const isCount = kind === 'number' && isDigits(bytes, start, position)
  return isCount ? { kind: 'digits', start, end: position } : undefined
}

const lineFeed = 0x0a

/** Line breaks between tokens, which several data lines make, become spaces. */
function oneLine(data: Uint8Array): Uint8Array {
  if (!data.includes(lineFeed)) return data
  return data.map((byte) => (byte === lineFeed ? 0x20 : byte))
}
