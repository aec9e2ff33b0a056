import type { JsonKind } from '../bytes/json-cursor.ts'
import { invalidRequest, type WireError } from './error.ts'

/** The error for a missing member. `param` is its path, such as `messages[0].content`. */
export function missing(param: string): WireError {
  return invalidRequest('missing_required_parameter', `'${param}' is required.`, param)
}

/** The error for a member of a wrong type. `expected` has its article. */
export function wrongType(param: string, expected: string, found: JsonKind): WireError {
  return invalidRequest('invalid_type', `'${param}' must be ${expected}; found ${withArticle(found)}.`, param)
}

/** The kind with its article: `an object`, `null`. */
function withArticle(kind: JsonKind): string {
  if (kind === 'null') return kind
  return kind === 'object' || kind === 'array' ? `an ${kind}` : `a ${kind}`
}

/** Makes a caller's value safe for messages: no control characters, at most 64 characters. */
export function shown(text: string): string {
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd')
  return clean.length > 64 ? `${clean.slice(0, 63).toWellFormed()}…` : clean
}
