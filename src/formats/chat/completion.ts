import { flattenParts, insertMembers, readIndex, readInteger, removeMember, replaceValue } from '../../bytes/fill.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { join, splice, type Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { errorWithin } from '../error-body.ts'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { readUsage, type Usage } from '../usage.ts'
import type { ChunkDefaults } from './chunk.ts'
import { finishReasonOf } from './finish-reason.ts'
import { readLogprobs } from './logprobs.ts'
import { readRefusal, removeToolCalls } from './message-fields.ts'
import { madeUpId, readFunction, readId } from './tool-call-fields.ts'

/**
 * Checks a complete answer of an OpenAI-compatible upstream, and repairs it in the upstream's own bytes: fills in
 * missing members and fixes those of a wrong type (docs/api.md). Content in parts becomes text and `reasoning_content`.
 * Unknown members are kept.
 *
 * @throws {MalformedAnswer} `empty`, `malformed` or `no_choices` (failover.md rows 23–26)
 */
export function readCompletion(body: Uint8Array, defaults: ChunkDefaults = {}): WholeReply | AnsweredError {
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
const toolCallTable = nameTable(['id', 'type', 'function', 'custom'])
const typeTable = nameTable(['function', 'custom'])
const roleTable = nameTable(['assistant'])
const objectTable = nameTable(['chat.completion', 'error'])

/** Facts of an answer. */
interface CompletionFacts {
  readonly edits: Edit[]
  hasError: boolean
  choices: number
  /** The message of the current choice has content. */
  hasContent: boolean
  hasToolCalls: boolean
  /** The first choice has no content, and ended with `stop` or without a reason (failover.md row 27). */
  isEmpty: boolean
}

function readTop(cursor: JsonCursor, defaults: ChunkDefaults): WholeReply {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    cursor.finish()
    throw new MalformedAnswer('malformed', 'the answer is not a JSON object')
  }
  const edits: Edit[] = []
  const facts: CompletionFacts = {
    edits,
    hasError: false,
    choices: 0,
    hasContent: false,
    hasToolCalls: false,
    isEmpty: false,
  }
  let usage: Usage | undefined
  let seen = 0
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    hasMembers = true
    const code = cursor.nameCode(topTable)
    const { nameStart } = cursor
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
      case 3:
        if (cursor.peek() === 'string') cursor.skip()
        else replaceValue(cursor, edits, defaultText(defaults, code))
        break
      case 1:
        readObject(cursor, facts)
        break
      case 2:
        readCreated(cursor, edits, defaults)
        break
      case 4:
        readChoices(cursor, facts)
        break
      case 5:
        usage = readUsage(cursor, edits)
        if (usage === undefined) removeMember(cursor, edits, nameStart)
        break
      case 6:
        if (cursor.isFilled()) facts.hasError = true
        break
      default:
        cursor.skip()
    }
  }
  const end = cursor.position - 1
  cursor.finish()
  if (facts.hasError) throw new MalformedAnswer('malformed', 'the answer is an error')
  if (facts.choices === 0) throw new MalformedAnswer('no_choices', 'the answer has no choices')
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"id":${defaultText(defaults, 0)}`)
  if ((seen & 2) === 0) missing.push('"object":"chat.completion"')
  if ((seen & 4) === 0) missing.push(`"created":${defaultText(defaults, 2)}`)
  if ((seen & 8) === 0) missing.push(`"model":${defaultText(defaults, 3)}`)
  insertMembers(edits, end, missing, hasMembers)
  if (edits.length > 1) edits.sort((one, other) => one.start - other.start)
  const body = edits.length === 0 ? cursor.bytes : join(splice(cursor.bytes, edits))
  return { kind: 'whole', body, usage, isEmpty: facts.isEmpty }
}

function defaultText(defaults: ChunkDefaults, code: 0 | 2 | 3): string {
  if (code === 0) return JSON.stringify(defaults.id ?? `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`)
  if (code === 2) return String(defaults.created ?? Math.floor(Date.now() / 1000))
  return JSON.stringify(defaults.model ?? '')
}

function readCreated(cursor: JsonCursor, edits: Edit[], defaults: ChunkDefaults): void {
  cursor.peek()
  const start = cursor.position
  if (readInteger(cursor, edits) !== undefined) return
  edits.push({ start, end: cursor.position, replacement: encode(defaultText(defaults, 2)) })
}

function readObject(cursor: JsonCursor, facts: CompletionFacts): void {
  const start = cursor.position
  const kind = cursor.peek()
  cursor.skip()
  const code = kind === 'string' ? cursor.stringCode(objectTable, start, cursor.position) : -1
  if (code === 1) facts.hasError = true
  else if (code === -1) facts.edits.push({ start, end: cursor.position, replacement: encode('"chat.completion"') })
}

function readChoices(cursor: JsonCursor, facts: CompletionFacts): void {
  facts.choices = 0
  if (cursor.peek() !== 'array') {
    cursor.skip()
    return
  }
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const kind = cursor.peek()
    if (kind !== 'object') {
      if (facts.choices === 0) throw new MalformedAnswer('no_choices', `the first choice is a ${kind}`)
      throw new MalformedAnswer('malformed', `a choice is a ${kind}`)
    }
    readChoice(cursor, facts, facts.choices++)
  }
}

function readChoice(cursor: JsonCursor, facts: CompletionFacts, position: number): void {
  const { edits } = facts
  facts.hasContent = false
  facts.hasToolCalls = false
  let seen = 0
  let finishReason = ''
  /** Offsets of an empty `finish_reason`. */
  let nothing: { readonly start: number; readonly end: number } | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(choiceTable)
    if (code !== -1) seen |= 1 << code
    switch (code) {
      case 0:
        readIndex(cursor, edits, position)
        break
      case 1:
        readMessage(cursor, facts)
        break
      case 2: {
        const isText = cursor.peek() === 'string'
        const start = cursor.position
        if (isText) finishReason = finishReasonOf(cursor, edits)
        else cursor.skip()
        if (!isText || finishReason === '') nothing = { start, end: cursor.position }
        break
      }
      case 3:
        if (!cursor.skipNull()) readLogprobs(cursor, edits)
        break
      case 4:
        if (cursor.isFilled()) facts.hasError = true
        break
      default:
        cursor.skip()
    }
  }
  if ((seen & 2) === 0 && !facts.hasError) throw new MalformedAnswer('malformed', 'a choice has no message')
  if ((seen & 15) !== 15 || nothing !== undefined) {
    const missing: string[] = []
    const reason = facts.hasToolCalls ? '"tool_calls"' : '"stop"'
    if ((seen & 1) === 0) missing.push(`"index":${position}`)
    if ((seen & 8) === 0) missing.push('"logprobs":null')
    if ((seen & 4) === 0) missing.push(`"finish_reason":${reason}`)
    if (nothing !== undefined) edits.push({ ...nothing, replacement: encode(reason) })
    insertMembers(edits, cursor.position - 1, missing, seen !== 0)
  }
  if (position > 0) return
  facts.isEmpty = !facts.hasContent && ['', 'stop'].includes(finishReason)
}

function readMessage(cursor: JsonCursor, facts: CompletionFacts): void {
  const kind = cursor.peek()
  if (kind !== 'object') throw new MalformedAnswer('malformed', `a choice's message is a ${kind}`)
  const { edits } = facts
  let seen = 0
  let hasMembers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(messageTable)
    if (code !== -1) seen |= 1 << code
    if (code === 3 && cursor.peek() !== 'array') {
      removeToolCalls(cursor, edits)
      continue
    }
    hasMembers = true
    switch (code) {
      case 0:
        readRole(cursor, edits)
        break
      case 1:
        readContent(cursor, facts)
        break
      case 2:
        if (readRefusal(cursor, edits)) facts.hasContent = true
        break
      case 3:
        readToolCalls(cursor, facts)
        break
      case -1:
        cursor.skip()
        break
      default:
        if (cursor.isFilled()) facts.hasContent = true
    }
  }
  if ((seen & 7) === 7) return
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push('"role":"assistant"')
  if ((seen & 2) === 0) missing.push('"content":null')
  if ((seen & 4) === 0) missing.push('"refusal":null')
  insertMembers(edits, cursor.position - 1, missing, hasMembers)
}

function readRole(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const isRight = kind === 'string' && cursor.stringCode(roleTable, start, cursor.position) === 0
  if (!isRight) edits.push({ start, end: cursor.position, replacement: encode('"assistant"') })
}

function readContent(cursor: JsonCursor, facts: CompletionFacts): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const end = cursor.position
  if (kind === 'null') return
  if (kind === 'string') {
    if (end - start > 2) facts.hasContent = true
    return
  }
  const parts: unknown = kind === 'array' ? JSON.parse(utf8(cursor.bytes, start, end)) : undefined
  if (!Array.isArray(parts)) throw new MalformedAnswer('malformed', `a message's content is a ${kind}`)
  const { text, reasoning } = flattenParts(parts)
  const added = reasoning === '' ? '' : `,"reasoning_content":${JSON.stringify(reasoning)}`
  facts.edits.push({ start, end, replacement: encode(JSON.stringify(text) + added) })
  if (text !== '' || reasoning !== '') facts.hasContent = true
}

function readToolCalls(cursor: JsonCursor, facts: CompletionFacts): void {
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    facts.hasContent = true
    facts.hasToolCalls = true
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'a tool call is not an object')
    readToolCall(cursor, facts.edits)
  }
}

function readToolCall(cursor: JsonCursor, edits: Edit[]): void {
  let seen = 0
  /** The type's code. */
  let type = -1
  let typeAt: { readonly start: number; readonly end: number } | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(toolCallTable)
    const kind = cursor.peek()
    const start = cursor.position
    if (code === 0) {
      const id = readId(cursor, edits) ?? ''
      if (id === '') edits.push({ start, end: cursor.position, replacement: encode(`"${madeUpId()}"`) })
    } else if (code === 2 && kind !== 'null') readFunction(cursor, edits, true)
    else cursor.skip()
    if (code === 1) {
      typeAt = { start, end: cursor.position }
      type = kind === 'string' ? cursor.stringCode(typeTable, start, cursor.position) : -1
    }
    if (code !== -1 && kind !== 'null') seen |= 1 << code
    else if (code === 0) seen |= 1
  }
  if ((seen & 12) === 0) throw new MalformedAnswer('malformed', 'a tool call has no function')
  // The type follows from the member that describes the call.
  const isCustom = (seen & 4) === 0
  const name = isCustom ? '"custom"' : '"function"'
  if (typeAt !== undefined && type !== (isCustom ? 1 : 0)) edits.push({ ...typeAt, replacement: encode(name) })
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"id":"${madeUpId()}"`)
  if (typeAt === undefined) missing.push(`"type":${name}`)
  insertMembers(edits, cursor.position - 1, missing, true)
}

/** Returns the error for a body that is not JSON to its end: only valid JSON gets a more specific one. */
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
