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
export function recordOutbox<Entry>(options: OutboxOptions<Entry>): Outbox<Entry> {
  return new WaitingRecords<Entry>(options)
}

class WaitingRecords<Entry> implements Outbox<Entry> {
  readonly #batchMax: number
  readonly #send: (batch: readonly Entry[]) => Promise<void>
  readonly #gatherMs: number
  readonly #waitingMax: number
  readonly #onOverflow: ((entry: Entry) => void) | undefined
  readonly #waiting: Entry[] = []
  #dropped = 0
  #taken = 0
  #settled = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined
  /** A batch is due after the one that is being sent. */
  #isWoken = false

  constructor({ send, gatherMs = 250, batchMax = 500, waitingMax = 10_000, onOverflow }: OutboxOptions<Entry>) {
    this.#batchMax = batchMax
    this.#send = send
    this.#gatherMs = gatherMs
    this.#waitingMax = waitingMax
    this.#onOverflow = onOverflow
  }

  add(entry: Entry): void {
    if (this.#waiting.length >= this.#waitingMax) {
      this.#dropped += 1
      this.#onOverflow?.(entry)
      return
    }
    this.#waiting.push(entry)
    this.#taken += 1
    if (this.#sending === undefined) this.#postSoon()
  }

  wake(): void {
    this.#isWoken = true
    if (this.#sending === undefined) this.#postSoon()
  }

  async flush(): Promise<void> {
    const wanted = this.#taken
    await this.#sending
    do {
      if (this.#sending === undefined) this.#post()
      await this.#sending
    } while (this.#settled < wanted)
  }

  get dropped() {
    return this.#dropped
  }

  #post(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isWoken = false
    this.#sending = this.#sendBatch(this.#waiting.splice(0, this.#batchMax))
  }

  async #sendBatch(batch: readonly Entry[]): Promise<void> {
    try {
      await this.#send(batch)
    } catch {
      // The receiver has gone or failed: only the number of lost entries is kept.
      this.#dropped += batch.length
    }
    this.#settled += batch.length
    this.#sending = undefined
    if (this.#waiting.length > 0 || this.#isWoken) this.#postSoon()
  }

  #postSoon(): void {
    if (this.#waiting.length >= this.#batchMax) this.#post()
    else this.#timer ??= setTimeout(() => this.#post(), this.#gatherMs)
  }
}
