import type { Ask } from '../ask.ts'
import { invalidRequest } from '../error.ts'

/** Headers that change the meaning of a request. No other header of a caller goes to a provider. */
const names = ['anthropic-version', 'anthropic-beta']
const acceptable = /^[\w.,:; -]{1,2048}$/

/** Returns the caller's headers for the provider. @throws {WireError} 400 for a value that is not a list of names */
export function callerHeaders(headers: Headers): Ask['headers'] {
  const found = names.flatMap((name): readonly (readonly [string, string])[] => {
    const value = headers.get(name)
    if (value === null || value === '') return []
    if (!acceptable.test(value))
      throw invalidRequest(
        'invalid_value',
        `The header '${name}' must be a list of names, of 2,048 characters at most.`,
        name,
      )
    return [[name, value]]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}
