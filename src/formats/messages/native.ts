import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { isLike, jsonTemplate, type Hole, type JsonTemplate } from '../../bytes/json-template.ts'
import { latin1, withoutLineBreaks } from '../../bytes/text.ts'
import { encodeJson, isObject, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError, PartReader } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { emptyPart, type Part } from '../part.ts'
import { isDone } from '../reply.ts'
import { errorWithin, readUpstreamError } from '../upstream-error.ts'
import { countedUsage, type Usage } from '../usage.ts'
import { messagePart } from './make-part.ts'
import { addUsage, countsOf, readStopReason, soundReason, writeStopReason } from './message-usage.ts'
import { withSoundCall } from './sound-call.ts'
import { messagesEventBytesMax } from './upstream.ts'

/** Starts of blocks that show no content yet. All others are content: calls, and results of tools that ran upstream. */
const silentBlocks: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking'])

/**
 * Starts reading a stream of Messages for a caller of the same format (others: `answer-reader.ts`). Events pass in the
 * upstream's bytes. What clients refuse is repaired: missing usage, missing and redundant ends of blocks, wrong indexes
 * of blocks, ids that two calls have, a second start. Content that clients would lose without a word is malformed:
 * before the start, in a call that is not open, or behind the finish. So is a call without its end.
 */
export function messageEventReader(): PartReader {
  return new MessagesParts()
}

class MessagesParts implements PartReader {
  #hasStarted = false
  #isFinished = false
  #hasCalls = false
  #blockCount = 0
  /** Index and type of the open block, and its index at the upstream. -1: none is open. */
  #openIndex = -1
  #openGiven = -1
  #openType: unknown
  readonly #callIds = new Set<string>()
  /** The input that the start of the open call has: clients read it from deltas alone. */
  #startInput: JsonObject | undefined
  #usage: JsonObject | undefined
  /** The upstream's `message_stop`. */
  #stop: Part | undefined
  /** Deltas that differ from an earlier one in their text only are compared, not parsed. */
  #known: KnownDelta | undefined
  readonly #place = [0, 0]
  readonly eventBytesMax: number
  readonly hasOneChoice = true
  model: string | undefined

  constructor() {
    this.eventBytesMax = messagesEventBytesMax
  }

  read(received: ServerSentEvent): readonly Part[] | 'done' | AnsweredError {
    const { event, data: given } = received
    if (event === deltaEvent) {
      const parts = this.#passKnown(received)
      if (parts !== undefined) return parts
    }
    if (isDone(given)) return 'done'
    if (event === 'error') return { kind: 'error', error: readUpstreamError(given) }
    const facts = readFacts(given)
    const { type, hasLineBreaks } = facts
    const name = type === '' ? event : type
    const failed = failedEvent(type, given)
    if (failed !== undefined) return failed
    if (event === deltaEvent && name === event) this.#known = knownDelta(given, facts) ?? this.#known
    const read = this.#readNamed(name, hasLineBreaks ? withoutLineBreaks(given) : given, facts)
    return read === 'done' || event === '' || event === name ? read : read.map((part) => ({ ...part, event }))
  }

  finish(): Part[] {
    if (this.#isFinished) return []
    if (this.#openIndex !== -1) throw new MalformedAnswer('malformed', 'a block has no end')
    this.#isFinished = true
    const stopReason = writeStopReason({ reason: 'stop', raw: undefined }, this.#hasCalls)
    const delta = { stop_reason: stopReason, stop_sequence: null }
    const counts = this.#usage && countsOf(this.#usage)
    const event = { type: 'message_delta', delta, usage: { output_tokens: counts?.completion ?? 0 } }
    return [messagePart(event, { isMeaningful: true, finishReason: readStopReason(stopReason) })]
  }

  end(): Part[] {
    return [this.#stop ?? messagePart({ type: 'message_stop' })]
  }

  #passed(event: string, data: Uint8Array, facts: Partial<Part> = {}): Part {
    return { ...emptyPart(facts), data, event, hasOpenChoice: this.#hasStarted && !this.#isFinished }
  }

  /** A delta like an earlier one; undefined for other events. */
  #passKnown({ data, framed }: ServerSentEvent): readonly Part[] | undefined {
    if (this.#known === undefined || !isLike(data, this.#known.template, this.#place)) return undefined
    const [start = 0, end = 0] = this.#place
    const { index, isText, isHidden } = this.#known
    return this.#placeDelta(
      data,
      index,
      isText
        ? { text: latin1(data, start, end), isBeyondText: false, isHidden }
        : { text: '', isBeyondText: end > start, isHidden },
      framed,
    )
  }

  /** One literal: this is the usual part, and copies cost a multiple of it. */
  #deltaPart(data: Uint8Array, { text, isBeyondText, isHidden }: DeltaFacts, framed?: Uint8Array): Part {
    return {
      kind: 'part',
      data,
      framed,
      event: deltaEvent,
      isMeaningful: (isBeyondText && !isHidden) || text !== '',
      isProgress: isHidden || undefined,
      text,
      isBeyondText,
      finishReason: undefined,
      hasOpenChoice: this.#hasStarted && !this.#isFinished,
      usage: undefined,
    }
  }

  #startMessage(data: Uint8Array): readonly Part[] {
    const event = parseEvent(data)
    const { message } = event
    if (!isObject(message)) throw new MalformedAnswer('malformed', 'a start has no message')
    this.#usage = addUsage(this.#usage, message['usage'])
    if (this.#hasStarted) return []
    this.#hasStarted = true
    this.model = textOf(message['model'])
    const isWhole = isObject(message['usage'])
    const filled = isWhole ? data : encodeJson({ ...event, message: { ...message, usage: noUsage } })
    return [this.#passed('message_start', filled, this.#startFacts(message))]
  }

  /** After tools that ran at Anthropic, the start may have whole blocks, and even the end. */
  #startFacts({ content, stop_reason }: JsonObject): Partial<Part> {
    const blocks = objectsOf(content)
    const reason = textOf(stop_reason)
    if (blocks.length === 0 && reason === undefined) return {}
    this.#hasCalls = blocks.some(({ type }) => type === 'tool_use')
    this.#blockCount = blocks.length
    this.#isFinished = reason !== undefined
    const finish = reason === undefined ? {} : { finishReason: readStopReason(reason), usage: this.#usageSoFar() }
    return { isMeaningful: true, isBeyondText: true, ...finish }
  }

  #usageSoFar(): Usage | undefined {
    return this.#usage && countedUsage(countsOf(this.#usage))
  }

  #startBlock(data: Uint8Array, given: number): readonly Part[] {
    const event = parseEvent(data)
    const block = objectOf(event['content_block'])
    const { type, text, thinking } = block
    if (!this.#hasStarted || this.#isFinished) throw misplaced('the start of a block')
    const before = this.#endBlock()
    this.#openIndex = this.#blockCount++
    this.#openGiven = given
    this.#openType = type
    this.#hasCalls ||= type === 'tool_use'
    const isMeaningful = !silentBlocks.has(type) || Boolean(text) || Boolean(thinking)
    const repaired = type === 'tool_use' ? this.#emptied(withSoundCall(block, this.#callIds)) : block
    const isRight = repaired === block && given === this.#openIndex
    const written = isRight ? data : encodeJson({ ...event, index: this.#openIndex, content_block: repaired })
    const part = this.#passed('content_block_start', written, {
      isMeaningful,
      isProgress: type === 'thinking' || type === 'redacted_thinking' || undefined,
      // After a cut, only a stream with text in its first block can be resumed.
      isBeyondText: isMeaningful || type === 'redacted_thinking' || this.#blockCount > 1,
    })
    return [...before, part]
  }

  /** The start of a call without its input, which comes as a delta if the upstream sends none. */
  #emptied(block: JsonObject): JsonObject {
    const input = objectOf(block['input'])
    this.#startInput = Object.keys(input).length === 0 ? undefined : input
    return this.#startInput === undefined ? block : { ...block, input: {} }
  }

  /** The input of the start as a delta. */
  #inputOfStart(): readonly Part[] {
    if (this.#startInput === undefined) return []
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(this.#startInput) }
    this.#startInput = undefined
    return [
      messagePart(
        { type: deltaEvent, index: this.#openIndex, delta },
        { isMeaningful: true, isBeyondText: true, hasOpenChoice: true },
      ),
    ]
  }

  /** Ends the open block if the upstream did not. */
  #endBlock(): readonly Part[] {
    if (this.#openIndex === -1) return []
    if (this.#openType === 'tool_use') throw new MalformedAnswer('malformed', 'a tool call has no end')
    const part = messagePart({ type: 'content_block_stop', index: this.#openIndex }, { hasOpenChoice: true })
    this.#openIndex = -1
    return [part]
  }

  #passBlockStop(data: Uint8Array, given: number): readonly Part[] {
    if (this.#openIndex === -1 || (given !== -1 && given !== this.#openGiven)) return []
    const written = this.#withIndex(data, given)
    const input = this.#inputOfStart()
    this.#openIndex = -1
    return [...input, this.#passed('content_block_stop', written)]
  }

  /** The event with the index of the open block. */
  #withIndex(data: Uint8Array, given: number): Uint8Array {
    return given === this.#openIndex ? data : encodeJson({ ...parseEvent(data), index: this.#openIndex })
  }

  #passDelta(data: Uint8Array, given: number, delta: DeltaFacts, framed?: Uint8Array): Part {
    if (delta.isBeyondText) this.#startInput = undefined
    if (given === this.#openIndex) return this.#deltaPart(data, delta, framed)
    return this.#deltaPart(this.#withIndex(data, given), delta)
  }

  /**
   * A delta, in its block. One block is open at a time, so text and thinking belong to an open block of their type with
   * any index, and else to a block of their own.
   */
  #placeDelta(data: Uint8Array, given: number, delta: DeltaFacts, framed?: Uint8Array): readonly Part[] {
    const isOfOpen = this.#openIndex !== -1 && (given === this.#openGiven || given === -1)
    if (isOfOpen && (delta.text === '' || this.#openType === 'text'))
      return [this.#passDelta(data, given, delta, framed)]
    const type = blockOfDelta(objectOf(parseEvent(data)['delta'])['type'])
    if (type === undefined || (this.#openIndex !== -1 && this.#openType === 'tool_use')) throw misplaced('a delta')
    if (this.#openIndex !== -1 && this.#openType === type) return [this.#passDelta(data, given, delta)]
    const block = type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }
    const start = encodeJson({ type: 'content_block_start', index: this.#blockCount, content_block: block })
    return [...this.#startBlock(start, this.#blockCount), this.#passDelta(data, given, delta)]
  }

  #changeMessage(data: Uint8Array): readonly Part[] {
    if (!this.#hasStarted) throw misplaced('the finish')
    const event = parseEvent(data)
    const reason = textOf(objectOf(event['delta'])['stop_reason'])
    const before = reason === undefined ? [] : this.#endBlock()
    this.#usage = addUsage(this.#usage, event['usage'])
    this.#isFinished ||= reason !== undefined
    const sound = soundReason(reason, this.#hasCalls)
    const part = this.#passed('message_delta', encodedEnd(event, sound) ?? data, {
      usage: this.#usageSoFar(),
      ...(sound === undefined ? {} : { isMeaningful: true, finishReason: readStopReason(sound) }),
    })
    return [...before, part]
  }

  #readNamed(name: string, data: Uint8Array, { index, delta }: EventFacts): readonly Part[] | 'done' {
    switch (name) {
      case deltaEvent:
        return this.#placeDelta(data, index, delta)
      case 'content_block_start':
        return this.#startBlock(data, index)
      case 'content_block_stop':
        return this.#passBlockStop(data, index)
      case 'message_start':
        return this.#startMessage(data)
      case 'message_delta':
        return this.#changeMessage(data)
      case 'message_stop':
        this.#stop = this.#passed(name, data)
        return 'done'
      default:
        return [this.#passed(name, data, { isAside: true })]
    }
  }
}

/** The error that an event is; undefined for any other event. */
function failedEvent(type: string, data: Uint8Array): AnsweredError | undefined {
  if (type === 'error') return { kind: 'error', error: readUpstreamError(data) }
  const error = type === '' ? errorWithin(data) : undefined
  return error && { kind: 'error', error }
}

/** Type of the block that a delta belongs to. Undefined: only the block's start can tell. */
function blockOfDelta(type: unknown): 'text' | 'thinking' | undefined {
  return type === 'text_delta' ? 'text' : type === 'thinking_delta' ? 'thinking' : undefined
}

/** The event with what clients need in it. Undefined: it has that. */
function encodedEnd(event: JsonObject, reason: string | undefined): Uint8Array | undefined {
  const delta = objectOf(event['delta'])
  const isRight = reason === undefined || delta['stop_reason'] === reason
  if (isRight && isObject(event['usage'])) return undefined
  return encodeJson({
    ...event,
    ...(isRight ? {} : { delta: { ...delta, stop_reason: reason } }),
    usage: isObject(event['usage']) ? event['usage'] : { output_tokens: 0 },
  })
}

function misplaced(what: string): MalformedAnswer {
  return new MalformedAnswer('malformed', `${what} is out of place`)
}

const deltaEvent = 'content_block_delta'

/** A delta whose only content is one plain string. */
interface KnownDelta {
  readonly template: JsonTemplate
  readonly index: number
  /** Otherwise it is beyond text. */
  readonly isText: boolean
  readonly isHidden: boolean
}

function knownDelta(data: Uint8Array, { hasLineBreaks, index, delta }: EventFacts): KnownDelta | undefined {
  const { hole, text, isBeyondText, isHidden } = delta
  if (hole === undefined || hasLineBreaks || (text === '') !== isBeyondText) return undefined
  return { template: jsonTemplate(data, [hole]), index, isText: !isBeyondText, isHidden }
}

const noUsage = { input_tokens: 0, output_tokens: 0 }

interface DeltaFacts {
  readonly text: string
  readonly isBeyondText: boolean
  /** A signature, which callers do not see. */
  readonly isHidden: boolean
  /** Its only content, if that is a plain string. */
  readonly hole?: Hole | undefined
}

interface EventFacts {
  readonly type: string
  readonly hasLineBreaks: boolean
  /** Of a block. -1: the event has none. */
  readonly index: number
  readonly delta: DeltaFacts
}

const topNames = nameTable(['type', 'delta', 'index'])
const deltaNames = nameTable(['type', 'text'])
const eventTypes = [
  deltaEvent,
  'content_block_start',
  'content_block_stop',
  'message_start',
  'message_delta',
  'message_stop',
  'ping',
]
const eventTable = nameTable(eventTypes)
const typeBytesMax = 128
const noDelta: DeltaFacts = { text: '', isBeyondText: false, isHidden: false }
const hiddenTypes = nameTable(['signature_delta'])

/** Reads the facts of an event in place. @throws {MalformedAnswer} if it is not a JSON object */
function readFacts(data: Uint8Array): EventFacts {
  const cursor = new JsonCursor(data)
  try {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an event is not a JSON object')
    let type = ''
    let index = -1
    let delta = noDelta
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const code = cursor.nameCode(topNames)
      const kind = cursor.peek()
      if (code === 0 && kind === 'string') type = readType(cursor)
      else if (code === 1 && kind === 'object') delta = readDelta(cursor)
      else if (code === 2 && kind === 'number') index = cursor.number()
      else cursor.skip()
    }
    cursor.finish()
    return { type, hasLineBreaks: cursor.hasLineBreaks, index, delta }
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
  }
}

function readType(cursor: JsonCursor): string {
  const start = cursor.position
  cursor.skip()
  const known = eventTypes[cursor.stringCode(eventTable, start, cursor.position)]
  if (known !== undefined) return known
  const name = cursor.position - start > typeBytesMax ? '' : cursor.stringAt(start, cursor.position)
  // It becomes a line of its own.
  return /^[\w.-]+$/.test(name) ? name : ''
}

/** Reads new text, and whether there is other content. Numbers, such as counts of hidden tokens, do not count. */
function readDelta(cursor: JsonCursor): DeltaFacts {
  let text = ''
  let isBeyondText = false
  let isHidden = false
  let count = 0
  let hole: Hole | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(deltaNames)
    const kind = cursor.peek()
    const start = cursor.position
    if (code === 1) {
      if (kind !== 'string') throw new MalformedAnswer('malformed', `the text of an event is a ${kind}`)
      text = cursor.string()
    } else if (code === 0 || kind === 'number') {
      cursor.skip()
      isHidden ||= kind === 'string' && cursor.stringCode(hiddenTypes, start, cursor.position) !== -1
      continue
    } else if (cursor.isFilled()) isBeyondText = true
    count++
    if (kind === 'string' && cursor.isPlain) hole = { kind: 'text', start: start + 1, end: cursor.position - 1 }
  }
  return { text, isBeyondText, isHidden, hole: count === 1 ? hole : undefined }
}

function parseEvent(data: Uint8Array): JsonObject {
  try {
    return objectOf(parseJsonBytes(data))
  } catch (cause) {
    throw new MalformedAnswer('malformed', 'an event is not JSON', { cause })
  }
}
