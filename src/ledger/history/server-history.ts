import { nameOfServer } from '../ledger-place.ts'
import { postgresClient } from '../postgres/postgres-client.ts'
import { prepareSchema } from '../postgres/prepare-schema.ts'
import { inSteps, type Work } from '../work.ts'
import type { HistoryDatabase } from './works.ts'

/** An unused connection is closed. */
const idleMs = 60_000
/** A conversation of some megabytes may take its time. */
const deadlineMs = 15_000
const eraseMs = 600_000

export interface ServerHistoryOptions {
  readonly url: string
  /** A database of a newer version is used, too. */
  readonly mayBeNewer: boolean
}

/** The conversations of several machines, in PostgreSQL. It connects at its first use, and may be away until then. */
export function serverHistory({ url, mayBeNewer }: ServerHistoryOptions): HistoryDatabase {
  const client = postgresClient({ url, idleMs, deadlineMs })
  const name = nameOfServer(url)
  let prepared: Promise<unknown> | undefined

  /** A failure is not kept: the server may come back. */
  async function prepare(): Promise<void> {
    prepared ??= prepareSchema(client, { name, mayBeNewer })
    try {
      await prepared
    } catch (error) {
      prepared = undefined
      throw error
    }
  }

  async function perform<Value>(work: () => Work<Value>): Promise<Value> {
    await prepare()
    return await client.transaction((query) => inSteps(query, work()))
  }

  return {
    name,
    write: perform,
    read: perform,
    erase: () =>
      client.perform(
        async (query) => {
          await query(`SELECT set_config('statement_timeout', '0', false)`)
          await query('VACUUM (FULL) history_person, history_conversation')
        },
        { deadlineMs: eraseMs },
      ),
    close: () => client.close(),
  }
}
