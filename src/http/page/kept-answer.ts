import type { SharedTimer, SharedTimers } from '../../service/shared-timers.ts'
import type { EventStreamSink } from '../entrance/event-stream-body.ts'

/** Bytes are kept in blocks, so that an answer takes little more than its size, and readers need no copy. */
const blockBytes = 16 * 1024

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** Bytes of an answer from a position. */
export interface AnswerBytes {
  /** Empty: none are there yet. Never changed. */
  readonly bytes: Uint8Array
  /** Whether these are the last ones. */
  readonly isLast: boolean
}

/** A reader of an answer. */
export interface KeptReader {
  /** Offset of the next byte. */
  readonly position: number
  /** The next bytes; `undefined`: they are not kept. */
  next(): AnswerBytes | undefined
  /** Counts bytes of `next` as read. */
  advance(count: number): void
  /** The reader needs no more bytes. May be called more than once. */
  leave(): void
}

/** An answer that goes on without its reader for a minute, and can be read again from any position. */
export interface KeptAnswer extends EventStreamSink {
  /** Resolves when the answer begins; with `undefined` when it was ended before. */
  readonly head: Promise<AnswerHead | undefined>
  /** Whether every byte is kept. */
  readonly isWhole: boolean
  readonly isOver: boolean
  readonly hasReaders: boolean
  /** Sets the head. Later calls do nothing. */
  begin(head: AnswerHead): void
  /** Begins to read. @returns `undefined`: bytes at this position are not kept, or do not exist */
  read(position: number): KeptReader | undefined
  /** Resolves at the next bytes, and at the end. */
  changed(): Promise<void>
  /** Aborts the answer, and tells its readers that it was stopped. */
  stop(): void
  /** Aborts the answer. Its readers see no end, as of a cut one. */
  abandon(): void
  /** The answer is not found any more. Its readers may read on. */
  forget(): void
}

/** How long an answer is kept, in milliseconds. */
export interface KeptTimes {
  /** It goes on without a reader. */
  readonly unreadMs: number
  /** After its end. */
  readonly endedMs: number
}

/** Memory for blocks, shared by all answers. */
export interface BlockBudget {
  /** Whether there is space for one more block of this size. May remove ended answers. */
  hasSpace(bytes: number): boolean
  /** Counts the bytes of blocks that were added, or with a negative number removed. */
  add(bytes: number): void
}

export interface KeptAnswerOptions {
  /** Ends the work for the answer. */
  readonly abort: () => void
  /** Called once when the answer need not be found any more. Its readers may still be reading. */
  readonly onForget: () => void
  readonly budget: BlockBudget
  /** Of a larger answer, only bytes that readers still need are kept. It ends when its last reader leaves. */
  readonly bytesMax: number
  readonly times: KeptTimes
  readonly timers: SharedTimers
  /** Whether the service shuts down. An answer without a reader then ends at once. */
  readonly isClosing: () => boolean
}

/** The last event of an answer that was stopped, for its other readers. */
const stoppedEvent = new TextEncoder().encode('event: stopped\ndata: {}\n\n')

/** Keeps the bytes of one answer. */
export function keptAnswer(options: KeptAnswerOptions): KeptAnswer {
  return new AnswerInMemory(options)
}

class AnswerInMemory implements KeptAnswer {
  readonly #bytesMax: number
  readonly #times: KeptTimes
  readonly #budget: BlockBudget
  readonly #onForget: () => void
  readonly #timers: SharedTimers
  readonly #abort: () => void
  readonly #isClosing: () => boolean
  readonly #head = Promise.withResolvers<AnswerHead | undefined>()
  readonly #readers = new Set<{ position: number }>()
  /** Blocks from `removed` on. */
  #blocks: Uint8Array[] = []
  /** Number of blocks that are not kept any more. */
  #removed = 0
  #length = 0
  #isWhole = true
  #isOver = false
  #isForgotten = false
  #change: PromiseWithResolvers<void> | undefined
  /** Resolves when all readers have read everything. */
  #caughtUp: PromiseWithResolvers<void> | undefined
  #timer: SharedTimer | undefined

  constructor({ abort, onForget, budget, bytesMax, times, timers, isClosing }: KeptAnswerOptions) {
    this.#bytesMax = bytesMax
    this.#times = times
    this.#budget = budget
    this.#onForget = onForget
    this.#timers = timers
    this.#abort = abort
    this.#isClosing = isClosing
  }

  get head(): Promise<AnswerHead | undefined> {
    return this.#head.promise
  }

  begin(head: AnswerHead): void {
    this.#head.resolve(head)
  }

  forget(): void {
    if (this.#isForgotten) return
    this.#isForgotten = true
    this.#timer?.stop()
    this.#onForget()
    if (this.#readers.size === 0) this.#removeBlocks(this.#blocks.length)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.stop()
    this.#wake()
    if (this.#isWhole && !this.#isForgotten) this.#timer = this.#timers.start(this.#times.endedMs, () => this.forget())
    else this.forget()
  }

  abandon(): void {
    if (this.#isOver) return
    this.#abort()
    this.#head.resolve(undefined)
    this.end()
  }

  stop(): void {
    if (!this.#isOver) this.#append(stoppedEvent)
    this.abandon()
  }

  get isWhole() {
    return this.#isWhole
  }

  get isOver() {
    return this.#isOver
  }

  get hasReaders() {
    return this.#readers.size > 0
  }

  read(
    from: number,
  ):
    | { readonly position: number; next: () => AnswerBytes | undefined; advance(count: number): void; leave(): void }
    | undefined {
    if (this.#bytesAt(from) === undefined) return undefined
    const place = { position: from }
    this.#readers.add(place)
    if (!this.#isOver) this.#timer?.stop()
    return {
      get position() {
        return place.position
      },
      next: () => this.#bytesAt(place.position),
      advance: (count) => {
        place.position += count
        if (!this.#isWhole) this.#trim()
      },
      leave: () => {
        if (this.#readers.delete(place)) this.#onLeft()
      },
    }
  }

  changed(): Promise<void> {
    this.#change ??= Promise.withResolvers()
    return this.#change.promise
  }

  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#isOver) return undefined
    this.#append(bytes)
    this.#wake()
    if (this.#isWhole) return undefined
    if (this.#readers.size === 0) return this.abandon()
    // The answer waits for its slowest reader.
    this.#caughtUp ??= Promise.withResolvers()
    return this.#caughtUp.promise
  }

  #wake(): void {
    this.#change?.resolve()
    this.#change = undefined
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const within = this.#length % blockBytes
      if (within === 0) this.#addBlock()
      const part = bytes.subarray(at, at + blockBytes - within)
      this.#blocks.at(-1)?.set(part, within)
      at += part.length
      this.#length += part.length
    }
  }

  #addBlock(): void {
    this.#isWhole &&= this.#length < this.#bytesMax && this.#budget.hasSpace(blockBytes)
    this.#blocks.push(new Uint8Array(blockBytes))
    this.#budget.add(blockBytes)
  }

  /** Removes the blocks that all readers have read. */
  #trim(): void {
    const needed = Math.min(this.#length, ...[...this.#readers].map(({ position }) => position))
    const count = Math.floor(needed / blockBytes) - this.#removed
    if (count > 0) this.#removeBlocks(count)
    if (needed < this.#length) return
    this.#caughtUp?.resolve()
    this.#caughtUp = undefined
  }

  #removeBlocks(count: number): void {
    this.#budget.add(-this.#blocks.splice(0, count).length * blockBytes)
    this.#removed += count
  }

  #onLeft(): void {
    if (!this.#isWhole) this.#trim()
    if (this.#readers.size > 0) return
    if (this.#isForgotten) this.#removeBlocks(this.#blocks.length)
    if (this.#isOver) return
    if (!this.#isWhole || this.#isClosing()) this.abandon()
    else this.#timer = this.#timers.start(this.#times.unreadMs, () => this.abandon())
  }

  #bytesAt(position: number): AnswerBytes | undefined {
    const index = Math.floor(position / blockBytes) - this.#removed
    if (index < 0 || position > this.#length) return undefined
    const start = position % blockBytes
    const end = Math.min(blockBytes, start + this.#length - position)
    const bytes = this.#blocks[index]?.subarray(start, end) ?? nothing
    return { bytes, isLast: this.#isOver && position + bytes.length === this.#length }
  }
}

const nothing = new Uint8Array()
