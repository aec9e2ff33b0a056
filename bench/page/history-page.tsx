import { createRoot } from 'react-dom/client'
import { apiClient } from '../../web/api/client.ts'
import type { Conversation, HistoryStore, Message } from '../../web/history/conversation.ts'
import { connectionTo } from '../../web/history/database.ts'
import { packHeads } from '../../web/history/head-packs.ts'
import { HistoryList } from '../../web/history/history-list.tsx'
import { indexWords } from '../../web/history/index-words.ts'
import { openHistory } from '../../web/history/open-history.ts'
import { prepareSearch } from '../../web/history/use-search.ts'
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
  /** Of the fixed computation. */
  readonly loop: number
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

/** Fills a user's history. @returns milliseconds for all of them */
async function fillHistory(user: string, from: number, to: number, messageCount: number): Promise<number> {
  const history = await openHistory(user, { tidies: false })
  let ms = 0
  for (let index = from; index < to; index++) {
    const conversation = conversationOf(index, messageCount),
      begin = performance.now()
    await history.put(conversation)
    ms += performance.now() - begin
  }
  if (history.fault !== undefined) throw new Error(`the history is ${history.fault}`)
  history.close()
  return ms
}

/** Packs heads, and indexes words for some seconds, as an open page does. @returns whether there are more */
async function tidySome(user: string): Promise<boolean> {
  const connection = connectionTo(`svc-${user}`)
  const until = performance.now() + 4_000
  const ended = new Error('time is over')
  try {
    await connection.use(packHeads)
    await connection.use((database) =>
      indexWords(database, async () => {
        if (performance.now() > until) throw ended
      }),
    )
    return false
  } catch (error) {
    if (error !== ended) throw error
    return true
  } finally {
    connection.close()
  }
}

/** Milliseconds of a fixed computation. */
function loop(): number {
  const begin = performance.now()
  let sum = 0
  for (let step = 0; step < 40_000_000; step++) sum = (Math.imul(sum, 31) + step) | 0
  return sum === 0 ? 0 : performance.now() - begin
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
  const opened = await openHistory(user, { tidies: false })
  let read = NaN
  const history = {
    ...opened,
    async heads() {
      const heads = await opened.heads()
      read = performance.now() - begin
      return heads
    },
  }
  show(history)
  await areThere
  await painted()
  return {
    read,
    painted: performance.now() - begin,
    rows: document.querySelectorAll('[data-row]').length,
    longTasks: await longTasks(),
    loop: loop(),
  }
}

/** Result of {@link measureSearch}: milliseconds of the first search and of the same one again, with their hits. */
interface SearchMeasure {
  readonly first: number
  readonly again: number
  readonly found: number
  readonly longTasks: readonly number[]
  readonly loop: number
}

/** Milliseconds from the focus in the field to the search: one key, and the delay of the page after it. */
const typingMs = 120

/** Searches a user's history, whose list is shown. @param isPrepared as after a focus in the field */
async function measureSearch(user: string, query: string, isPrepared: boolean): Promise<SearchMeasure> {
  const history = await openHistory(user, { tidies: false }),
    areThere = rowsThere()
  show(history)
  await areThere
  await painted()
  if (isPrepared) {
    prepareSearch(history)
    await new Promise((resolve) => setTimeout(resolve, typingMs))
  }
  const longTasks = collectLongTasks(),
    begin = performance.now()
  const { length: found } = await history.search(query)
  const middle = performance.now()
  await history.search(query)
  const end = performance.now()
  return { first: middle - begin, again: end - middle, found, longTasks: await longTasks(), loop: loop() }
}

Object.assign(globalThis, { fillHistory, tidySome, measureOpening, measureSearch })
