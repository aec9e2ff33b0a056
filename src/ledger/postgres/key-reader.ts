import { nameOfServer, type LedgerServer } from '../ledger-place.ts'
import { openKeyCache, type KeyCache } from './key-cache.ts'
import { postgresClient } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'
import { readIntoCache } from './server-keys.ts'

/** Interval of asking the server for changes of keys by other machines, in milliseconds. */
const intervalMs = 300
const retryMs = 500
/** Limit of a question for changes. A connection that does not answer in this time is replaced. */
const changesMs = 2_000

/** Keeps the copy of the keys of this machine up to date. */
export interface KeyReader {
  /** Resolves after the reading under way. */
  close(): Promise<void>
}

export interface KeyReaderOptions {
  readonly place: LedgerServer
  /** The keys cannot be read from the server; `undefined`: they can again. */
  readonly onKeysTrouble: (problem: string | undefined) => void
}

/**
 * Begins to read changes of keys, without end, over a connection of its own: a write of the use may wait for seconds
 * for locks of others, an ended key must not. All keys are compared after each new connection.
 */
export function startKeyReader({ place, onKeysTrouble }: KeyReaderOptions): KeyReader {
  const client = postgresClient({ url: place.url, pauseMs: retryMs })
  let cache: KeyCache | undefined
  let connection = 0
  let trouble: string | undefined
  let isClosed = false
  let reading: Promise<void> | undefined
  let timer = setTimeout(turn, 0)

  async function read(): Promise<void> {
    cache ??= await openKeyCache({ path: place.cachePath, graceMs: place.keysGraceMs })
    const isWhole = connection === 0 || client.connections !== connection
    if (isWhole) await prepareSchema(client, { name: nameOfServer(place.url), mayBeNewer: true })
    const { connections } = client
    await readIntoCache(client, cache, isWhole, isWhole ? {} : { deadlineMs: changesMs })
    // A connection that was made meanwhile counts as new next time.
    connection = connections
  }

  async function readNow(): Promise<void> {
    let problem: string | undefined
    try {
      await read()
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
    if (isClosed) return
    if (problem !== trouble) onKeysTrouble(problem)
    trouble = problem
    timer = setTimeout(turn, problem === undefined ? intervalMs : retryMs)
  }

  function turn(): void {
    reading = readNow()
  }

  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await reading
      await client.close()
      cache?.close()
    },
  }
}
