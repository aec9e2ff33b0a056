import { recorded } from '../audit-works.ts'
import type { PersonDatabase } from '../ledger.ts'
import { inSteps, rowsOf, type Statement, type WorkRow } from '../work.ts'
import { changeAtServer, type ServerKeysOptions } from './server-keys.ts'
import { serverSql } from './server-sql.ts'

/** Limit of writing tables anew, in milliseconds. */
const eraseMs = 600_000

/** The people of a database in PostgreSQL. */
export function serverPeople(options: ServerKeysOptions): PersonDatabase {
  const { client } = options
  const read = (statement: Statement): Promise<readonly WorkRow[]> =>
    client.perform((query) => inSteps(query, rowsOf(statement)))
  return {
    read,
    inRequests: read,
    change: (work) => changeAtServer(options, (query, version) => inSteps(query, recorded(work(version), serverSql))),
    erase: () =>
      client.perform(
        async (query) => {
          await query(`SELECT set_config('statement_timeout', '0', false)`)
          await query('VACUUM (FULL) key, audit, person, content, request, usage_session, lasting')
        },
        { deadlineMs: eraseMs },
      ),
    async close() {},
  }
}
