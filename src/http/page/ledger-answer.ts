import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'

/**
 * Reads the ledger. @param what the thing that is read, such as `The use` @throws {WireError} 503 when it cannot be
 * read
 */
export async function readLedger<Answer>(what: string, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    const message = `${what} cannot be read now; see the service log`
    const headers = { 'retry-after': '1' }
    throw new WireError(503, 'overloaded_error', 'store_unavailable', message, { headers, cause: error })
  }
}
