import {
  insertMembers,
  insertMissing,
  readIndex,
  readInteger,
  readText,
  removeMember,
  replaceValue,
} from '../../bytes/fill.ts'
import { JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { applyEdits, type Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import type { AnsweredError } from '../format.ts'
import { madeUpId } from '../made-up-id.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
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
import type { ChunkDefaults } from './chunk.ts'
import { finishReasonOf, isCutReason } from './finish-reason.ts'
import { readLogprobs } from './logprobs.ts'
import { emptyArguments, emptyText } from './tool-call-fields.ts'
import { readToolCall } from './tool-call.ts'

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

const topTable = nameTable(['id', 'object', 'created', 'model', 'choices', 'usage', 'error', 'service_tier'])
const choiceTable = nameTable(['index', 'logprobs', 'finish_reason', 'message', 'error'])
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
  'reasoning_text',
  'thinking_content',
  'thought',
])
const messageMembers = ['"role":"assistant"', '"content":null', '"refusal":null']
const roleTable = nameTable(['assistant'])
const readObject = objectReader('chat.completion')

/** Facts of an answer. */
interface CompletionFacts extends AnswerFacts {
  model: string | undefined
  serviceTier: string | undefined
  choices: number
  /** The message of the current choice has content. */
  hasContent: boolean
  hasToolCalls: boolean
  /** Of the current choice; empty without one. */
  finishReason: string
  /** Offsets of an empty `finish_reason` of the current choice. */
  emptyReason: { readonly start: number; readonly end: number } | undefined
  /** The first choice has no content, and ended with `stop` or without a reason (failover.md row 27). */
  isEmpty: boolean
  /** No choice so far has content. */
  isBlank: boolean
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
    usage: undefined,
    model: undefined,
    serviceTier: undefined,
    choices: 0,
    hasContent: false,
    hasToolCalls: false,
    finishReason: '',
    emptyReason: undefined,
    isEmpty: false,
    isBlank: true,
  }
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(topTable)
    seen |= 1 << code
    readMember(cursor, facts, defaults, code)
  }
  const end = cursor.position - 1
  cursor.finish()
  if (facts.hasError) throw new MalformedAnswer('malformed', 'the answer is an error')
  if (facts.choices === 0) throw new MalformedAnswer('no_choices', 'the answer has no choices')
  if ((seen & 15) !== 15) insertMembers(edits, end, missingOfTop(seen, defaults), seen !== 0)
  const usage = withTier(facts.usage, facts.serviceTier)
  const { isEmpty, isBlank, model } = facts
  return { kind: 'whole', body: applyEdits(cursor.bytes, edits), usage, isEmpty, isBlank, model }
}

function readMember(cursor: JsonCursor, facts: CompletionFacts, defaults: ChunkDefaults, code: number): void {
  switch (code) {
    case 0:
      if (cursor.peek() === 'string') cursor.skip()
      else replaceValue(cursor, facts.edits, idText(defaults))
      return
    case 1:
      return readObject(cursor, facts)
    case 2:
      return readCreated(cursor, facts.edits, defaults)
    case 3:
      facts.model = readText(cursor, facts.edits, modelText(defaults))
      return
    case 4:
      return readChoices(cursor, facts)
    case 5:
      return keepUsage(cursor, facts)
    case 6:
      return readError(cursor, facts)
    case 7:
      facts.serviceTier = readServiceTier(cursor)
      return
    default:
      cursor.skip()
  }
}

/** Passes a `usage`, and removes one without counts. */
function keepUsage(cursor: JsonCursor, facts: CompletionFacts): void {
  const { nameStart } = cursor
  facts.usage = readUsage(cursor, facts.edits)
  if (facts.usage === undefined) removeMember(cursor, facts.edits, nameStart)
}

function missingOfTop(seen: number, defaults: ChunkDefaults): readonly string[] {
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"id":${idText(defaults)}`)
  if ((seen & 2) === 0) missing.push('"object":"chat.completion"')
  if ((seen & 4) === 0) missing.push(`"created":${createdText(defaults)}`)
  if ((seen & 8) === 0) missing.push(`"model":${modelText(defaults)}`)
  return missing
}

function idText({ id }: ChunkDefaults): string {
  return JSON.stringify(id ?? madeUpId('chatcmpl-'))
}

function createdText({ created }: ChunkDefaults): string {
  return String(created ?? Math.floor(Date.now() / 1000))
}

function modelText({ model }: ChunkDefaults): string {
  return JSON.stringify(model ?? '')
}

function readCreated(cursor: JsonCursor, edits: Edit[], defaults: ChunkDefaults): void {
  cursor.peek()
  const start = cursor.position
  if (readInteger(cursor, edits) !== undefined) return
  edits.push({ start, end: cursor.position, replacement: encode(createdText(defaults)) })
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
  facts.finishReason = ''
  facts.emptyReason = undefined
  const editsBefore = edits.length
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(choiceTable)
    seen |= 1 << code
    switch (code) {
      case 0:
        readIndex(cursor, edits, position)
        break
      case 1:
        if (!cursor.skipNull()) readLogprobs(cursor, edits)
        break
      case 2:
        readFinishReason(cursor, facts)
        break
      case 3:
        readMessage(cursor, facts)
        break
      case 4:
        readError(cursor, facts)
        break
      default:
        cursor.skip()
    }
  }
  if ((seen & 8) === 0 && !facts.hasError) throw new MalformedAnswer('malformed', 'a choice has no message')
  if ((seen & 7) !== 7 || facts.emptyReason !== undefined) completeChoice(facts, seen, position, cursor.position - 1)
  keepCutCalls(facts, editsBefore)
  facts.isBlank &&= !facts.hasContent
  if (position === 0) facts.isEmpty = !facts.hasContent && ['', 'stop'].includes(facts.finishReason)
}

/** Takes back the arguments that a call without any got, where the answer was cut: it is not to be run. */
function keepCutCalls({ edits, hasToolCalls, finishReason }: CompletionFacts, from: number): void {
  if (!hasToolCalls || !isCutReason(finishReason)) return
  const kept = edits
    .slice(from)
    .map((edit) => (edit.replacement === emptyArguments ? { ...edit, replacement: emptyText } : edit))
  edits.splice(from, edits.length, ...kept)
}

function readFinishReason(cursor: JsonCursor, facts: CompletionFacts): void {
  const isText = cursor.peek() === 'string'
  const start = cursor.position
  const reason = isText ? finishReasonOf(cursor, facts.edits) : ''
  if (!isText) cursor.skip()
  else facts.finishReason = reason
  if (reason === '') facts.emptyReason = { start, end: cursor.position }
}

/** Inserts missing members, and a reason for an empty one. */
function completeChoice(facts: CompletionFacts, seen: number, position: number, end: number): void {
  const { edits, emptyReason } = facts
  const reason = facts.hasToolCalls ? '"tool_calls"' : '"stop"'
  if (emptyReason !== undefined) edits.push({ ...emptyReason, replacement: encode(reason) })
  const missing: string[] = []
  if ((seen & 1) === 0) missing.push(`"index":${position}`)
  if ((seen & 2) === 0) missing.push('"logprobs":null')
  if ((seen & 4) === 0) missing.push(`"finish_reason":${reason}`)
  insertMembers(edits, end, missing, seen !== 0)
}

function readMessage(cursor: JsonCursor, facts: CompletionFacts): void {
  const kind = cursor.peek()
  if (kind !== 'object') throw new MalformedAnswer('malformed', `a choice's message is a ${kind}`)
  const { edits } = facts
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(messageTable)
    if (code === 3 && cursor.peek() !== 'array') {
      removeToolCalls(cursor, edits)
      continue
    }
    seen |= 1 << code
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
  if ((seen & 7) !== 7) insertMissing(edits, cursor.position - 1, seen, messageMembers)
}

function readRole(cursor: JsonCursor, edits: Edit[]): void {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  const isRight = kind === 'string' && cursor.stringCode(roleTable, start, cursor.position) === 0
  if (!isRight) edits.push({ start, end: cursor.position, replacement: encode('"assistant"') })
}

function readContent(cursor: JsonCursor, facts: CompletionFacts): void {
  const start = cursor.position
  if (cursor.peek() === 'string') {
    cursor.skip()
    if (cursor.position - start > 2) facts.hasContent = true
    return
  }
  const { text, reasoning } = readContentParts(cursor, facts.edits, "a message's content")
  if (text !== '' || reasoning !== '') facts.hasContent = true
}

function readToolCalls(cursor: JsonCursor, facts: CompletionFacts): void {
  const ids = new Set<string>()
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    facts.hasContent = true
    facts.hasToolCalls = true
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'a tool call is not an object')
    readToolCall(cursor, facts.edits, ids)
  }
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
