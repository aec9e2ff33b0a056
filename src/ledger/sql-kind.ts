import { sql, statement, type Statement } from './work.ts'

/** What differs between statements for SQLite and PostgreSQL. */
export interface SqlKind {
  /** Unix milliseconds; in PostgreSQL those of the server, since machines may have wrong clocks. */
  readonly now: () => Statement
  /** Ends a subquery whose rows are deleted: rows that other machines delete are left to them. */
  readonly skipLocked: Statement
}

/** Of SQLite. */
export const fileSql: SqlKind = {
  now: () => sql`${Date.now()}`,
  skipLocked: statement(''),
}
