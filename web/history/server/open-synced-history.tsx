import type { openDB } from 'idb'
import type { ReactNode } from 'react'
import type { ApiClient } from '../../api/client.ts'
import { useStore } from '../../store.ts'
import type { HistoryStore } from '../conversation.ts'
import type { historyStore } from '../history-store.ts'
import type { localHistory } from '../open-history.ts'
import { historyClient } from './history-client.ts'
import { SyncNotice } from './sync-notice.tsx'
import { openRecords } from './sync-records.ts'
import { synchronizer, type Exclusively } from './sync.ts'
import { syncedBackend } from './synced-backend.ts'

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
  const sync = synchronizer({
    local,
    records,
    client: historyClient(client),
    onChange: (id) => changed.publish(id),
    exclusively,
  })
  const backend = syncedBackend({
    local,
    records,
    exclusively,
    onUnsent: (isRunning) => runSoon(isRunning ? times.sendRunning : times.send),
    onMerged: (id) => changed.publish(id),
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let retryMs = times.retry
  let running: Promise<void> | undefined
  let isAgain = false
  let isClosed = false

  function runSoon(ms: number): void {
    const at = performance.now() + ms
    if (at >= dueAt || isClosed) return
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(() => void run(), ms)
  }

  /** One run at a time; a change during a run leads to another one. */
  async function run(): Promise<void> {
    clearTimeout(timer)
    dueAt = Number.POSITIVE_INFINITY
    if (running !== undefined) {
      isAgain = true
      return await running
    }
    running = runNow()
    await running
  }

  async function runNow(): Promise<void> {
    do {
      isAgain = false
      const isDone = await sync.run()
      const { kind, unsent, isFetched } = sync.status.get()
      if (isDone) retryMs = times.retry
      else if (kind !== 'off' && (unsent > 0 || !isFetched)) {
        runSoon(retryMs)
        retryMs = Math.min(times.retryMax, retryMs * 2)
      }
    } while (isAgain && !isClosed)
    running = undefined
  }

  const stopWatching = whenShown(() => runSoon(times.ask))
  await sync.prepare().catch(() => undefined)
  void run()
  const history = page.historyStore(backend, changed, faultNow)

  async function decide(isUploaded: boolean): Promise<void> {
    await sync.decide(isUploaded)
    if (isUploaded) await run()
  }

  return {
    history: {
      ...history,
      get fault() {
        return faultNow()
      },
      close() {
        isClosed = true
        clearTimeout(timer)
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
      await Promise.race([run(), new Promise((resolve) => setTimeout(resolve, times.leave))])
      return async () => {
        isClosed = true
        clearTimeout(timer)
        await exclusively('change', async () => {
          const all = await records.all()
          const stays = all.filter(({ version, unsent }) => unsent > 0 || version === 0)
          // Also drafts, which may be of conversations that are gone.
          if (stays.length === 0) await local.clear()
          else for (const { id } of all.filter((record) => !stays.includes(record))) await local.remove(id)
          for (const record of all) if (!stays.includes(record)) await records.remove(record.id)
          await records.putState({ ...(await records.state()), cursor: 0 })
        })
      }
    },
  }
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
