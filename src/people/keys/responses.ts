import { invalidRequest, WireError } from '../../formats/error.ts'
import { LedgerFull, LedgerUnavailable } from '../../ledger/ledger.ts'
import { KeyFault } from './grants.ts'

/** A JSON response that nothing stores. */
export function uncachedJson(value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  })
}

/**
 * Runs work on the ledger.
 *
 * @throws {WireError} 409 at a limit of keys, 503 when the ledger cannot be used
 */
export async function withLedger<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LedgerFull)
      throw new WireError(409, 'invalid_request_error', 'too_many_keys', `No key was made: ${error.message}`)
    if (!(error instanceof LedgerUnavailable)) throw error
    throw new WireError(503, 'overloaded_error', 'store_unavailable', 'The database of keys is not available', {
      headers: { 'retry-after': '1' },
      cause: error,
    })
  }
}

/** @throws {WireError} 400 with the name of the faulty member */
export function parsed<Value, Result>(parse: (value: Value) => Result, value: Value): Result {
  try {
    return parse(value)
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error
    throw invalidRequest('invalid_value', `'${error.field}': ${error.message}`, error.field)
  }
}

/** The id of a key at the end of a path. Below 0, it is in access.json. @throws {WireError} 404 */
export function idOf(path: string, beginning: string): number {
  const text = path.slice(beginning.length)
  if (!/^-?[1-9]\d{0,14}$/.test(text)) throw keyNotFound()
  return Number(text)
}

/** 409. */
export function keyInFile(): WireError {
  const text = 'The key is in access.json: change or remove it there, which takes effect when the file is loaded again'
  return new WireError(409, 'invalid_request_error', 'key_in_file', text)
}

/** 400. */
export function noSuchTeam(): WireError {
  return invalidRequest('invalid_value', "'team': allowed: the name of a team of access.json", 'team')
}

/** 404. */
export function keyNotFound(): WireError {
  return new WireError(404, 'invalid_request_error', 'key_not_found', 'There is no key with this id')
}
