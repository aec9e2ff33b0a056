import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { CheckedNames, memberName, SeenNames } from '../checked-names.ts'
import { checkChoice, checkNumber, readBoolean, readModel, type NumberRule } from '../fields.ts'
import { wrongType } from '../request-fault.ts'
import { checkMessages, type MessageFacts } from './request-messages.ts'

/** Facts of a request, as far as its members were read. */
export interface RequestFacts extends MessageFacts {
  model: string | undefined
  stream: boolean
  includeUsage: boolean
  hasCustomTools: boolean
}

/** Reads and checks the value at `start`. */
type ReadValue = (cursor: JsonCursor, name: string, start: number, facts: RequestFacts) => void

/**
 * A checked member (docs/api.md). A string of the kind `text` may be long: it is passed at the pace of the walk before
 * `read` is called.
 */
type RequestField =
  | { readonly kind: 'value' | 'text'; readonly read: ReadValue }
  | { readonly kind: 'walk'; readonly read: (cursor: JsonCursor, pace: Pace, facts: RequestFacts) => Walk<void> }

const anyInteger = number({ kind: 'integer', min: -Infinity, max: Infinity })
const efforts = ['low', 'medium', 'high', 'none', 'minimal', 'default', 'xhigh', 'max']
const boolean: RequestField = { kind: 'value', read: (cursor, name) => void readBoolean(cursor, name) }

/** Checked members by name. Token counts have no range: some upstreams take -1 for no limit. */
const fieldsByName: Readonly<Record<string, RequestField>> = {
  model: {
    kind: 'text',
    read(cursor, _name, start, facts) {
      facts.model = readModel(cursor, start, facts.model)
    },
  },
  messages: { kind: 'walk', read: checkMessages },
  temperature: number({ kind: 'number', min: 0, max: 2 }),
  max_tokens: anyInteger,
  max_completion_tokens: anyInteger,
  top_p: number({ kind: 'number', min: 0, max: 1 }),
  frequency_penalty: number({ kind: 'number', min: -2, max: 2 }),
  presence_penalty: number({ kind: 'number', min: -2, max: 2 }),
  stop: { kind: 'walk', read: checkStop },
  seed: anyInteger,
  stream: {
    kind: 'value',
    read(cursor, name, _start, facts) {
      facts.stream = readBoolean(cursor, name)
    },
  },
  stream_options: { kind: 'walk', read: readStreamOptions },
  logprobs: boolean,
  top_logprobs: number({ kind: 'integer', min: 0, max: 20 }),
  reasoning_effort: {
    kind: 'text',
    read(cursor, name, start) {
      // Fireworks takes booleans and numbers of tokens, too.
      const isOther = cursor.position === start && ['boolean', 'number'].includes(cursor.peek())
      if (isOther) cursor.skip()
      else checkChoice(cursor, start, name, efforts)
    },
  },
  enable_thinking: boolean,
  tools: { kind: 'walk', read: readTools },
  tool_choice: { kind: 'walk', read: readToolChoice },
}

/** Checked members; `fieldNames` has the same order. */
export const fields = Object.values(fieldsByName)
export const fieldNames = Object.keys(fieldsByName)

function number(rule: NumberRule): RequestField {
  return { kind: 'value', read: (cursor, name) => checkNumber(cursor, name, rule) }
}

/** Passes `stop`: a string, an array of strings, or null. */
function* checkStop(cursor: JsonCursor, pace: Pace): Walk<void> {
  const kind = cursor.peek()
  if (kind !== 'array') {
    if (kind !== 'string' && kind !== 'null') throw wrongType('stop', 'a string or an array of strings', kind)
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    return
  }
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'string') throw wrongType(`stop[${index}]`, 'a string', element)
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
    index++
  }
}

const streamOptions = new CheckedNames(['include_usage'])

/** Passes `stream_options`, an object or null, and reads its `include_usage`. */
function* readStreamOptions(cursor: JsonCursor, pace: Pace, facts: RequestFacts): Walk<void> {
  facts.includeUsage = false
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return
  }
  if (kind !== 'object') throw wrongType('stream_options', 'an object', kind)
  const seen = new SeenNames(streamOptions, () => 'stream_options.')
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(streamOptions.table)
    seen.add(code, memberName(cursor, streamOptions.names, code))
    if (code === 0) facts.includeUsage = readBoolean(cursor, 'stream_options.include_usage')
    else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
  }
}

const toolMembers = nameTable(['type', 'function', 'custom', 'name'])
const toolTypes = nameTable(['function', 'custom'])

/** Passes `tools`, which may be of any kind, and finds custom ones and those that are written as Responses has them. */
function* readTools(cursor: JsonCursor, pace: Pace, facts: RequestFacts): Walk<void> {
  if (cursor.peek() !== 'array') {
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    return
  }
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const { type, seen } = yield* readMembers(cursor, pace)
    facts.hasCustomTools ||= type === 1
    facts.hasOtherForms ||= isFlat(seen) && (type !== -1 || (seen & typed) === 0)
    if (cursor.position >= pace.limit) yield pace
  }
}

/** Passes `tool_choice`, which may be of any kind. */
function* readToolChoice(cursor: JsonCursor, pace: Pace, facts: RequestFacts): Walk<void> {
  const kind = cursor.peek()
  const start = cursor.position
  if (kind === 'object') {
    const { seen } = yield* readMembers(cursor, pace)
    facts.hasOtherForms ||= (seen & nested) === 0
  } else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
  if (kind === 'string') facts.hasOtherForms ||= cursor.stringCode(anyChoice, start, cursor.position) === 0
}

const anyChoice = nameTable(['any'])
const typed = 0b1
const nested = 0b110
const named = 0b1000

function isFlat(seen: number): boolean {
  return (seen & nested) === 0 && (seen & named) !== 0
}

/**
 * Passes a value.
 *
 * @returns of an object: the code of its type in {@link toolTypes}, and a bit for each of its {@link toolMembers}
 */
function* readMembers(cursor: JsonCursor, pace: Pace): Walk<{ readonly type: number; readonly seen: number }> {
  let type = -1
  let seen = 0
  if (cursor.peek() !== 'object') {
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    return { type, seen }
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(toolMembers)
    const kind = cursor.peek()
    const start = cursor.position
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (code === 0 && kind === 'string') type = cursor.stringCode(toolTypes, start, cursor.position)
    if (code >= 0 && kind !== 'null') seen |= 1 << code
    if (cursor.position >= pace.limit) yield pace
  }
  return { type, seen }
}
