import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { lockMsDefault, performed } from './open-database.ts'

/**
 * Finds which hashes the keys in svc.db have, also ended keys. It changes nothing, also if the file is of an earlier
 * version, or absent.
 *
 * @param hashes SHA-256 in base64
 * @throws {LedgerUnavailable}
 */
export async function storedHashes(path: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0 || !existsSync(path)) return new Set()
  return await performed(path, lockMsDefault, () => {
    using database = new Database(path, { readonly: true })
    const find = database.query<unknown, [Uint8Array]>('SELECT 1 FROM key WHERE hash = ?1')
    return new Set(hashes.filter((hash) => find.get(Buffer.from(hash, 'base64')) !== null))
  })
}
