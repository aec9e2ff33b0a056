import { existsSync, readFileSync } from 'node:fs'
import { errorCode } from '../base/error-code.ts'
import { UsageError } from '../base/start-errors.ts'
import { ConfigError, type Config } from '../config/config.ts'
import type { Environment } from '../config/file/environment.ts'
import { BadHistoryKey, readOwnerKey, type OwnerKey, type OwnerKeys } from '../ledger/history/history-key.ts'

/**
 * The owner's keys of conversations: `SVC_HISTORY_KEY`, and `SVC_HISTORY_KEY_OLD` for the one before. Each has the key,
 * or the absolute path of a file with it. There is no flag, since other users can see flags.
 *
 * @returns `undefined` without a key
 * @throws {UsageError}
 */
export async function historyKeys(environment: Environment): Promise<OwnerKeys | undefined> {
  const [current, previous] = await Promise.all([
    keyIn(environment, 'SVC_HISTORY_KEY'),
    keyIn(environment, 'SVC_HISTORY_KEY_OLD'),
  ])
  if (current === undefined) return undefined
  return { current, ...(previous === undefined ? {} : { previous }) }
}

/** The owner's keys. @throws {UsageError} also without a key */
export async function neededHistoryKeys(environment: Environment): Promise<OwnerKeys> {
  const keys = await historyKeys(environment)
  if (keys !== undefined) return keys
  throw new UsageError(
    'SVC_HISTORY_KEY is not set: it has the key that encrypts conversations; openssl rand -base64 32 makes one',
  )
}

/** @throws {UsageError} */
async function keyIn(environment: Environment, variable: string): Promise<OwnerKey | undefined> {
  const given = environment[variable]
  if (given === undefined || given === '') return undefined
  // One of 64 keys in base64 begins with a slash, too.
  const isPath = given.startsWith('/') && (existsSync(given) || !(await isKey(given)))
  try {
    return await readOwnerKey(isPath ? readFileSync(given, 'utf8') : given)
  } catch (error) {
    const code = errorCode(error)
    if (!(error instanceof BadHistoryKey) && code === undefined) throw error
    const name = isPath ? `${variable} (${given})` : variable
    const reason = error instanceof BadHistoryKey ? error.message : `the file cannot be read (${code ?? 'error'})`
    throw new UsageError(`${name}: ${reason}`, { cause: error })
  }
}

async function isKey(text: string): Promise<boolean> {
  return readOwnerKey(text).then(
    () => true,
    () => false,
  )
}

/** Conversations cannot be stored as the configuration asks. */
export function historyFault({ source }: Pick<Config, 'source'>, error: unknown): ConfigError {
  const found = `"server", but ${error instanceof Error ? error.message : String(error)}`
  const file = source.kind === 'file' ? source.path : ''
  return new ConfigError([{ file, field: 'history', found, allowed: '"server" with its key, or "browser"' }])
}
