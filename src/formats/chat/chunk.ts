import { insertMembers, isDigits, readIndex, readInteger, removeMember } from '../../bytes/fill.ts'
import { endOfPlainText, isAt, JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { applyEdits, type Edit } from '../../bytes/splice.ts'
import { encode, latin1, utf8, withoutLineBreaks } from '../../bytes/text.ts'
import { parseJsonBytes, textOf } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { errorWithin } from '../upstream-error.ts'
import { readUsage, withTier } from '../usage.ts'
import {
  objectReader,
  readContentParts,
  readError,
  readRefusal,
  readServiceTier,
  removeToolCalls,
  type AnswerFacts,
} from './answer-fields.ts'
import { finishReasonOf, isCutReason } from './finish-reason.ts'
import { readLogprobs } from './logprobs.ts'
import { toolCallNumbers, type ToolCallNumbers } from './tool-call-numbers.ts'

/** Reads the events of one stream, one after the other. */
export interface ChunkReader {
  /**
   * @param framed `data` with its framing, for its part if the chunk needs no repair
   * @throws {MalformedAnswer} for an event that is not a chunk (failover.md row 34)
   */
  (data: Uint8Array, framed?: Uint8Array): Part | AnsweredError
  /**
   * Call after the end marker. Returns a last part for each choice without a finish_reason: `tool_calls` if it has tool
   * calls, else `stop` (failover.md row 36).
   *
   * @throws {MalformedAnswer} if the JSON of a call has not ended: clients would run the call
   */
  finish(): readonly Part[]
  /** Whether the last chunk had plain text in its first choice and no other content, as one before it. */
  isTextAlone(): boolean
  /** The first model that a chunk names. */
  model(): string | undefined
}

/** The members that all chunks of one stream have in common. */
export interface ChunkHead {
  readonly id: string
  /** Unix time in seconds. */
  readonly created: number
  readonly model: string
}

/** Defaults for members that the upstream leaves out. */
export interface ChunkDefaults {
  /** Default: empty. */
  readonly model?: string
  /** Unix time in seconds. Default: now. */
  readonly created?: number
  /** Default: random, beginning with `chatcmpl-`. */
  readonly id?: string
}

const topTable = nameTable(['id', 'object', 'created', 'model', 'choices', 'usage', 'error', 'service_tier', 'x_groq'])
const choicesCode = 4
const choiceTable = nameTable(['index', 'delta', 'finish_reason', 'error', 'logprobs', 'usage'])
const deltaTable = nameTable([
  'content',
  'tool_calls',
  'refusal',
  'role',
  'audio',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking',
  'reasoning_text',
  'thinking_content',
  'thought',
])
const roleTable = nameTable(['assistant'])
const readObject = objectReader('chat.completion.chunk')

/**
 * Creates a reader for one stream of an OpenAI-compatible upstream. It checks each event, and repairs it in the
 * upstream's own bytes: fills in missing members and fixes those of a wrong type (docs/api.md). `id`, `created` and
 * `model` keep their first value (failover.md row 39). Content in parts becomes text. Unknown members are kept.
 */
export function chunkReader(defaults: ChunkDefaults = {}): ChunkReader {
  const stream = streamState(defaults)
  function readChunk(data: Uint8Array, framed?: Uint8Array): Part | AnsweredError {
    try {
      return readTop(new JsonCursor(data), stream, framed)
    } catch (error) {
      if (error instanceof MalformedAnswer) return errorInstead(data, error)
      if (error instanceof JsonSyntaxError)
        throw new MalformedAnswer('malformed', `an event is not JSON: ${error.message}`, { cause: error })
      throw error
    }
  }
  return Object.assign(readChunk, {
    finish: () => finishingParts(stream),
    isTextAlone: () => stream.isTextAlone,
    model: () => (stream.hasModel ? textOf(parseJsonBytes(stream.head[2] ?? emptyArray)) : undefined),
  })
}

function finishingParts(stream: StreamState): readonly Part[] {
  return [...stream.open]
    .sort((one, other) => one - other)
    .map((index) => {
      if (stream.toolCalls.hasOpenCall(index))
        throw new MalformedAnswer('malformed', 'the arguments of a tool call are incomplete')
      const reason = stream.toolCalls.hasCall(index) ? 'tool_calls' : 'stop'
      const text = `{"choices":[{"index":${index},"delta":{},"finish_reason":"${reason}"}]}`
      return readTop(new JsonCursor(encode(text)), stream)
    })
}

/** State between the chunks of a stream. */
interface StreamState {
  /** The JSON of `id`, `created` and `model`, once the upstream has sent them. */
  readonly head: [Uint8Array | undefined, Uint8Array | undefined, Uint8Array | undefined]
  /** The model of the head is the upstream's. */
  hasModel: boolean
  readonly defaults: ChunkDefaults
  readonly toolCalls: ToolCallNumbers
  /** Choices that have begun and not finished. */
  readonly open: Set<number>
  readonly finished: Set<number>
  /** The last one that a chunk named. */
  serviceTier: string | undefined
  /** The beginning of the last chunk, up to the value of `choices`, if it needs no edits and has no facts. */
  opening: { readonly bytes: Uint8Array; readonly seen: number } | undefined
  /** The choices of a chunk with plain text in the first of them, and no other facts. */
  textChoices: TextChoices | undefined
  /** The last chunk had such choices, without other content, and no usage. */
  isTextAlone: boolean
}

/** The JSON of choices around a text. */
interface TextChoices {
  /** Up to the text, with its opening quote. */
  readonly before: Uint8Array
  /** From the closing quote on. */
  readonly after: Uint8Array
  /** They have log probabilities, or members of the delta that this service does not know. */
  readonly hasMore: boolean
}

/** Facts of one chunk. */
interface ChunkFacts extends AnswerFacts {
  isMeaningful: boolean
  isBeyondText: boolean
  text: string
  /** Offset of the text, if it is the only content so far and has neither escapes nor bytes above 0x7f. */
  textStart: number | undefined
  finishReason: string | undefined
  /** It has log probabilities, or members of a delta that this service does not know. */
  hasMore: boolean
  hasNoChoice: boolean
  /** JSON of a usage that is not at its place. */
  usageElsewhere: Uint8Array | undefined
  /** Facts of the last delta. */
  delta: DeltaFacts
}

/** Facts of a delta for adding its role. */
interface DeltaFacts {
  /** Offset of its first byte. */
  readonly start: number
  /** Offset of its closing brace; of the end of a null. */
  readonly end: number
  readonly isNull: boolean
  readonly hasMembers: boolean
  readonly hasRole: boolean
  /** Its list of calls. */
  readonly calls: CallsPlace | undefined
}

interface CallsPlace {
  /** Offset of its closing bracket. */
  readonly end: number
  readonly isFilled: boolean
}

function newFacts(): ChunkFacts {
  return {
    edits: [],
    isMeaningful: false,
    isBeyondText: false,
    text: '',
    textStart: undefined,
    finishReason: undefined,
    hasMore: false,
    hasNoChoice: false,
    usageElsewhere: undefined,
    hasError: false,
    usage: undefined,
    delta: noDelta,
  }
}

function streamState(defaults: ChunkDefaults): StreamState {
  return {
    head: [undefined, undefined, undefined],
    hasModel: false,
    defaults,
    toolCalls: toolCallNumbers(),
    open: new Set(),
    finished: new Set(),
    serviceTier: undefined,
    opening: undefined,
    textChoices: undefined,
    isTextAlone: false,
  }
}

function readTop(cursor: JsonCursor, stream: StreamState, framed?: Uint8Array): Part {
  if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an event is not a JSON object')
  const facts = newFacts()
  stream.isTextAlone = false
  let seen = resumeAtOpening(cursor, stream, facts)
  for (let more = seen === 0 ? cursor.firstMember() : cursor.nextMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(topTable)
    if (code === choicesCode) keepOpening(cursor, stream, facts, seen)
    seen |= 1 << code
    readMember(cursor, stream, facts, code)
  }
  const end = cursor.position - 1
  cursor.finish()
  if (facts.hasError || (isBare(seen, facts) && errorWithin(cursor.bytes) !== undefined))
    throw new MalformedAnswer('malformed', 'an event is an error')
  if (facts.usage !== undefined || facts.edits.length > 0) stream.isTextAlone = false
  if ((seen & 31) !== 31 || facts.usageElsewhere !== undefined)
    insertMembers(facts.edits, end, missingOfTop(seen, stream, facts), seen !== 0)
  const data = applyEdits(cursor.bytes, facts.edits)
  return {
    kind: 'part',
    data: cursor.hasLineBreaks ? withoutLineBreaks(data) : data,
    framed: data === cursor.bytes && !cursor.hasLineBreaks ? framed : undefined,
    isMeaningful: facts.isMeaningful,
    text: facts.text,
    isBeyondText: facts.isBeyondText,
    finishReason: facts.finishReason,
    hasOpenChoice: stream.open.size > 0,
    usage: withTier(facts.usage, stream.serviceTier),
  }
}

/**
 * Chunks of a stream usually have the same beginning, which needs no second check: passes it and the choices after it,
 * and returns the bits of these members. Returns 0, without moving, for another beginning. Choices that differ from
 * earlier ones in their text only need no second check either.
 */
function resumeAtOpening(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts): number {
  const { opening } = stream
  if (opening === undefined || !isAt(cursor.bytes, 0, opening.bytes)) {
    stream.opening = undefined
    return 0
  }
  const start = opening.bytes.length
  const end = passTextChoices(cursor.bytes, start, stream, facts)
  cursor.resume(end ?? start)
  if (end !== undefined) return opening.seen
  readChoices(cursor, stream, facts)
  keepTextChoices(cursor, start, stream, facts)
  return opening.seen
}

/** Returns the end of choices at `start` that are those of an earlier chunk, but for their text. */
function passTextChoices(bytes: Uint8Array, start: number, stream: StreamState, facts: ChunkFacts): number | undefined {
  const { textChoices } = stream
  if (textChoices === undefined || !isAt(bytes, start, textChoices.before)) return undefined
  const textStart = start + textChoices.before.length
  const textEnd = endOfPlainText(bytes, textStart)
  if (!isAt(bytes, textEnd, textChoices.after)) return undefined
  addText(facts, latin1(bytes, textStart, textEnd))
  stream.isTextAlone = !textChoices.hasMore && textEnd > textStart
  return textEnd + textChoices.after.length
}

/** Keeps the choices that begin at `start`, if they have only a text. */
function keepTextChoices(cursor: JsonCursor, start: number, stream: StreamState, facts: ChunkFacts): void {
  const { textStart, text, edits, usage, isBeyondText, finishReason, hasError } = facts
  if (textStart === undefined || edits.length > 0 || cursor.hasHighBytes || cursor.hasLineBreaks) return
  if (usage !== undefined || isBeyondText || finishReason !== undefined || hasError) return
  stream.textChoices = {
    before: cursor.bytes.slice(start, textStart),
    after: cursor.bytes.slice(textStart + text.length, cursor.position),
    hasMore: facts.hasMore,
  }
}

/** Keeps the beginning of a chunk, up to its choices, if it needs no edits, has no facts and no other choices. */
function keepOpening(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts, seen: number): void {
  if (facts.edits.length > 0 || (seen & 0b1110000) !== 0 || facts.hasError) return
  if (cursor.hasHighBytes || cursor.hasLineBreaks) return
  stream.opening = { bytes: cursor.bytes.slice(0, cursor.position), seen: seen | (1 << choicesCode) }
}

function readMember(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts, code: number): void {
  switch (code) {
    case 0:
      return keepHead(cursor, stream, facts.edits, 0)
    case 1:
      return readObject(cursor, facts)
    case 2:
      return keepHead(cursor, stream, facts.edits, 1)
    case 3:
      return keepHead(cursor, stream, facts.edits, 2)
    case choicesCode:
      return readChoices(cursor, stream, facts)
    case 5:
      return keepUsage(cursor, facts)
    case 6:
      return readError(cursor, facts)
    case 7:
      stream.serviceTier = readServiceTier(cursor)
      return
    case 8:
      return readGroq(cursor, facts)
    default:
      cursor.skip()
  }
}

const groqTable = nameTable(['usage'])

/** Passes Groq's own member, which has the usage of streams. */
function readGroq(cursor: JsonCursor, facts: ChunkFacts): void {
  if (cursor.peek() !== 'object') return void cursor.skip()
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(groqTable) === 0) readUsageElsewhere(cursor, facts)
    else cursor.skip()
  }
}

/** Passes a usage at a place of the provider's own, which the chunk also gets at the usual place. */
function readUsageElsewhere(cursor: JsonCursor, facts: ChunkFacts): void {
  cursor.peek()
  const start = cursor.position
  const edits: Edit[] = []
  const usage = readUsage(cursor, edits)
  if (usage === undefined) return
  facts.usage ??= usage
  const shifted = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }))
  facts.usageElsewhere = applyEdits(cursor.bytes.slice(start, cursor.position), shifted)
}

/** Passes a `usage`; one without counts becomes null. */
function keepUsage(cursor: JsonCursor, facts: ChunkFacts): void {
  if (cursor.skipNull()) return
  cursor.peek()
  const start = cursor.position
  const usage = readUsage(cursor, facts.edits)
  facts.usage = usage ?? facts.usage
  if (usage === undefined) facts.edits.push({ start, end: cursor.position, replacement: nullText })
}

/** Whether a chunk has no choice, so that it may be an error (failover.md row 33). */
function isBare(seen: number, { hasNoChoice }: ChunkFacts): boolean {
  return hasNoChoice || (seen & (1 << choicesCode)) === 0
}

function missingOfTop(seen: number, stream: StreamState, { usageElsewhere }: ChunkFacts): readonly string[] {
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"id":${headText(stream, 0)}`)
  if ((seen & 2) === 0) missing.push('"object":"chat.completion.chunk"')
  if ((seen & 4) === 0) missing.push(`"created":${headText(stream, 1)}`)
  if ((seen & 8) === 0) missing.push(`"model":${headText(stream, 2)}`)
  if ((seen & 16) === 0) missing.push('"choices":[]')
  if ((seen & 32) === 0 && usageElsewhere !== undefined) missing.push(`"usage":${utf8(usageElsewhere)}`)
  return missing
}

/** Keeps the first `id`, `created` or `model`. Empty ones pass until another one comes. */
function keepHead(cursor: JsonCursor, stream: StreamState, edits: Edit[], slot: 0 | 1 | 2): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  const bytes = cursor.bytes
  const kept = stream.head[slot]
  const isRight = slot === 1 ? kind === 'number' && isDigits(bytes, start, end) : kind === 'string'
  if (kept === undefined) {
    if (!isRight && slot === 1) keepCreated(bytes.subarray(start, end), stream)
    if (!isRight) edits.push({ start, end, replacement: encode(headText(stream, slot)) })
    else if (slot === 1 ? !(end === start + 1 && bytes[start] === 0x30) : end - start > 2) {
      stream.head[slot] = bytes.slice(start, end)
      if (slot === 2) stream.hasModel = true
    }
    return
  }
  if (end - start !== kept.length || !isAt(bytes, start, kept)) edits.push({ start, end, replacement: kept })
}

/** Keeps a time that is a string or a number in another spelling. */
function keepCreated(value: Uint8Array, stream: StreamState): void {
  const created = readInteger(new JsonCursor(value), [])
  if (created !== undefined && created > 0) stream.head[1] = encode(String(created))
}

/** Returns the JSON for a missing `id`, `created` or `model`: the kept one, else the default, which is kept. */
function headText(stream: StreamState, slot: 0 | 1 | 2): string {
  const kept = stream.head[slot]
  if (kept !== undefined) return utf8(kept)
  const { id, created, model } = headOf(stream.defaults)
  const text = JSON.stringify(slot === 0 ? id : slot === 1 ? created : model)
  if (text !== '""') stream.head[slot] = encode(text)
  return text
}

function headOf(defaults: ChunkDefaults): ChunkHead {
  return {
    id: defaults.id ?? madeUpId('chatcmpl-'),
    created: defaults.created ?? Math.floor(Date.now() / 1000),
    model: defaults.model ?? '',
  }
}

function readChoices(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts): void {
  const kind = cursor.peek()
  // Of repeated choices the last count.
  stream.isTextAlone = false
  if (kind === 'null') {
    facts.hasNoChoice = true
    const start = cursor.position
    cursor.skip()
    facts.edits.push({ start, end: cursor.position, replacement: emptyArray })
    return
  }
  if (kind !== 'array') throw new MalformedAnswer('malformed', `'choices' of an event is not an array`)
  let position = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', `a choice of an event is not an object`)
    readChoice(cursor, stream, facts, position++)
  }
  facts.hasNoChoice = position === 0
}

function readChoice(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts, position: number): void {
  const { edits } = facts
  let seen = 0
  let index = position
  let isFinished = false
  const textBefore = facts.text
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(choiceTable)
    seen |= 1 << code
    switch (code) {
      case 0:
        index = readIndex(cursor, edits, position)
        break
      case 1:
        readDelta(cursor, stream, facts, index)
        break
      case 2:
        isFinished = readFinishReason(cursor, facts)
        break
      case 3:
        readError(cursor, facts)
        break
      case 4:
        if (cursor.skipNull()) break
        facts.hasMore = true
        readLogprobs(cursor, edits)
        break
      case 5:
        // Moonshot's place.
        readUsageElsewhere(cursor, facts)
        break
      default:
        cursor.skip()
    }
  }
  const isFirst = isNew(stream, index)
  const rest = isFinished ? restOfCalls(stream, index, facts.finishReason) : none
  if ((seen & 2) !== 0) completeDelta(facts, isFirst, rest)
  if ((seen & 7) !== 7)
    insertMembers(edits, cursor.position - 1, missingOfChoice(seen, position, isFirst, rest), seen !== 0)
  if (isFinished) finish(stream, index)
  else if (isFirst) stream.open.add(index)
  if (index === 0) return
  facts.text = textBefore
  facts.isBeyondText = true
}

/** Pieces of calls that the last delta of a choice gets. A call that was cut gets none. */
function restOfCalls({ toolCalls }: StreamState, index: number, reason: string | undefined): readonly string[] {
  return isCutReason(reason) ? none : toolCalls.rest(index)
}

function missingOfChoice(seen: number, position: number, isFirst: boolean, rest: readonly string[]): readonly string[] {
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"index":${position}`)
  if ((seen & 2) === 0) missing.push(`"delta":{${missingOfDelta(isFirst, rest).join(',')}}`)
  if ((seen & 4) === 0) missing.push('"finish_reason":null')
  return missing
}

function finish({ open, finished }: StreamState, index: number): void {
  open.delete(index)
  finished.add(index)
}

/** Passes a `finish_reason` and returns whether the choice is finished. */
function readFinishReason(cursor: JsonCursor, facts: ChunkFacts): boolean {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'string') {
    const reason = finishReasonOf(cursor, facts.edits)
    if (reason !== '') {
      facts.finishReason = reason
      facts.isMeaningful = true
      return true
    }
  } else cursor.skip()
  if (kind !== 'null') facts.edits.push({ start, end: cursor.position, replacement: nullText })
  return false
}

function readDelta(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts, choice: number): void {
  let hasRole = false
  let hasMembers = false
  let calls: CallsPlace | undefined
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'null') {
    cursor.skip()
    facts.delta = { start, end: cursor.position, isNull: true, hasMembers, hasRole, calls: undefined }
    return
  }
  if (kind !== 'object') throw new MalformedAnswer('malformed', `'delta' of an event is not an object`)
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(deltaTable)
    let isKept = true
    if (code === -1) facts.hasMore = cursor.isFilled() || facts.hasMore
    else if (code === 0) readContent(cursor, facts)
    else if (code === 1) {
      isKept = cursor.peek() === 'array'
      if (isKept) calls = readToolCalls(cursor, stream, facts, choice)
      else removeToolCalls(cursor, facts.edits)
    } else if (code === 2) {
      if (readRefusal(cursor, facts.edits)) beyondText(facts)
    } else if (code === 3) isKept = hasRole = readRole(cursor, facts.edits)
    else if (cursor.isFilled()) beyondText(facts)
    if (isKept) hasMembers = true
  }
  facts.delta = { start, end: cursor.position - 1, isNull: false, hasMembers, hasRole, calls }
}

function readToolCalls(cursor: JsonCursor, stream: StreamState, facts: ChunkFacts, choice: number): CallsPlace {
  const isFilled = stream.toolCalls.read(cursor, choice, facts.edits)
  if (isFilled) beyondText(facts)
  return { end: cursor.position - 1, isFilled }
}

/**
 * Adds the role to the first delta of a choice, where clients expect it, and replaces null by an object.
 *
 * @param rest pieces of calls that the last delta of a choice gets
 */
function completeDelta({ edits, delta }: ChunkFacts, isFirst: boolean, rest: readonly string[]): void {
  const { start, end, isNull, hasMembers, hasRole, calls } = delta
  if (calls !== undefined) insertMembers(edits, calls.end, rest, calls.isFilled)
  const missing = missingOfDelta(isFirst && !hasRole, calls === undefined ? rest : none)
  if (isNull) edits.push({ start, end, replacement: encode(`{${missing.join(',')}}`) })
  else insertMembers(edits, end, missing, hasMembers)
}

function missingOfDelta(needsRole: boolean, rest: readonly string[]): readonly string[] {
  if (rest.length === 0) return needsRole ? roleMembers : none
  return [...(needsRole ? roleMembers : none), `"tool_calls":[${rest.join(',')}]`]
}

/** Whether the choice had no chunk before. */
function isNew({ open, finished }: StreamState, choice: number): boolean {
  return !open.has(choice) && !finished.has(choice)
}

/** Passes a role, removes an empty one, and returns whether it has one. */
function readRole(cursor: JsonCursor, edits: Edit[]): boolean {
  const { nameStart } = cursor
  const kind = cursor.peek()
  const start = cursor.position
  const isFilled = cursor.isFilled()
  if (!isFilled) {
    removeMember(cursor, edits, nameStart)
    return false
  }
  if (kind !== 'string' || cursor.stringCode(roleTable, start, cursor.position) === -1) {
    edits.push({ start, end: cursor.position, replacement: assistantText })
  }
  return true
}

function beyondText(facts: ChunkFacts): void {
  facts.isMeaningful = true
  facts.isBeyondText = true
}

function readContent(cursor: JsonCursor, facts: ChunkFacts): void {
  const { edits } = facts
  const isFirst = facts.text === '' && facts.textStart === undefined
  facts.textStart = undefined
  if (cursor.peek() === 'string') {
    const start = cursor.position + 1
    addText(facts, cursor.string())
    if (isFirst && cursor.isPlain) facts.textStart = start
    return
  }
  const { text, reasoning } = readContentParts(cursor, edits, "'content' of an event")
  addText(facts, text)
  if (reasoning !== '') beyondText(facts)
}

function addText(facts: ChunkFacts, text: string): void {
  if (text === '') return
  facts.text = text
  facts.isMeaningful = true
}

/** Returns the error that the event contains; throws `malformed` without one. */
function errorInstead(data: Uint8Array, malformed: MalformedAnswer): AnsweredError {
  const error = errorWithin(data)
  if (error === undefined) throw malformed
  return { kind: 'error', error }
}

const assistantText = encode('"assistant"')
const emptyArray = encode('[]')
const noDelta: DeltaFacts = { start: 0, end: 0, isNull: false, hasMembers: false, hasRole: false, calls: undefined }
const none: readonly string[] = []
const roleMembers: readonly string[] = ['"role":"assistant"']
const nullText = encode('null')
