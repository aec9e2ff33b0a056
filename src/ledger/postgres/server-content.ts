import type { ContentStore } from '../content/content-store.ts'
import { addContent, deleteContent, peopleOf } from '../content/content-works.ts'
import { inSteps } from '../work.ts'
import type { PostgresClient, Query } from './postgres-client.ts'
import { serverSql } from './server-sql.ts'

/** Content in PostgreSQL. */
export function serverContent(client: PostgresClient): ContentStore {
  return {
    async write(rows) {
      await client.transaction(async (query) => {
        const people = await inSteps(query, peopleOf(rows, serverSql))
        await inSteps(query, addContent(rows, people, serverSql))
      })
    },
    close: () => client.close(),
  }
}

/** Deletes some content, within a transaction: see {@link deleteContent}. */
export function deleteSomeServerContent(query: Query, now: number, bytesMax?: number): Promise<boolean> {
  return inSteps(query, deleteContent(now, serverSql, bytesMax))
}
