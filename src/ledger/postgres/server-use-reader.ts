import { nameOfServer } from '../ledger-place.ts'
import { readerOf } from '../use/read-tables.ts'
import type { SearchLimits } from '../use/search-requests.ts'
import type { TableReader } from '../use/stored-requests.ts'
import type { UseReader } from '../use/use-reader.ts'
import { postgresClient } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'
import { serverSql } from './server-sql.ts'

/** Reads the use in PostgreSQL, by a connection of its own. */
export async function openServerUseReader(url: string, limits: SearchLimits = {}): Promise<UseReader> {
  const client = postgresClient({ url })
  await prepareSchema(client, { name: nameOfServer(url), mayBeNewer: true })
  const tables: TableReader = ({ text, values }) => client.perform((query) => query(text, values))
  return {
    ...readerOf({ names: tables, rows: tables, kind: serverSql }, limits),
    isCurrent: () => true,
    close: () => client.close(),
  }
}
