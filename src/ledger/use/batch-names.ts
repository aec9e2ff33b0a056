import type { Database } from 'bun:sqlite'
import type { BatchName } from './use-batch.ts'

/** Sources that wrote nothing for so long have ended. */
const keptMs = 30 * 86_400_000

/** The last batch of each source, stored in the transaction that adds its requests. */
export interface BatchNames {
  /** @returns false if the batch was added before; otherwise it counts as added */
  begin(batch: BatchName): boolean
  /** Deletes sources that have ended. */
  forget(): void
}

/** The table `batch` of a database. @param now Unix milliseconds */
export function batchNames(database: Database, now: () => number): BatchNames {
  const last = database.query<{ number: number }, [string]>('SELECT number FROM batch WHERE source = ?1')
  const put = database.query<unknown, [string, number, number]>(
    `INSERT INTO batch (source, number, time) VALUES (?1, ?2, ?3)
     ON CONFLICT (source) DO UPDATE SET number = excluded.number, time = excluded.time`,
  )
  return {
    begin({ source, number }) {
      if (number <= (last.get(source)?.number ?? 0)) return false
      put.run(source, number, now())
      return true
    },
    forget() {
      database.run('DELETE FROM batch WHERE time < ?1', [now() - keptMs])
    },
  }
}
