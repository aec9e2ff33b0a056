import type { ChunkDefaults } from './chat-chunk.ts'
import { errorWithin } from './error-body.ts'
import type { ErrorBody } from './error-body.ts'
import { flattenParts, insertMembers } from './fill.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from './json-cursor.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { join, splice } from './splice.ts'
import type { Edit } from './splice.ts'
import { encode, utf8 } from './text.ts'
import { readUsage } from './usage.ts'
import type { Usage } from './usage.ts'

/** A complete answer, checked and filled in (docs/api.md). */
export interface Completion {
  readonly kind: 'completion'
  /** The upstream's bytes, with what it left out. */
  readonly body: Uint8Array
  readonly usage: Usage | undefined
  /** The first choice has nothing in it and ended with `stop` or without saying (failover.md row 27). */
  readonly isEmpty: boolean
  /** `finish_reason` of the first choice as the upstream sent it. */
  readonly finishReason: string | undefined
}

/** A 200 whose body is an error (failover.md row 22). */
export interface CompletionError {
  readonly kind: 'error'
  readonly error: ErrorBody
}

/**
 * Reads a complete answer of an OpenAI-compatible upstream: checks it and fills in what it left out, in the upstream's
 * own bytes. Filled: `id`, `object`, `created`, `model`; of a choice `index`, `finish_reason`, `logprobs`,
 * `message.role`, `content`, `refusal`, `tool_calls[].type`. Content in parts becomes text and `reasoning_content`.
 * Everything else is kept, a `finish_reason` of null too.
 *
 * @throws {MalformedAnswer} `empty`, `malformed` or `no_choices` (failover.md rows 23–26)
 */
export function readCompletion(body: Uint8Array, defaults: ChunkDefaults = {}): Completion | CompletionError {
  try {
    return readTop(new JsonCursor(body), defaults)
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      if (isBlank(body)) throw new MalformedAnswer('empty', 'the answer is empty')
      throw new MalformedAnswer('malformed', `the answer is not JSON: ${error.message}`, { cause: error })
    }
    if (!(error instanceof MalformedAnswer)) throw error
    const found = errorWithin(body)
    if (found === undefined) throw wholeIsJson(body) ?? error
    return { kind: 'error', error: found }
  }
}

const topTable = nameTable(['id', 'object', 'created', 'model', 'choices', 'usage', 'error'])
const choiceTable = nameTable(['index', 'message', 'finish_reason', 'logprobs', 'error'])
const messageTable = nameTable([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking',
])
const toolCallTable = nameTable(['type'])
const objectTable = nameTable(['chat.completion', 'error'])

/** What is found out about an answer. */
interface Findings {
  readonly edits: Edit[]
  hasError: boolean
  choices: number
  /** The message being read has something in it. */
  hasContent: boolean
  hasToolCalls: boolean
  /** Of the first choice. */
  isEmpty: boolean
  finishReason: string | undefined
}

function readTop(cursor: JsonCursor, defaults: ChunkDefaults): Completion {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    cursor.finish()
    throw new MalformedAnswer('malformed', 'the answer is not a JSON object')
  }
  const edits: Edit[] = []
  const findings: Findings = {
    edits,
    hasError: false,
    choices: 0,
    hasContent: false,
    hasToolCalls: false,
    isEmpty: false,
    finishReason: undefined,
  }
  let usage: Usage | undefined
  let seen = 0
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    hasMembers = true
    const code = cursor.nameCode(topTable)
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
      case 3:
        fill(cursor, edits, 'string', () => defaultText(defaults, code))
        break
      case 1:
        readObject(cursor, findings)
        break
      case 2:
        fill(cursor, edits, 'number', () => defaultText(defaults, code))
        break
      case 4:
        readChoices(cursor, findings)
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
  if (findings.hasError) throw new MalformedAnswer('malformed', 'the answer is an error')
  if (findings.choices === 0) throw new MalformedAnswer('no_choices', 'the answer has no choices')
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"id":${defaultText(defaults, 0)}`)
  if ((seen & 2) === 0) missing.push('"object":"chat.completion"')
  if ((seen & 4) === 0) missing.push(`"created":${defaultText(defaults, 2)}`)
  if ((seen & 8) === 0) missing.push(`"model":${defaultText(defaults, 3)}`)
  insertMembers(edits, end, missing, hasMembers)
  if (edits.length > 1) edits.sort((one, other) => one.start - other.start)
  const body = edits.length === 0 ? cursor.bytes : join(splice(cursor.bytes, edits))
  return { kind: 'completion', body, usage, isEmpty: findings.isEmpty, finishReason: findings.finishReason }
}

function defaultText(defaults: ChunkDefaults, code: 0 | 2 | 3): string {
  if (code === 0) return JSON.stringify(defaults.id ?? `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`)
  if (code === 2) return String(defaults.created ?? Math.floor(Date.now() / 1000))
  return JSON.stringify(defaults.model ?? '')
}

/** Passes a value; replaces it when it is of another kind. */
function fill(cursor: JsonCursor, edits: Edit[], kind: 'string' | 'number', replacement: () => string): void {
  const found = cursor.peek()
  const start = cursor.position
  cursor.skip()
  if (found !== kind) edits.push({ start, end: cursor.position, replacement: encode(replacement()) })
}

function readObject(cursor: JsonCursor, findings: Findings): void {
  const start = cursor.position
  const kind = cursor.peek()
  cursor.skip()
  const code = kind === 'string' ? cursor.stringCode(objectTable, start, cursor.position) : -1
  if (code === 1) findings.hasError = true
  else if (code === -1) findings.edits.push({ start, end: cursor.position, replacement: encode('"chat.completion"') })
}

function readChoices(cursor: JsonCursor, findings: Findings): void {
  findings.choices = 0
  if (cursor.peek() !== 'array') {
    cursor.skip()
    return
  }
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const kind = cursor.peek()
    if (kind !== 'object') {
      if (findings.choices === 0) throw new MalformedAnswer('no_choices', `the first choice is a ${kind}`)
      throw new MalformedAnswer('malformed', `a choice is a ${kind}`)
    }
    readChoice(cursor, findings, findings.choices++)
  }
}

function readChoice(cursor: JsonCursor, findings: Findings, position: number): void {
  const { edits } = findings
  findings.hasContent = false
  findings.hasToolCalls = false
  let seen = 0
  let finishReason: string | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(choiceTable)
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
        fill(cursor, edits, 'number', () => String(position))
        break
      case 1:
        readMessage(cursor, findings)
        break
      case 2:
        if (cursor.peek() === 'string') finishReason = cursor.string()
        else cursor.skip()
        break
      case 4:
        if (cursor.isFilled()) findings.hasError = true
        break
      default:
        cursor.skip()
    }
  }
  if ((seen & 2) === 0 && !findings.hasError) throw new MalformedAnswer('malformed', 'a choice has no message')
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"index":${position}`)
  if ((seen & 8) === 0) missing.push('"logprobs":null')
  if ((seen & 4) === 0) missing.push(`"finish_reason":"${findings.hasToolCalls ? 'tool_calls' : 'stop'}"`)
  insertMembers(edits, cursor.position - 1, missing, seen !== 0)
  if (position > 0) return
  findings.finishReason = finishReason === '' ? undefined : finishReason
  findings.isEmpty = !findings.hasContent && (findings.finishReason === undefined || finishReason === 'stop')
}

function readMessage(cursor: JsonCursor, findings: Findings): void {
  const kind = cursor.peek()
  if (kind !== 'object') throw new MalformedAnswer('malformed', `a choice's message is a ${kind}`)
  let seen = 0
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    hasMembers = true
    const code = cursor.nameCode(messageTable)
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
        fill(cursor, findings.edits, 'string', () => '"assistant"')
        break
      case 1:
        readContent(cursor, findings)
        break
      case 3:
        readToolCalls(cursor, findings)
        break
      case -1:
        cursor.skip()
        break
      default:
        if (cursor.isFilled()) findings.hasContent = true
    }
  }
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push('"role":"assistant"')
  if ((seen & 2) === 0) missing.push('"content":null')
  if ((seen & 4) === 0) missing.push('"refusal":null')
  insertMembers(findings.edits, cursor.position - 1, missing, hasMembers)
}

function readContent(cursor: JsonCursor, findings: Findings): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  if (kind === 'null') return
  if (kind === 'string') {
    if (end - start > 2) findings.hasContent = true
    return
  }
  const parts: unknown = kind === 'array' ? JSON.parse(utf8(cursor.bytes, start, end)) : undefined
  if (!Array.isArray(parts)) throw new MalformedAnswer('malformed', `a message's content is a ${kind}`)
  const { text, reasoning } = flattenParts(parts)
  const added = reasoning === '' ? '' : `,"reasoning_content":${JSON.stringify(reasoning)}`
  findings.edits.push({ start, end, replacement: encode(JSON.stringify(text) + added) })
  if (text !== '' || reasoning !== '') findings.hasContent = true
}

function readToolCalls(cursor: JsonCursor, findings: Findings): void {
  if (cursor.peek() !== 'array') {
    cursor.skip()
    return
  }
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    findings.hasContent = true
    findings.hasToolCalls = true
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'a tool call is not an object')
    let isTyped = false
    let hasMembers = false
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      hasMembers = true
      if (cursor.nameCode(toolCallTable) === -1) cursor.skip()
      else {
        fill(cursor, findings.edits, 'string', () => '"function"')
        isTyped = true
      }
    }
    if (!isTyped) insertMembers(findings.edits, cursor.position - 1, ['"type":"function"'], hasMembers)
  }
}

/** What is wrong with a value is only worth saying of a body that is JSON to its end. */
function wholeIsJson(body: Uint8Array): MalformedAnswer | undefined {
  const cursor = new JsonCursor(body)
  try {
    cursor.skip()
    cursor.finish()
    return undefined
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return new MalformedAnswer('malformed', `the answer is not JSON: ${error.message}`, { cause: error })
  }
}

function isBlank(body: Uint8Array): boolean {
  return body.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))
}
