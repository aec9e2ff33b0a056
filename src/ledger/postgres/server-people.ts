import type { PersonDatabase, PersonRow, Statement } from '../ledger.ts'
import type { Query } from './postgres-client.ts'
import { appendServerEntry } from './server-audit.ts'
import { changeAtServer, type ServerKeysOptions } from './server-keys.ts'

/** Limit of writing tables anew, in milliseconds. */
const eraseMs = 600_000

/** The people of a database in PostgreSQL. */
export function serverPeople(options: ServerKeysOptions): PersonDatabase {
  const { client } = options
  const read = (statement: Statement): Promise<readonly PersonRow[]> =>
    client.perform((query) => rowsOf(query, statement))
  return {
    read,
    readRequests: read,
    async deleteContent(person) {
      await client.perform((query) => query('DELETE FROM content WHERE person = $1', [person]))
    },
    async change(statementsOf, entryOf) {
      await changeAtServer(options, async (query, version) => {
        const results: (readonly PersonRow[])[] = []
        for (const statement of statementsOf(version)) results.push(await rowsOf(query, statement))
        await appendServerEntry(query, entryOf(results))
      })
    },
    erase: () =>
      client.perform(
        async (query) => {
          await query(`SELECT set_config('statement_timeout', '0', false)`)
          await query('VACUUM (FULL) key, audit, person, content')
        },
        { deadlineMs: eraseMs },
      ),
    async close() {},
  }
}

async function rowsOf(query: Query, { text, values }: Statement): Promise<readonly PersonRow[]> {
  return await query(text, values)
}
