export interface OutboxOptions<Entry> {
  /** Resolves when the batch has been received; rejects when it is lost. Not called again before it settles. */
  readonly send: (batch: readonly Entry[]) => Promise<void>
  /** Milliseconds that entries are collected before they are sent. Default 250. */
  readonly gatherMs?: number
  /** Most entries in one batch; a full batch is sent at once. Default 500. */
  readonly batchMax?: number
  /** Most entries that wait; further ones are dropped. Default 10,000. */
  readonly waitingMax?: number
  /** Called with each entry that is dropped because too many wait. */
  readonly onOverflow?: (entry: Entry) => void
}

/** Entries to be sent to another process. */
export interface Outbox<Entry> {
  add(entry: Entry): void
  /** Sends a batch soon, also without entries. */
  wake(): void
  /**
   * Sends all entries at once; without entries, one empty batch. Resolves when they were received or lost. Never
   * rejects.
   */
  flush(): Promise<void>
  /** Number of entries lost so far. */
  readonly dropped: number
}

/** Makes an outbox that sends entries in order, one batch after the other. Its timer runs only while entries wait. */
export function recordOutbox<Entry>({
  send,
  gatherMs = 250,
  batchMax = 500,
  waitingMax = 10_000,
  onOverflow,
}: OutboxOptions<Entry>): Outbox<Entry> {
  const waiting: Entry[] = []
  let dropped = 0
  let taken = 0
  let settled = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  /** A batch is due after the one that is being sent. */
  let isWoken = false

  function post(): void {
    clearTimeout(timer)
    timer = undefined
    isWoken = false
    sending = sendBatch(waiting.splice(0, batchMax))
  }

  async function sendBatch(batch: readonly Entry[]): Promise<void> {
    try {
      await send(batch)
    } catch {
      // The receiver has gone or failed: only the number of lost entries is kept.
      dropped += batch.length
    }
    settled += batch.length
    sending = undefined
    if (waiting.length > 0 || isWoken) postSoon()
  }

  function postSoon(): void {
    if (waiting.length >= batchMax) post()
    else timer ??= setTimeout(post, gatherMs)
  }

  return {
    add(entry) {
      if (waiting.length >= waitingMax) {
        dropped += 1
        onOverflow?.(entry)
        return
      }
      waiting.push(entry)
      taken += 1
      if (sending === undefined) postSoon()
    },
    wake() {
      isWoken = true
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
