import { existsSync } from 'node:fs'
import { appendEntry, auditTable } from '../audit-works.ts'
import { lastingStores } from '../lasting-store.ts'
import { nameOfServer, type LedgerServer } from '../ledger-place.ts'
import { LedgerRefused, LedgerUnavailable, type Ledger } from '../ledger.ts'
import { inSteps } from '../work.ts'
import { openKeyCache } from './key-cache.ts'
import { postgresClient, type PostgresClient } from './postgres-client.ts'
import { sharesConnections } from './postgres-failure.ts'
import { prepareSchema } from './prepare-schema.ts'
import { readIntoCache, serverKeys } from './server-keys.ts'
import { serverSql } from './server-sql.ts'

/** An unused connection of a process that changes keys is closed. */
const idleMs = 10_000

export interface ServerLedgerOptions {
  readonly place: LedgerServer
  /** A problem with the copy of the keys; `undefined`: it is over. */
  readonly onTrouble?: (problem: string | undefined) => void
  /** A database of a newer version is used, too. */
  readonly mayBeNewer?: boolean
  /**
   * For a service: the copy of the keys is made, and the server may be away. Otherwise the copy is only used if there
   * is one, so that processes of this machine have changes at once.
   */
  readonly isService: boolean
}

/**
 * Opens the ledger in PostgreSQL. It connects for changes and questions only: keys are read from the copy, which the
 * thread of use keeps up to date.
 *
 * @throws {LedgerRefused} @throws {LedgerTooNew} @throws {LedgerUnavailable} the copy cannot be used
 */
export async function openServerLedger({
  place,
  onTrouble,
  mayBeNewer = false,
  isService,
}: ServerLedgerOptions): Promise<Ledger> {
  const { url, cachePath: path, keysGraceMs: graceMs } = place
  const client = postgresClient({ url, idleMs })
  const cache =
    isService || existsSync(path)
      ? await openKeyCache({ path, graceMs, ...(onTrouble === undefined ? {} : { onTrouble }) })
      : undefined
  try {
    await prepare(client, { url, name: nameOfServer(url), mayBeNewer, isService })
    if (isService && cache !== undefined) await readIntoCache(client, cache, false).catch(ignoreAway)
  } catch (error) {
    cache?.close()
    await client.close()
    throw error
  }
  return {
    keys: serverKeys({ client, cache }, { via: 'command line' }),
    keysVia: (via, onEntry) => serverKeys({ client, cache }, { via, onEntry }),
    audit: auditTable((work) => client.perform((query) => inSteps(query, work())), serverSql),
    record: (change) =>
      client.transaction(async (query) => {
        await query('SELECT FROM head FOR UPDATE')
        return await inSteps(query, appendEntry(change, serverSql))
      }),
    lasting: lastingStores({
      read: (work) => client.perform((query) => inSteps(query, work())),
      write: (work) => client.transaction((query) => inSteps(query, work())),
    }),
    people: async () => (await import('./server-people.ts')).serverPeople({ client, cache }),
    async close() {
      cache?.close()
      await client.close()
    },
  }
}

interface PrepareOptions extends Pick<ServerLedgerOptions, 'isService'> {
  readonly url: string
  readonly name: string
  readonly mayBeNewer: boolean
}

async function prepare(client: PostgresClient, { isService, url, ...options }: PrepareOptions): Promise<void> {
  try {
    await refuseSharedConnections(client, url)
    await prepareSchema(client, options)
  } catch (error) {
    if (!isService) throw error
    ignoreAway(error)
  }
}

/** A pool gives the connection that was used last, unless another client takes it. */
const poolTries = 3

/**
 * Finds a pool that gives a connection to one client after each transaction of another: both then have the same process
 * of the server, or one of them has several.
 *
 * @throws {LedgerRefused}
 */
async function refuseSharedConnections(client: PostgresClient, url: string): Promise<void> {
  const other = postgresClient({ url })
  const seen = new Map<PostgresClient, unknown>()
  try {
    for (let tries = 0; tries < poolTries; tries++)
      for (const each of [client, other]) {
        const [row] = await each.perform((query) => query('SELECT pg_backend_pid() AS pid'))
        const pid = row?.['pid']
        const isOwn = !seen.has(each) || seen.get(each) === pid
        seen.set(each, pid)
        if (!isOwn || (seen.size > 1 && seen.get(client) === seen.get(other)))
          throw new LedgerRefused(`the database ${nameOfServer(url)} ${sharesConnections}`)
      }
  } finally {
    await other.close()
  }
}

/** A service starts without its server, and asks it again; a server that refuses needs another setting. */
function ignoreAway(error: unknown): void {
  if (!(error instanceof LedgerUnavailable) || error instanceof LedgerRefused) throw error
}
