import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { LedgerTooNew, type Ledger } from '../ledger/ledger.ts'
import { UsageError } from './start-errors.ts'

export interface OpenLedgerOptions {
  /** A problem with the database while it is in use; `undefined`: it is over. */
  readonly onTrouble?: (problem: string | undefined) => void
  /** A service, not a command: it starts without its server, and keeps a copy of the keys. */
  readonly isService?: boolean
  /** A server with a newer schema is used, too. */
  readonly mayBeNewer?: boolean
}

/**
 * Opens the ledger. Only the code of its kind of database is loaded.
 *
 * @throws {UsageError} a newer svc has changed it @throws {LedgerUnavailable}
 */
export async function openLedgerAt(
  place: LedgerPlace,
  { isService = false, mayBeNewer = false, ...options }: OpenLedgerOptions = {},
): Promise<Ledger> {
  try {
    if (place.kind === 'file') {
      const { openLedger } = await import('../ledger/open-ledger.ts')
      return await openLedger({ path: place.path, ...options })
    }
    const { openServerLedger } = await import('../ledger/postgres/open-server-ledger.ts')
    return await openServerLedger({ place, isService, mayBeNewer, ...options })
  } catch (error) {
    throw error instanceof LedgerTooNew ? new UsageError(error.message, { cause: error }) : error
  }
}
