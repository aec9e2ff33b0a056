import { existsSync, renameSync, rmSync } from 'node:fs'
import { errorCode } from '../base/error-code.ts'
import { copyDatabase } from './copy-database.ts'
import { lockMsDefault, performed } from './open-database.ts'

/**
 * Copies a database into a new file, which is there as a whole or not at all.
 *
 * @throws {LedgerUnavailable} the database cannot be read
 * @throws {Error} the file exists, or cannot be written
 */
export async function backUp(path: string, target: string): Promise<void> {
  const part = `${target}-part-${process.pid}`
  try {
    await performed(path, lockMsDefault, () => copyDatabase(path, part))
    if (existsSync(target)) throw new Error(`${target} exists: name a new file`)
    renameSync(part, target)
  } catch (error) {
    rmSync(part, { force: true })
    const code = errorCode(error instanceof Error && error.cause !== undefined ? error.cause : error) ?? ''
    if (!/^(SQLITE_FULL|SQLITE_IOERR|E[A-Z]+$)/.test(code)) throw error
    throw new Error(`${target} cannot be written (${code}): check its folder, permissions and free space`, {
      cause: error,
    })
  }
}
