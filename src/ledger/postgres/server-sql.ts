import type { SqlKind } from '../sql-kind.ts'
import { sql, statement } from '../work.ts'
import { jsonParameter } from './postgres-client.ts'

/** Of PostgreSQL. */
export const serverSql: SqlKind = {
  now: () => statement('floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
  skipLocked: statement('FOR UPDATE SKIP LOCKED'),
  byBytes: statement('COLLATE "C"'),
  listed: (values) => sql`jsonb_array_elements_text(${jsonParameter(values)}::text::jsonb)`,
  arrays: (rows) => sql`jsonb_array_elements(${jsonParameter(rows)}::text::jsonb)`,
  lock: (table) => statement(`FOR UPDATE OF ${table}`),
  overriding: statement('OVERRIDING SYSTEM VALUE'),
  entriesGiven: statement('SELECT audit AS given FROM head'),
  hasHead: true,
  buckets: (column) => statement(`array_to_string(${column}, ',')`),
  readBuckets: (value) => (value === '' ? [] : String(value).split(',').map(Number)),
}
