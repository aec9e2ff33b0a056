import { readBuckets } from './use/time-blob.ts'
import { sql, statement, type Statement } from './work.ts'

/** What differs between statements for SQLite and PostgreSQL. */
export interface SqlKind {
  /** Unix milliseconds; in PostgreSQL those of the server, since machines may have wrong clocks. */
  readonly now: () => Statement
  /** Ends a subquery whose rows are deleted: rows that other machines delete are left to them. */
  readonly skipLocked: Statement
  /** Follows a column of texts that are compared by their bytes, and whose lower case is that of ASCII. */
  readonly byBytes: Statement
  /** A table of one column `value` with these values, as one parameter. In PostgreSQL they are texts. */
  readonly listed: (values: readonly (string | number)[]) => Statement
  /** A table of one column `value` with JSON arrays of whole numbers and texts, as one parameter. */
  readonly arrays: (rows: readonly (readonly (number | string)[])[]) => Statement
  /** Ends a query that locks the rows of a table. Absent: a transaction locks the database. */
  readonly lock?: (table: string) => Statement
  /** Inserts an id of its own into a column that is counted. */
  readonly overriding: Statement
  /** The largest number that was ever given to an entry of the audit, as `given`. */
  readonly entriesGiven: Statement
  /** The row of `head` has this number, too: SQLite keeps it itself. */
  readonly hasHead: boolean
  /** A column of buckets, and its value as counts. */
  readonly buckets: (column: 'first' | 'total') => Statement
  readonly readBuckets: (value: unknown) => number[]
}

/** Of SQLite. */
export const fileSql: SqlKind = {
  now: () => sql`${Date.now()}`,
  skipLocked: statement(''),
  byBytes: statement(''),
  listed: (values) => sql`json_each(${JSON.stringify(values)})`,
  arrays: (rows) => sql`json_each(${JSON.stringify(rows)})`,
  overriding: statement(''),
  entriesGiven: statement("SELECT coalesce(max(seq), 0) AS given FROM sqlite_sequence WHERE name = 'audit'"),
  hasHead: false,
  buckets: statement,
  readBuckets: (value) => (value instanceof Uint8Array ? readBuckets(value) : []),
}
