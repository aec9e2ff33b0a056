import { nameTable, type JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { readBoolean, type NumberRule } from '../fields.ts'
import { wrongType } from '../request-fault.ts'

/** The rule of docs/api.md for a member. */
type Rule =
  | NumberRule
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'model' | 'messages' | 'stop' | 'stream_options' }

const anyInteger: Rule = { kind: 'integer', min: -Infinity, max: Infinity }

/** Rules by member. Token counts have no range: some upstreams take -1 for no limit. */
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
  reasoning_effort: { kind: 'choice', values: ['low', 'medium', 'high', 'none', 'minimal', 'default', 'xhigh', 'max'] },
  enable_thinking: { kind: 'boolean' },
}

/** Names of the checked members. `fieldNames`, `fieldRules` and `fields` have the same order. */
export const fieldNames = Object.keys(rules)
export const fieldRules = Object.values(rules)
export const fields = nameTable(fieldNames)

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

/** Passes `stream_options`, an object or null, and returns its `include_usage`. */
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
