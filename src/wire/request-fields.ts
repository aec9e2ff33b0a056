import { invalidRequest } from './error.ts'
import type { WireError } from './error.ts'
import { nameTable } from './json-cursor.ts'
import type { JsonCursor } from './json-cursor.ts'
import { skip } from './pace.ts'
import type { Pace, Walk } from './pace.ts'
import { shown, wrongType } from './request-fault.ts'
import { latin1 } from './text.ts'

/** What docs/api.md says of a member. */
type Rule =
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'model' | 'messages' | 'stop' | 'stream_options' }

const anyInteger: Rule = { kind: 'integer', min: -Infinity, max: Infinity }

/** Members that are checked. Token counts have no range: some upstreams take -1 for no limit. */
const rules: Readonly<Record<string, Rule>> = {
  model: { kind: 'model' },
  messages: { kind: 'messages' },
  temperature: { kind: 'number', min: 0, max: 2 },
  max_tokens: anyInteger,
  max_completion_tokens: anyInteger,
  top_p: { kind: 'number', min: 0, max: 1 },
  frequency_penalty: { kind: 'number', min: -2, max: 2 },
  presence_penalty: { kind: 'number', min: -2, max: 2 },
  stop: { kind: 'stop' },
  seed: anyInteger,
  stream: { kind: 'boolean' },
  stream_options: { kind: 'stream_options' },
  logprobs: { kind: 'boolean' },
  top_logprobs: { kind: 'integer', min: 0, max: 20 },
  reasoning_effort: { kind: 'choice', values: ['low', 'medium', 'high', 'none', 'minimal', 'xhigh', 'max'] },
  enable_thinking: { kind: 'boolean' },
}

/** The names of the members that are checked; the place of each in `fieldRules` and `fields` is the same. */
export const fieldNames = Object.keys(rules)
export const fieldRules = Object.values(rules)
export const fields = nameTable(fieldNames)

const modelCharactersMax = 256

/** The model that stands from `start` on; when it is a string, it was passed already. */
export function readModel(cursor: JsonCursor, start: number): string {
  if (cursor.position === start) throw wrongType('model', 'a string', cursor.peek())
  // An escaped character takes six bytes, or twelve as a surrogate pair.
  const isTooLong = cursor.position - start - 2 > modelCharactersMax * 12
  const model = isTooLong ? '' : cursor.stringAt(start, cursor.position)
  if (isTooLong || (model.length > modelCharactersMax && Array.from(model).length > modelCharactersMax)) {
    throw invalidRequest('invalid_value', `'model' must be at most ${modelCharactersMax} characters long.`, 'model')
  }
  if (model === '') throw invalidRequest('invalid_value', "'model' must not be empty.", 'model')
  if (controlCharacters.test(model) || !model.isWellFormed()) {
    throw invalidRequest(
      'invalid_value',
      `'model' must not contain control characters or lone surrogates; found '${shown(model)}'.`,
      'model',
    )
  }
  return model
}

const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/

/** Passes `stop`: a string, an array of strings, or null. */
export function* checkStop(cursor: JsonCursor, pace: Pace): Walk<void> {
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

const streamOptions = nameTable(['include_usage'])

/** Passes `stream_options`, an object or null; its `include_usage`. */
export function* readStreamOptions(cursor: JsonCursor, pace: Pace): Walk<boolean> {
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return false
  }
  if (kind !== 'object') throw wrongType('stream_options', 'an object', kind)
  let includeUsage = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(streamOptions) === 0) includeUsage = readBoolean(cursor, 'stream_options.include_usage')
    else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
  }
  return includeUsage
}

/** A boolean; false for null, which means absent. */
export function readBoolean(cursor: JsonCursor, param: string): boolean {
  const kind = cursor.peek()
  if (kind === 'boolean') return cursor.boolean()
  if (kind !== 'null') throw wrongType(param, 'a boolean', kind)
  cursor.skip()
  return false
}

/** Checks what stands from `start` on; when it is a string, it was passed already. */
export function checkChoice(cursor: JsonCursor, start: number, param: string, values: readonly string[]): void {
  if (cursor.position === start) {
    const kind = cursor.peek()
    if (kind !== 'null') throw wrongType(param, 'a string', kind)
    cursor.skip()
    return
  }
  const isShort = cursor.position - start < 1024
  if (!isShort || !values.includes(cursor.stringAt(start, cursor.position)))
    throw notAmong(cursor, start, param, values)
}

/** The error for a string, standing from `start` to the cursor, that is none of `values`. */
export function notAmong(cursor: JsonCursor, start: number, param: string, values: readonly string[]): WireError {
  const isShort = cursor.position - start < 1024
  const found = isShort ? `; found '${shown(cursor.stringAt(start, cursor.position))}'` : ''
  return invalidRequest('invalid_value', `'${param}' must be one of ${values.join(', ')}${found}.`, param)
}

/**
 * An integer is a number without a fraction, however written: 1.0 and 1e2 are, 1.5 is of another type, as OpenAI has
 * it.
 */
export function checkNumber(cursor: JsonCursor, param: string, rule: Extract<Rule, { min: number }>): void {
  const expected = rule.kind === 'integer' ? 'an integer' : 'a number'
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return
  }
  if (kind !== 'number') throw wrongType(param, expected, kind)
  const start = cursor.position
  const value = cursor.number()
  const found = () => shown(latin1(cursor.bytes, start, Math.min(cursor.position, start + 65)))
  if (rule.kind === 'integer' && !Number.isInteger(value) && Number.isFinite(value)) {
    throw invalidRequest('invalid_type', `'${param}' must be an integer; found ${found()}.`, param)
  }
  if (Number.isFinite(value) && value >= rule.min && value <= rule.max) return
  const range = Number.isFinite(rule.min) ? `between ${rule.min} and ${rule.max}` : 'within the range of numbers'
  throw invalidRequest('invalid_value', `'${param}' must be ${range}; found ${found()}.`, param)
}
