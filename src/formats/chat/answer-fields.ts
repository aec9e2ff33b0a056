import { flattenParts, removeMember } from '../../bytes/fill.ts'
import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Usage } from '../usage.ts'

/** Facts that whole answers and chunks have in common. */
export interface AnswerFacts {
  readonly edits: Edit[]
  /** It is an error, or one of its choices is. */
  hasError: boolean
  usage: Usage | undefined
}

/** Passes an `error`, of the answer or of a choice. Empty ones do not count. */
export function readError(cursor: JsonCursor, facts: AnswerFacts): void {
  if (cursor.isFilled()) facts.hasError = true
}

const tiers = ['flex', 'priority'] as const
const tierTable = nameTable(tiers)

/** Passes a `service_tier`, and returns it if it has prices of its own. */
export function readServiceTier(cursor: JsonCursor): string | undefined {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  return kind === 'string' ? tiers[cursor.stringCode(tierTable, start, cursor.position)] : undefined
}

/** Makes a function that passes an `object` member and replaces any value but `name` and `error`. */
export function objectReader(name: string): (cursor: JsonCursor, facts: AnswerFacts) => void {
  const table = nameTable([name, 'error'])
  const replacement = encode(`"${name}"`)
  return function readObject(cursor, facts) {
    const kind = cursor.peek()
    const start = cursor.position
    cursor.skip()
    const end = cursor.position
    const code = kind === 'string' ? cursor.stringCode(table, start, end) : -1
    if (code === 1) facts.hasError = true
    else if (code !== 0) facts.edits.push({ start, end, replacement })
  }
}

/**
 * Passes a `content` that is not a string, and returns its text and reasoning: both empty for null. Content in parts
 * becomes text and `reasoning_content`.
 *
 * @throws {MalformedAnswer} for any other value, which it names `what`
 */
export function readContentParts(cursor: JsonCursor, edits: Edit[], what: string): ReturnType<typeof flattenParts> {
  const kind = cursor.peek()
  const start = cursor.position
  cursor.skip()
  if (kind === 'null') return { text: '', reasoning: '' }
  const parts: unknown = kind === 'array' ? JSON.parse(utf8(cursor.bytes, start, cursor.position)) : undefined
  if (!Array.isArray(parts)) throw new MalformedAnswer('malformed', `${what} is a ${kind}`)
  const content = flattenParts(parts)
  const added = content.reasoning === '' ? '' : `,"reasoning_content":${JSON.stringify(content.reasoning)}`
  edits.push({ start, end: cursor.position, replacement: encode(JSON.stringify(content.text) + added) })
  return content
}

/**
 * Passes a `refusal` and returns whether it has text. An empty value of another type becomes null.
 *
 * @throws {MalformedAnswer} for any other value
 */
export function readRefusal(cursor: JsonCursor, edits: Edit[]): boolean {
  const kind = cursor.peek()
  const start = cursor.position
  const isFilled = cursor.isFilled()
  if (kind === 'string' || kind === 'null') return isFilled
  if (isFilled) throw new MalformedAnswer('malformed', `a refusal is a ${kind}`)
  edits.push({ start, end: cursor.position, replacement: encode('null') })
  return false
}

/**
 * Passes `tool_calls` that are not an array and removes them.
 *
 * @throws {MalformedAnswer} when they are not empty
 */
export function removeToolCalls(cursor: JsonCursor, edits: Edit[]): void {
  const { nameStart } = cursor
  const kind = cursor.peek()
  if (cursor.isFilled()) throw new MalformedAnswer('malformed', `'tool_calls' is a ${kind}`)
  removeMember(cursor, edits, nameStart)
}
