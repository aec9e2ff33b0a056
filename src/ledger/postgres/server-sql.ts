import type { SqlKind } from '../sql-kind.ts'
import { statement } from '../work.ts'

/** Of PostgreSQL. */
export const serverSql: SqlKind = {
  now: () => statement('floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
  skipLocked: statement('FOR UPDATE SKIP LOCKED'),
}
