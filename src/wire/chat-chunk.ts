import { errorWithin } from './error-body.ts'
import type { ErrorBody } from './error-body.ts'
import { flattenParts, insertMembers } from './fill.ts'
import { isAt, JsonCursor, JsonSyntaxError, nameTable } from './json-cursor.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { join, splice } from './splice.ts'
import type { Edit } from './splice.ts'
import { encode, utf8 } from './text.ts'
import { toolCallNumbers } from './tool-call-numbers.ts'
import type { ToolCallNumbers } from './tool-call-numbers.ts'
import { readUsage } from './usage.ts'
import type { Usage } from './usage.ts'

/** One chunk of a stream: JSON as the client will get it, and what the gateway needs to know of it. */
export interface ChatChunk {
  readonly kind: 'chunk'
  /** The JSON text, without framing; no line break in it. Empty: for the record only, the client is sent nothing. */
  readonly data: Uint8Array
  /**
   * Carries content, a tool call, reasoning, a refusal, audio or a finish_reason in any choice: the stream commits
   * here.
   */
  readonly isMeaningful: boolean
  /** `delta.content` of choice 0; empty when there is none. */
  readonly text: string
  /**
   * Carries something that a resumed stream could not repeat: a tool call, reasoning, a refusal, audio, a second
   * choice.
   */
  readonly isBeyondText: boolean
  /** `finish_reason` of choice 0 (of the last choice that has one), when it is set. */
  readonly finishReason: string | undefined
  /** A choice that has begun, in this chunk or before, has not finished. */
  readonly hasOpenChoice: boolean
  readonly usage: Usage | undefined
}

/** An event that is an error (failover.md row 33). */
export interface ErrorChunk {
  readonly kind: 'error'
  readonly error: ErrorBody
}

/** What all chunks of one stream have in common. */
export interface ChunkHead {
  readonly id: string
  /** Unix time in seconds. */
  readonly created: number
  readonly model: string
}

/** What a stream is given where the upstream says nothing. */
export interface ChunkDefaults {
  /** Default: empty. */
  readonly model?: string
  /** Unix time in seconds. Default: now. */
  readonly created?: number
  /** Default: random, beginning with `chatcmpl-`. */
  readonly id?: string
}

const topNames = ['id', 'object', 'created', 'model', 'choices', 'usage', 'error'] as const
const topTable = nameTable(topNames)
const choiceNames = ['index', 'delta', 'finish_reason', 'error'] as const
const choiceTable = nameTable(choiceNames)
const deltaNames = [
  'content',
  'tool_calls',
  'refusal',
  'audio',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking',
] as const
const deltaTable = nameTable(deltaNames)
const objectTable = nameTable(['chat.completion.chunk', 'error'])

/**
 * Reads the events of one stream of an OpenAI-compatible upstream: checks each and fills in what was left out, in the
 * upstream's own bytes. Made anew for each stream. Known members that are missing or of no use are filled (`object`,
 * `choices`, `index`, `delta`, `finish_reason`, `tool_calls[].index` and `type`), `id`, `created` and `model` stay as
 * they first were (failover.md row 39), content in parts becomes text, everything else is kept.
 *
 * The function throws MalformedAnswer for what is no chunk (failover.md row 34).
 */
export function chunkReader(defaults: ChunkDefaults = {}): (data: Uint8Array) => ChatChunk | ErrorChunk {
  const stream = streamState(defaults)
  return function readChunk(data) {
    try {
      return readTop(new JsonCursor(data), stream)
    } catch (error) {
      if (error instanceof MalformedAnswer) return errorInstead(data, error)
      if (error instanceof JsonSyntaxError)
        throw new MalformedAnswer('malformed', `an event is not JSON: ${error.message}`, { cause: error })
      throw error
    }
  }
}

/** What is remembered from chunk to chunk. */
interface StreamState {
  /** The JSON of `id`, `created` and `model`, once an upstream has said them. */
  readonly head: [Uint8Array | undefined, Uint8Array | undefined, Uint8Array | undefined]
  readonly defaults: ChunkDefaults
  readonly toolCalls: ToolCallNumbers
  /** Choices that have begun and not finished, and those that have. */
  readonly open: Set<number>
  readonly finished: Set<number>
  /** What the last chunk began with, up to the value of `choices`, when there was nothing to be changed in it. */
  opening: { readonly bytes: Uint8Array; readonly seen: number } | undefined
}

/** What is found out about one chunk. */
interface Findings {
  readonly edits: Edit[]
  isMeaningful: boolean
  isBeyondText: boolean
  text: string
  finishReason: string | undefined
  hasError: boolean
}

/**
 * Whether all before the value of `choices` may be taken as read when the next chunk begins with it too: it holds no
 * facts, nor other choices.
 */
function isPlainOpening(cursor: JsonCursor, seen: number, findings: Findings): boolean {
  return (seen & 0b1110000) === 0 && !findings.hasError && !cursor.hasHighBytes && !cursor.hasLineBreaks
}

function streamState(defaults: ChunkDefaults): StreamState {
  return {
    head: [undefined, undefined, undefined],
    defaults,
    toolCalls: toolCallNumbers(),
    open: new Set(),
    finished: new Set(),
    opening: undefined,
  }
}

function readTop(cursor: JsonCursor, stream: StreamState): ChatChunk | ErrorChunk {
  if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'an event is not a JSON object')
  const findings: Findings = {
    edits: [],
    isMeaningful: false,
    isBeyondText: false,
    text: '',
    finishReason: undefined,
    hasError: false,
  }
  const { edits } = findings
  let usage: Usage | undefined
  let seen = 0
  let hasMembers = false
  let more: boolean
  const { opening } = stream
  if (opening !== undefined && isAt(cursor.bytes, 0, opening.bytes)) {
    // Chunks of a stream mostly begin alike: what was found right once need not be walked again.
    cursor.resume(opening.bytes.length)
    readChoices(cursor, stream, findings)
    seen = opening.seen
    hasMembers = true
    more = cursor.nextMember()
  } else {
    stream.opening = undefined
    more = cursor.firstMember()
  }
  for (; more; more = cursor.nextMember()) {
    const code = cursor.nameCode(topTable)
    hasMembers = true
    if (code === 4 && edits.length === 0 && isPlainOpening(cursor, seen, findings)) {
      stream.opening = { bytes: cursor.bytes.slice(0, cursor.position), seen: seen | 16 }
    }
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
        keepHead(cursor, stream, edits, 0)
        break
      case 1:
        keepObject(cursor, findings)
        break
      case 2:
        keepHead(cursor, stream, edits, 1)
        break
      case 3:
        keepHead(cursor, stream, edits, 2)
        break
      case 4:
        readChoices(cursor, stream, findings)
        break
      case 5:
        usage = readUsage(cursor)
        break
      case 6:
        if (cursor.isFilled()) findings.hasError = true
        break
      default:
        cursor.skip()
    }
  }
  const end = cursor.position - 1
  cursor.finish()
  if (findings.hasError) throw new MalformedAnswer('malformed', 'an event is an error')
  if ((seen & 31) !== 31) {
    const missing: string[] = []
    if ((seen & 1) === 0) missing.push(`"id":${headText(stream, 0)}`)
    if ((seen & 2) === 0) missing.push('"object":"chat.completion.chunk"')
    if ((seen & 4) === 0) missing.push(`"created":${headText(stream, 1)}`)
    if ((seen & 8) === 0) missing.push(`"model":${headText(stream, 2)}`)
    if ((seen & 16) === 0) missing.push('"choices":[]')
    insertMembers(edits, end, missing, hasMembers)
  }
  if (edits.length > 1) edits.sort((one, other) => one.start - other.start)
  const data = edits.length === 0 ? cursor.bytes : join(splice(cursor.bytes, edits))
  return {
    kind: 'chunk',
    data: cursor.hasLineBreaks ? withoutLineBreaks(data) : data,
    isMeaningful: findings.isMeaningful,
    text: findings.text,
    isBeyondText: findings.isBeyondText,
    finishReason: findings.finishReason,
    hasOpenChoice: stream.open.size > 0,
    usage,
  }
}

/** Keeps `id`, `created` or `model` as it first was. An empty one is let through until one that is not has come. */
function keepHead(cursor: JsonCursor, stream: StreamState, edits: Edit[], slot: 0 | 1 | 2): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  const bytes = cursor.bytes
  const kept = stream.head[slot]
  const isRight = slot === 1 ? kind === 'number' && isInteger(bytes, start, end) : kind === 'string'
  if (kept === undefined) {
    if (!isRight) edits.push({ start, end, replacement: encode(headText(stream, slot)) })
    else if (slot === 1 ? !(end === start + 1 && bytes[start] === 0x30) : end - start > 2)
      stream.head[slot] = bytes.slice(start, end)
    return
  }
  if (end - start !== kept.length || !isAt(bytes, start, kept)) edits.push({ start, end, replacement: kept })
}

/** The JSON for a missing `id`, `created` or `model`; made up and kept when the upstream has not said it yet. */
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
    id: defaults.id ?? `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`,
    created: defaults.created ?? Math.floor(Date.now() / 1000),
    model: defaults.model ?? '',
  }
}

function keepObject(cursor: JsonCursor, findings: Findings): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  const code = kind === 'string' ? cursor.stringCode(objectTable, start, end) : -1
  if (code === 1) findings.hasError = true
  else if (code !== 0) findings.edits.push({ start, end, replacement: chunkObject })
}

function readChoices(cursor: JsonCursor, stream: StreamState, findings: Findings): void {
  const kind = cursor.peek()
  if (kind === 'null') {
    const start = cursor.position
    cursor.skip()
    findings.edits.push({ start, end: cursor.position, replacement: emptyArray })
    return
  }
  if (kind !== 'array') throw new MalformedAnswer('malformed', `'choices' of an event is not an array`)
  let position = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', `a choice of an event is not an object`)
    readChoice(cursor, stream, findings, position++)
  }
}

function readChoice(cursor: JsonCursor, stream: StreamState, findings: Findings, position: number): void {
  const { edits } = findings
  let seen = 0
  let hasMembers = false
  let index = position
  let isFinished = false
  const textBefore = findings.text
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(choiceTable)
    hasMembers = true
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
        index = readIndex(cursor, edits, position)
        break
      case 1:
        readDelta(cursor, stream, findings, index)
        break
      case 2:
        isFinished = readFinishReason(cursor, findings)
        break
      case 3:
        if (cursor.isFilled()) findings.hasError = true
        break
      default:
        cursor.skip()
    }
  }
  if ((seen & 7) !== 7) {
    const missing: string[] = []
    if ((seen & 1) === 0) missing.push(`"index":${position}`)
    if ((seen & 2) === 0) missing.push('"delta":{}')
    if ((seen & 4) === 0) missing.push('"finish_reason":null')
    insertMembers(edits, cursor.position - 1, missing, hasMembers)
  }
  if (isFinished) finish(stream, index)
  else if (!stream.open.has(index) && !stream.finished.has(index)) stream.open.add(index)
  if (index === 0) return
  findings.text = textBefore
  findings.isBeyondText = true
}

function finish({ open, finished }: StreamState, index: number): void {
  open.delete(index)
  finished.add(index)
}

/** An index; replaced by `fallback` when it is not one. */
function readIndex(cursor: JsonCursor, edits: Edit[], fallback: number): number {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'number') {
    const index = cursor.number()
    if (Number.isSafeInteger(index) && index >= 0) return index
  } else cursor.skip()
  edits.push({ start, end: cursor.position, replacement: encode(String(fallback)) })
  return fallback
}

/** Whether there is one. */
function readFinishReason(cursor: JsonCursor, findings: Findings): boolean {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'string') {
    const reason = cursor.string()
    if (reason !== '') {
      findings.finishReason = reason
      findings.isMeaningful = true
      return true
    }
  } else cursor.skip()
  if (kind !== 'null') findings.edits.push({ start, end: cursor.position, replacement: nullText })
  return false
}

function readDelta(cursor: JsonCursor, stream: StreamState, findings: Findings, choice: number): void {
  const kind = cursor.peek()
  if (kind === 'null') {
    const start = cursor.position
    cursor.skip()
    findings.edits.push({ start, end: cursor.position, replacement: emptyObject })
    return
  }
  if (kind !== 'object') throw new MalformedAnswer('malformed', `'delta' of an event is not an object`)
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(deltaTable)
    if (code === -1) cursor.skip()
    else if (code === 0) readContent(cursor, findings)
    else if (code === 1) {
      if (stream.toolCalls.read(cursor, choice, findings.edits)) beyondText(findings)
    } else if (cursor.isFilled()) beyondText(findings)
  }
}

function beyondText(findings: Findings): void {
  findings.isMeaningful = true
  findings.isBeyondText = true
}

function readContent(cursor: JsonCursor, findings: Findings): void {
  const kind = cursor.peek()
  if (kind === 'string') {
    const text = cursor.string()
    if (text === '') return
    findings.text = text
    findings.isMeaningful = true
    return
  }
  const start = cursor.position
  cursor.skip()
  if (kind === 'null') return
  const parts: unknown = kind === 'array' ? JSON.parse(utf8(cursor.bytes, start, cursor.position)) : undefined
  if (!Array.isArray(parts)) throw new MalformedAnswer('malformed', `'content' of an event is a ${kind}`)
  const { text, reasoning } = flattenParts(parts)
  const added = reasoning === '' ? '' : `,"reasoning_content":${JSON.stringify(reasoning)}`
  findings.edits.push({ start, end: cursor.position, replacement: encode(JSON.stringify(text) + added) })
  if (text !== '') {
    findings.text = text
    findings.isMeaningful = true
  }
  if (reasoning !== '') beyondText(findings)
}

/** The error that the event speaks of, if it does; otherwise throws `malformed`. */
function errorInstead(data: Uint8Array, malformed: MalformedAnswer): ErrorChunk {
  const error = errorWithin(data)
  if (error === undefined) throw malformed
  return { kind: 'error', error }
}

/** Raw line breaks in JSON only stand between tokens. */
function withoutLineBreaks(data: Uint8Array): Uint8Array {
  return data.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte))
}

function isInteger(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x30 || byte > 0x39) return false
  }
  return true
}

const chunkObject = encode('"chat.completion.chunk"')
const emptyArray = encode('[]')
const emptyObject = encode('{}')
const nullText = encode('null')
