import type { openDB } from 'idb'
import type { ReactNode } from 'react'
import type { ApiClient } from '../../api/client.ts'
import { useStore } from '../../store.ts'
import type { HistoryStore } from '../conversation.ts'
import type { HistoryBackend } from '../history-backend.ts'
import type { historyStore } from '../history-store.ts'
import type { localHistory } from '../open-history.ts'
import { historyClient } from './history-client.ts'
import { SyncNotice } from './sync-notice.tsx'
import { openRecords, type SyncRecords } from './sync-records.ts'
import { Synchronizer } from './sync.ts'
import { syncedBackend } from './synced-backend.ts'
import type { Exclusively } from './synced-copy.ts'

/** The history of a user whose conversations are at the service, too. */
export interface SyncedHistory {
  readonly history: HistoryStore
  /** Says what is not sent, and why; empty most of the time. */
  readonly Notice: () => ReactNode
  /**
   * Sends what is not sent. Called before signing out.
   *
   * @returns a function that removes the conversations from this browser that the service has, for after signing out
   */
  leave(): Promise<() => Promise<void>>
}

/** Functions that the page has loaded: imports of them would divide its chunk, and make it larger. */
export interface HistoryParts {
  readonly localHistory: typeof localHistory
  readonly historyStore: typeof historyStore
  readonly openDB: typeof openDB
}

/** Times in milliseconds. */
const times = {
  /** From a change until it is sent. */
  send: 1_000,
  /** The same while an answer is running. */
  sendRunning: 10_000,
  /** Between events of the window, such as the focus, that have the service asked. */
  ask: 1_500,
  /** From a failure until the next try; doubled each time. */
  retry: 5_000,
  retryMax: 60_000,
  /** Longest wait before signing out. */
  leave: 5_000,
}

/** Opens the history of a user: a copy in this browser, and the service. Never rejects. */
export async function openSyncedHistory(
  userId: string,
  client: Pick<ApiClient, 'fetch' | 'get' | 'post'>,
  page: HistoryParts,
): Promise<SyncedHistory> {
  const { backend: local, changed, faultNow } = page.localHistory(userId)
  const records = await openRecords(userId, page.openDB)
  const exclusively = exclusivelyFor(userId)
  const sync = new Synchronizer({
    local,
    records,
    client: historyClient(client),
    onChange: (id) => changed.publish(id),
    exclusively,
  })
  const runs = new Runs(sync)
  const backend = syncedBackend({
    local,
    records,
    exclusively,
    onUnsent: (isRunning) => runs.soon(isRunning ? times.sendRunning : times.send),
    onMerged: (id) => changed.publish(id),
  })
  const stopWatching = whenShown(() => runs.soon(times.ask))
  await sync.prepare().catch(() => undefined)
  void runs.run()
  const history = page.historyStore(backend, changed, faultNow)

  async function decide(isUploaded: boolean): Promise<void> {
    await sync.decide(isUploaded)
    if (isUploaded) await runs.run()
  }

  return {
    history: {
      ...history,
      get fault() {
        return faultNow()
      },
      close() {
        runs.close()
        stopWatching()
        history.close()
        records.close()
      },
    },
    Notice: () => (
      <SyncNotice
        status={useStore(sync.status)}
        decide={(isUploaded) => void decide(isUploaded)}
        hideUnreadable={() => void sync.hideUnreadable()}
      />
    ),
    async leave() {
      await Promise.race([runs.run(), new Promise((resolve) => setTimeout(resolve, times.leave))])
      return async () => {
        runs.close()
        await exclusively('change', () => forgetSent(local, records))
      }
    },
  }
}

/** Runs the synchronizer: one run at a time, and again after a failure. */
class Runs {
  readonly #sync: Synchronizer
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #retryMs = times.retry
  #running: Promise<void> | undefined
  #isAgain = false
  #isClosed = false

  constructor(sync: Synchronizer) {
    this.#sync = sync
  }

  /** Runs after this time, unless a run is due before that. */
  soon(ms: number): void {
    const at = performance.now() + ms
    if (at >= this.#dueAt || this.#isClosed) return
    clearTimeout(this.#timer)
    this.#dueAt = at
    this.#timer = setTimeout(() => void this.run(), ms)
  }

  /** Runs now. A change during a run leads to another one. */
  async run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#isAgain = this.#running !== undefined
    this.#running ??= this.#runNow()
    await this.#running
  }

  async #runNow(): Promise<void> {
    do {
      this.#isAgain = false
      const isDone = await this.#sync.run()
      const { kind, unsent, isFetched } = this.#sync.status.get()
      if (isDone) this.#retryMs = times.retry
      else if (kind !== 'off' && (unsent > 0 || !isFetched)) {
        this.soon(this.#retryMs)
        this.#retryMs = Math.min(times.retryMax, this.#retryMs * 2)
      }
    } while (this.#isAgain && !this.#isClosed)
    this.#running = undefined
  }

  /** Starts no more runs. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }
}

/** Removes the conversations from this browser that the service has. */
async function forgetSent(local: HistoryBackend, records: SyncRecords): Promise<void> {
  const all = await records.all()
  const sent = all.filter(({ version, unsent }) => unsent === 0 && version !== 0)
  // Also drafts, which may be of conversations that are gone.
  if (sent.length === all.length) await local.clear()
  else for (const { id } of sent) await local.remove(id)
  for (const { id } of sent) await records.remove(id)
  await records.putState({ ...(await records.state()), cursor: 0 })
}

/** Calls the listener when the window is shown, gets the focus, or the network returns. */
function whenShown(listener: () => void): () => void {
  const look = (): void => {
    if (document.visibilityState === 'visible') listener()
  }
  document.addEventListener('visibilitychange', look)
  addEventListener('focus', look)
  addEventListener('online', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    removeEventListener('focus', look)
    removeEventListener('online', look)
  }
}

/** By locks of the browser over all tabs; without them, in this tab. */
function exclusivelyFor(userId: string): Exclusively {
  const { locks } = navigator as { readonly locks?: LockManager }
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    if (locks !== undefined) return await locks.request(`svc-${name}-${userId}`, work)
    const done = (last.get(name) ?? Promise.resolve()).then(work)
    last.set(
      name,
      done.catch(() => undefined),
    )
    return await done
  }
}
