import { parseNoticeMessage } from './notice-message.ts'
import type { Hear } from './store.ts'

/** What is heard within a second; beyond, it is not, and neither is what waits beyond that number. */
const heardMost = 1_000

/** A message that is kept, and for how many more milliseconds. */
export type KeptMessage = readonly [message: string, leftMs: number]

/** What {@link redisHearing} needs. */
export interface HearingOptions {
  /** Of this process, which does not hear itself. */
  readonly from: string
  readonly hear: Hear
  /** What is kept: the last message under each key. */
  readonly readKept: () => Promise<readonly KeptMessage[]>
  /** Default 1 s. */
  readonly secondMs?: number
}

/** Hears what is published, no more of it than anybody should have to, and makes up for what was missed by what is kept. */
export interface Hearing {
  /** Takes a message, in the order of publishing. */
  take(message: string): void
  /** Hears all that is kept, and what is taken meanwhile after it. */
  catchUp(): Promise<void>
  close(): void
}

/**
 * Hears at most 1,000 messages a second. When there were more, what is kept is heard a second later, so that the last
 * state under each key always arrives.
 */
export function redisHearing({ from, hear, readKept, secondMs = 1_000 }: HearingOptions): Hearing {
  let waiting: string[] | undefined
  let reading: Promise<unknown> = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  let second = 0
  let heard = 0

  function pass(message: string, leftMs?: number): void {
    const notice = parseNoticeMessage(message)
    if (notice !== undefined && notice.from !== from) hear(notice.text, leftMs ?? notice.keptMs)
  }

  function hasRoom(): boolean {
    const now = Math.floor(performance.now() / secondMs)
    if (now !== second) heard = 0
    second = now
    heard += 1
    return heard <= heardMost
  }

  function take(message: string): void {
    if (isClosed) return
    if (waiting === undefined && hasRoom()) pass(message)
    else if (waiting !== undefined && waiting.length < heardMost) waiting.push(message)
    else catchUpLater()
  }

  function catchUpLater(): void {
    if (isClosed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      // Where the connection is lost, listening begins anew, and with it this.
      catchUp().catch(catchUpLater)
    }, secondMs)
    timer.unref()
  }

  async function read(): Promise<void> {
    const early: string[] = (waiting = [])
    try {
      for (const [message, leftMs] of await readKept()) if (!isClosed) pass(message, leftMs)
    } finally {
      waiting = undefined
      early.forEach(take)
    }
  }

  function catchUp(): Promise<void> {
    const next = reading.then(read)
    reading = next.catch(() => undefined)
    return next
  }

  return {
    take,
    catchUp,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
