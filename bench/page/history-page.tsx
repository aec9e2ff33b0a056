import { createRoot } from 'react-dom/client'
import { apiClient } from '../../web/api/client.ts'
import type { Conversation, HistoryStore, Message } from '../../web/history/conversation.ts'
import { HistoryList } from '../../web/history/history-list.tsx'
import { openHistory } from '../../web/history/open-history.ts'
import { modelsStore } from '../../web/models/models-store.ts'
import { ServicesContext } from '../../web/services.ts'

/** Result of {@link measureOpening}, milliseconds since the history was opened. */
export interface OpeningMeasure {
  /** Until the list was read. */
  readonly read: number
  /** Until the first rows were painted. */
  readonly painted: number
  /** Tasks above 50 ms. */
  readonly longTasks: readonly number[]
  /** Rows that were drawn. */
  readonly rows: number
}

const syllables = 'an be co di es for gra hu in jo ka le mo ne or pre qui ra st tion un vé wei xa yß zø'.split(' ')

/** Deterministic random numbers (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 30,000 words; as in natural text, few are frequent and most are rare. */
const words = Array.from({ length: 30_000 }, (_, index) => {
  const next = numbersFrom(index)
  return Array.from(
    { length: 1 + Math.floor(next() * 4) },
    () => syllables[Math.floor(next() * syllables.length)],
  ).join('')
})

function textOf(next: () => number, count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `${words[Math.floor(words.length ** next()) - 1]}${index % 11 === 10 ? '.' : ''}`,
  ).join(' ')
}

function conversationOf(index: number, messageCount: number): Conversation {
  const next = numbersFrom(index),
    time = Date.now() - index * 3_600_000
  const messages = Array.from({ length: messageCount }, (_, at): Message =>
    at % 2 === 0
      ? { role: 'user', id: `m${at}`, time, text: textOf(next, 20), images: [] }
      : {
          role: 'assistant',
          id: `m${at}`,
          time,
          text: `${textOf(next, 140)}${index % 500 === 250 && at === 1 ? ' Needles' : ''}`,
          reasoning: '',
          status: 'complete',
          provenance: {
            requestId: `r${at}`,
            provider: 'p',
            model: 'm',
            trail: [{ provider: 'p', status: 200, ms: 100 }],
            totalMs: 100,
          },
        },
  )
  return {
    id: `c${index}`,
    title: textOf(next, 5),
    isTitled: false,
    isPinned: index % 400 === 0,
    created: time,
    updated: time,
    settings: { model: 'm', system: '', parameters: {} },
    messages,
  }
}

/** Fills a user's history. @returns milliseconds for each conversation */
async function fillHistory(user: string, count: number, messageCount: number): Promise<number> {
  const history = await openHistory(user)
  let ms = 0
  for (let index = 0; index < count; index++) {
    const conversation = conversationOf(index, messageCount),
      begin = performance.now()
    await history.put(conversation)
    ms += performance.now() - begin
  }
  if (history.fault !== undefined) throw new Error(`the history is ${history.fault}`)
  history.close()
  return ms / count
}

/** Collects tasks above 50 ms. @returns a function that ends the collection and returns them */
function collectLongTasks(): () => Promise<readonly number[]> {
  const tasks: number[] = []
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
  observer.observe({ type: 'longtask' })
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    observer.disconnect()
    return tasks
  }
}

/** Resolves when the current content has been painted. */
function painted(): Promise<void> {
  return new Promise((resolve) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(undefined)
      port2.postMessage(null)
    }),
  )
}

function rowsThere(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector('[data-row]') === null) return
      observer.disconnect()
      resolve()
    })
    observer.observe(document, { childList: true, subtree: true })
  })
}

function show(history: HistoryStore): void {
  const client = apiClient((path, options) => fetch(path, options)),
    box = document.getElementById('root')
  const boot = { version: '', isClosed: false, isOwner: true, parts: [] }
  if (box !== null)
    createRoot(box).render(
      <ServicesContext value={{ boot, client, history, openHistory, models: modelsStore(client), isOffline: false }}>
        <nav className="h-full w-72">
          <HistoryList currentId={undefined} />
        </nav>
      </ServicesContext>,
    )
}

/** Opens a user's history and shows its list. Call it once on each page. */
async function measureOpening(user: string): Promise<OpeningMeasure> {
  const longTasks = collectLongTasks(),
    areThere = rowsThere()
  const begin = performance.now()
  const history = await openHistory(user)
  show(history)
  await history.heads()
  const read = performance.now() - begin
  await areThere
  await painted()
  return {
    read,
    painted: performance.now() - begin,
    longTasks: await longTasks(),
    rows: document.querySelectorAll('[data-row]').length,
  }
}

/** Searches a user's history. Measures the duration in milliseconds, tasks above 50 ms, and the number of hits. */
async function measureSearch(
  user: string,
  query: string,
): Promise<{ readonly ms: number; readonly longTasks: readonly number[]; readonly found: number }> {
  const history = await openHistory(user)
  await history.head('none')
  const longTasks = collectLongTasks(),
    begin = performance.now()
  const { length: found } = await history.search(query)
  const ms = performance.now() - begin
  history.close()
  return { ms, longTasks: await longTasks(), found }
}

Object.assign(globalThis, { fillHistory, measureOpening, measureSearch })
