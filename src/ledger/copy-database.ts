import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'

/**
 * Copies a database as it is now, also while others use it. By a connection of its own: a transaction cannot copy. Only
 * the owner may read the copy. An error leaves no copy.
 *
 * @param target must not exist
 * @throws {Error} of SQLite, or of the operating system
 */
export function copyDatabase(path: string, target: string): void {
  // SQLite writes into an empty file.
  const descriptor = openSync(target, 'wx', 0o600)
  try {
    const reader = new Database(path, { readonly: true })
    try {
      reader.run('VACUUM INTO ?', [target])
    } finally {
      reader.close()
    }
    fsyncSync(descriptor)
  } catch (error) {
    rmSync(target, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}
