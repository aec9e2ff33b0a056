import { removeMember } from '../../bytes/fill.ts'
import type { JsonCursor } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

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
