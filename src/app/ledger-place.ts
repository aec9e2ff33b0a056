import { readFileSync } from 'node:fs'
import { errorCode } from '../base/error-code.ts'
import type { Environment } from '../config/file/resolve-provider.ts'
import { findHome } from '../config/home.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import { BadServerUrl, checkServerUrl } from '../ledger/postgres/server-url.ts'
import { UsageError } from './start-errors.ts'
import { readKeysGrace } from './timers.ts'

const variable = 'SVC_DATABASE'

/**
 * Finds the ledger: `SVC_DATABASE`, else svc.db in the home folder (docs/ledger.md). The variable has the URL of a
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
