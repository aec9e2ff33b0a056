import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'

/** A JSON response that nothing stores. */
export function uncachedJson(value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Runs work on the ledger. @throws {WireError} 503 when the ledger cannot be used */
export async function withLedger<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    throw new WireError(503, 'overloaded_error', 'store_unavailable', 'The database of keys is not available', {
      headers: { 'retry-after': '1' },
      cause: error,
    })
  }
}
