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
