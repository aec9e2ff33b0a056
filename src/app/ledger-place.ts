import { readFileSync, existsSync } from 'node:fs'
import { errorCode } from '../base/error-code.ts'
import { UsageError } from '../base/start-errors.ts'
import type { Environment } from '../config/file/environment.ts'
import { findHome } from '../config/home.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { LedgerTooNew, type Ledger } from '../ledger/ledger.ts'
import { BadServerUrl, checkServerUrl } from '../ledger/postgres/server-url.ts'
import { readKeysGrace } from './timers.ts'

const variable = 'SVC_DATABASE'

/**
 * Finds the ledger: `SVC_DATABASE`, else svc.db in the home folder (docs/postgresql.md). The variable has the URL of a
 * PostgreSQL database, or the path of a file with the URL. There is no flag, since other users can see flags.
 *
 * @throws {UsageError} @throws {HomeError}
 */
export function ledgerPlace(environment: Environment): LedgerPlace {
  const { ledger: path, keysCache: cachePath } = findHome(environment)
  const given = environment[variable]
  if (given === undefined || given === '') return { kind: 'file', path }
  try {
    const url = checkServerUrl(given.startsWith('/') ? textOf(given) : given)
    return { kind: 'server', url, cachePath, keysGraceMs: readKeysGrace(environment) }
  } catch (error) {
    if (!(error instanceof BadServerUrl)) throw error
    throw new UsageError(`${variable}${given.startsWith('/') ? ` (${given})` : ''}: ${error.message}`, { cause: error })
  }
}

/** @throws {UsageError} */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${variable}: the file ${path} cannot be read (${errorCode(error) ?? 'error'})`, {
      cause: error,
    })
  }
}

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

/** @returns the path @throws {Error} there is no such file */
export function requireDatabase(path: string): string {
  if (existsSync(path)) return path
  throw new Error(`${path} does not exist: svc makes it when it runs with --auth keys, or by svc keys make`)
}
