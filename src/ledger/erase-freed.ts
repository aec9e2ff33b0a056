import type { Database } from 'bun:sqlite'

/**
 * Leaves no byte of deleted and changed rows in the files of a database: it is written anew, and its write-ahead log is
 * emptied. Other processes may use it, and wait meanwhile.
 */
export async function eraseFreed(
  perform: <Value>(work: (database: Database) => Value) => Promise<Value>,
): Promise<void> {
  await perform((database) => void database.run('VACUUM'))
  await perform((database) => {
    const [isBusy] = database.query<unknown, []>('PRAGMA wal_checkpoint(TRUNCATE)').values()[0] ?? []
    if (isBusy !== 0) throw Object.assign(new Error('another process reads the database'), { code: 'SQLITE_BUSY' })
  })
}
