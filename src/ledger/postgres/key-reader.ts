import { nameOfServer, type LedgerServer } from '../ledger-place.ts'
import { openKeyCache, type KeyCache } from './key-cache.ts'
import type { PostgresClient } from './postgres-client.ts'
import { prepareSchema } from './prepare-schema.ts'
import { readIntoCache } from './server-keys.ts'

/** Interval of asking the server for changes of keys by other machines, in milliseconds. */
const intervalMs = 300
const retryMs = 1_000

/** Keeps the copy of the keys of this machine up to date. */
export interface KeyReader {
  close(): void
}

/** Facilities of the thread of use. */
export interface ThreadFacilities {
  /** Performs a job after those before it. */
  readonly enqueue: (job: () => Promise<void>) => void
  /** The keys cannot be read from the server; `undefined`: they can again. */
  readonly onKeysTrouble: (problem: string | undefined) => void
}

/** Options of {@link startKeyReader}. */
export interface KeyReaderOptions extends ThreadFacilities {
  readonly place: LedgerServer
  /** The connection of the thread, which writes use, too. */
  readonly client: PostgresClient
}

/** Begins to read changes of keys, without end. All keys are compared after each new connection. */
export async function startKeyReader({ place, client, enqueue, onKeysTrouble }: KeyReaderOptions): Promise<KeyReader> {
  let cache: KeyCache | undefined
  let connection = 0
  let trouble: string | undefined
  let isClosed = false
  let timer = setTimeout(turn, 0)

  async function read(): Promise<void> {
    cache ??= await openKeyCache({ path: place.cachePath, graceMs: place.keysGraceMs })
    const isWhole = connection === 0 || client.connections !== connection
    if (isWhole) await prepareSchema(client, { name: nameOfServer(place.url), mayBeNewer: true })
    const { connections } = client
    await readIntoCache(client, cache, isWhole)
    // A connection that was made meanwhile counts as new next time.
    connection = connections
  }

  async function readNow(): Promise<void> {
    if (isClosed) return
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
    enqueue(readNow)
  }

  return {
    close() {
      isClosed = true
      clearTimeout(timer)
      cache?.close()
    },
  }
}
