import { type JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { isFailedReason } from '../upstream-error.ts'

const reasons = nameTable(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

/** Reasons of other formats, in lower case → the reason of this one. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ...namesOf('stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed', 'finished'),
  ...namesOf('length', 'max_tokens', 'max_output_tokens', 'model_length'),
  ...namesOf('tool_calls', 'tool_call', 'tool_use'),
  ...namesOf('content_filter', 'content_filtered', 'safety', 'sensitive', 'blocklist', 'prohibited_content'),
  ...namesOf('function_call'),
])

/**
 * Passes a `finish_reason` that is a string, and replaces another format's name for it. Unknown reasons are kept: they
 * may mean that the answer is incomplete, which `stop` would hide. Returns an empty string, without an edit, for blanks
 * and `null` in quotes.
 *
 * @throws {MalformedAnswer} for a reason that says that the upstream failed
 */
export function finishReasonOf(cursor: JsonCursor, edits: Edit[]): string {
  const start = cursor.position
  const given = cursor.string()
  const end = cursor.position
  if (cursor.stringCode(reasons, start, end) !== -1) return given
  if (/^(?:\s*|null)$/.test(given)) return ''
  const known = otherNames.get(given.toLowerCase())
  if (known === undefined) {
    if (isFailedReason(given)) throw new MalformedAnswer('malformed', 'the answer ended with an error')
    return given
  }
  edits.push({ start, end, replacement: encode(`"${known}"`) })
  return known
}

/** Whether a reason says that the answer is not whole. */
export function isCutReason(reason: string | undefined): boolean {
  return reason === 'length' || reason === 'content_filter'
}

function namesOf(reason: string, ...others: readonly string[]): readonly (readonly [string, string])[] {
  return [reason, ...others].map((name) => [name, reason])
}
