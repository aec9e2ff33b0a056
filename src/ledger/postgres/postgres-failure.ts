import { SQL } from 'bun'
import { LedgerRefused, LedgerUnavailable } from '../ledger.ts'

/** Settings and prepared statements of a connection are lost, or are those of another one. */
export const sharesConnections =
  'is behind a pool that shares its connections, such as PgBouncer with pool_mode = transaction: ' +
  'connect directly, or set pool_mode = session'

/** SQLSTATE codes or their beginnings, with their meanings. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'refuses the user name or the password'],
  [/^3D000/, 'does not exist: create it'],
  [/^42501/, 'does not permit its user what is needed: make the user the owner of the database'],
  [/^(42P05|26000)/, sharesConnections],
  [/^0A000/, 'is not supported: PostgreSQL 15 or later is needed'],
]

const causes: readonly (readonly [RegExp, string])[] = [
  [/^53300/, 'has too many connections: raise max_connections'],
  [/^53100/, 'cannot grow, the disk of the server is full: free space'],
  [/^53/, 'lacks resources'],
  [/^(57P|08)/, 'is starting, stopping or restarting'],
  [/^57014/, 'took too long for a statement'],
  [/^(25006|25P02)/, 'is read-only: name the primary server, not a standby'],
  [/^55P03/, 'is locked by another program: end it, or try again'],
  [/^40/, 'is used by others at the same time: try again'],
  [/^58|^XX/, 'has an internal error: see the log of the server'],
]

/** Whether the connection may be used after an error: a statement failed, and the server said so. */
export function isConnectionKept(error: unknown): boolean {
  if (error instanceof LedgerUnavailable) return false
  if (!(error instanceof SQL.PostgresError)) return true
  return error.code === 'ERR_POSTGRES_SERVER_ERROR' && !/^(57P|08|58|XX|0A000|25006)/.test(stateOf(error))
}

/**
 * The error as the ledger throws it: without address and secrets, with the cause and the way out. Errors of work, and
 * faults of statements, stay as they are.
 *
 * @param name of the database
 */
export function databaseFailure(error: unknown, name: string): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const { code } = error
  if (code !== 'ERR_POSTGRES_SERVER_ERROR') return new LedgerUnavailable(`the database ${name} ${reasonOf(code)}`)
  const state = stateOf(error)
  const refusal = refusals.find(([pattern]) => pattern.test(state))
  if (refusal !== undefined) return new LedgerRefused(`the database ${name} ${refusal[1]} (${state})`)
  const cause = causes.find(([pattern]) => pattern.test(state))
  if (cause !== undefined) return new LedgerUnavailable(`the database ${name} ${cause[1]} (${state})`)
  return new Error(`a statement failed at the database ${name}: ${error.message} (${state})`)
}

function reasonOf(code: string): string {
  if (/REFUSED|CONNECTION_FAILED|CONNECTION_CLOSED|DISCONNECTED/.test(code)) return `cannot be reached (${code})`
  if (/TIMEOUT/.test(code)) return `does not answer (${code})`
  if (/TLS/.test(code)) return `has no TLS, which sslmode demands (${code})`
  return `cannot be used (${code})`
}

function stateOf({ errno }: { readonly errno?: unknown }): string {
  return typeof errno === 'string' ? errno : ''
}
