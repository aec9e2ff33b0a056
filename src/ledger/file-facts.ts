import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { lockMsDefault, performed } from './open-database.ts'

/** Facts of svc.db that decide about entries of access.json. */
export interface FileFacts {
  /** Those of the given hashes that keys have, also ended keys. */
  readonly hashes: ReadonlySet<string>
  /** Those of the given user ids that people of several identity providers have. */
  readonly sharedIds: ReadonlySet<string>
}

/** Entries of access.json. */
export interface FileQuestions {
  /** SHA-256 in base64. */
  readonly hashes: readonly string[]
  readonly userIds: readonly string[]
}

/**
 * Reads facts of svc.db. It changes nothing: the file may be of an earlier version, which knows less, or absent.
 *
 * @throws {LedgerUnavailable}
 */
export async function fileFacts(path: string, { hashes, userIds }: FileQuestions): Promise<FileFacts> {
  if (hashes.length + userIds.length === 0 || !existsSync(path)) return { hashes: new Set(), sharedIds: new Set() }
  return await performed(path, lockMsDefault, () => {
    using database = new Database(path, { readonly: true })
    const knows = (table: string, column: string): boolean =>
      database.query('SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2').get(table, column) !== null
    const found = (texts: readonly string[], sql: string, valueOf: (text: string) => string | Uint8Array) => {
      const query = database.query<unknown, [string | Uint8Array]>(sql)
      return new Set(texts.filter((text) => query.get(valueOf(text)) !== null))
    }
    return {
      hashes: knows('key', 'hash')
        ? found(hashes, 'SELECT 1 FROM key WHERE hash = ?1', (hash) => Buffer.from(hash, 'base64'))
        : new Set(),
      sharedIds: knows('person', 'user_id')
        ? found(
            userIds,
            `SELECT 1 FROM person WHERE user_id = ?1 AND subject NOT LIKE 'earlier svc: %' LIMIT 1 OFFSET 1`,
            (id) => id,
          )
        : new Set(),
    }
  })
}
