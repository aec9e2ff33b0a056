/** What {@link recordOutbox} needs. */
export interface OutboxOptions<Entry> {
  /** Settles when they have been taken; rejects when they are lost. Not called again before. */
  readonly send: (batch: readonly Entry[]) => Promise<void>
  /** Milliseconds that entries wait for others to be sent with. Default 250. */
  readonly gatherMs?: number
  /** Entries in one batch; so many are sent without waiting for more. Default 500. */
  readonly batchMost?: number
  /** Entries that wait while nobody takes them; what comes beyond is lost. Default 10,000. */
  readonly waitingMost?: number
}

/** Entries on their way to somebody. */
export interface Outbox<Entry> {
  add(entry: Entry): void
  /** Sends at once, and one batch at least. Settles when what was added until now is taken or lost. Never rejects. */
  flush(): Promise<void>
  /** Entries that were lost so far. */
  readonly dropped: number
}

/**
 * Gathers entries and sends them in their order, one batch after the other. There is a timer only while something
 * waits.
 */
export function recordOutbox<Entry>({
  send,
  gatherMs = 250,
  batchMost = 500,
  waitingMost = 10_000,
}: OutboxOptions<Entry>): Outbox<Entry> {
  const waiting: Entry[] = []
  let dropped = 0
  let taken = 0
  let settled = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined

  function post(): void {
    clearTimeout(timer)
    timer = undefined
    sending = sendBatch(waiting.splice(0, batchMost))
  }

  async function sendBatch(batch: readonly Entry[]): Promise<void> {
    try {
      await send(batch)
    } catch {
      // Who should have counted them has gone, or cannot: all that can still be said is how many they were.
      dropped += batch.length
    }
    settled += batch.length
    sending = undefined
    if (waiting.length > 0) postSoon()
  }

  function postSoon(): void {
    if (waiting.length >= batchMost) post()
    else timer ??= setTimeout(post, gatherMs)
  }

  return {
    add(entry) {
      if (waiting.length >= waitingMost) {
        dropped += 1
        return
      }
      waiting.push(entry)
      taken += 1
      if (sending === undefined) postSoon()
    },
    async flush() {
      const wanted = taken
      await sending
      do {
        if (sending === undefined) post()
        await sending
      } while (settled < wanted)
    },
    get dropped() {
      return dropped
    },
  }
}
