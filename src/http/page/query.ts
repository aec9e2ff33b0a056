import { invalidRequest } from '../../formats/error.ts'

/** A whole number of a query. @throws {WireError} 400 */
export function integerOf(
  query: URLSearchParams,
  name: string,
  { minimum, maximum, fallback }: { readonly minimum: number; readonly maximum: number; readonly fallback: number },
): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= minimum && value <= maximum) return value
  throw invalidRequest('invalid_value', `'${name}' must be a whole number from ${minimum} to ${maximum}.`, name)
}

/** One of some choices. @throws {WireError} 400 */
export function choiceOf<Choice extends string, Fallback extends Choice | undefined>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
  fallback: Fallback,
): Choice | Fallback {
  const text = query.get(name)
  if (text === null) return fallback
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw invalidRequest('invalid_value', `'${name}' must be one of ${choices.join(', ')}.`, name)
}

/** A date, as Unix milliseconds of its midnight in UTC. @throws {WireError} 400 */
export function dateOf(query: URLSearchParams, name: string): number | undefined {
  return instantOf(query, name, /^\d{4}-\d\d-\d\d$/, 'a date such as 2026-11-23')
}

/** A time, as Unix milliseconds. @throws {WireError} 400 */
export function timeOf(query: URLSearchParams, name: string): number | undefined {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/
  return instantOf(query, name, form, 'a time such as 2026-11-23T10:00:00Z')
}

function instantOf(query: URLSearchParams, name: string, form: RegExp, example: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const time = form.test(text) && isDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  if (time >= 0) return time
  throw invalidRequest('invalid_value', `'${name}' must be ${example}.`, name)
}

/** `Date.parse` takes February 30 for March 2. */
function isDate(text: string): boolean {
  const time = Date.parse(text)
  return time >= 0 && new Date(time).toISOString().startsWith(text)
}
