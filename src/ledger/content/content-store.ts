import type { ContentRow } from './content-row.ts'

/** Content in a database. Methods reject with {@link LedgerUnavailable} when it cannot be used. */
export interface ContentStore {
  /** Adds rows in one transaction. */
  write(rows: readonly ContentRow[]): Promise<void>
  close(): void | Promise<void>
}
