import type { SharedTimer, SharedTimers } from '../../service/shared-timers.ts'
import type { EventStreamSink } from '../entrance/event-stream-body.ts'

/** Milliseconds for which an answer without a reader goes on, and for which an ended one is kept. */
const keptMs = 60_000
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
  readonly timers: SharedTimers
  /** Whether the service shuts down. An answer without a reader then ends at once. */
  readonly isClosing: () => boolean
}

/** The last event of an answer that was stopped, for its other readers. */
const stoppedEvent = new TextEncoder().encode('event: stopped\ndata: {}\n\n')

/** Keeps the bytes of one answer. */
export function keptAnswer({ abort, onForget, budget, bytesMax, timers, isClosing }: KeptAnswerOptions): KeptAnswer {
  const head = Promise.withResolvers<AnswerHead | undefined>()
  const readers = new Set<{ position: number }>()
  /** Blocks from `removed` on. */
  let blocks: Uint8Array[] = []
  /** Number of blocks that are not kept any more. */
  let removed = 0
  let length = 0
  let isWhole = true,
    isOver = false,
    isForgotten = false
  let change: PromiseWithResolvers<void> | undefined
  /** Resolves when all readers have read everything. */
  let caughtUp: PromiseWithResolvers<void> | undefined
  let timer: SharedTimer | undefined

  function wake(): void {
    change?.resolve()
    change = undefined
  }

  function append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const within = length % blockBytes
      if (within === 0) addBlock()
      const part = bytes.subarray(at, at + blockBytes - within)
      blocks.at(-1)?.set(part, within)
      at += part.length
      length += part.length
    }
  }

  function addBlock(): void {
    isWhole &&= length < bytesMax && budget.hasSpace(blockBytes)
    blocks.push(new Uint8Array(blockBytes))
    budget.add(blockBytes)
  }

  /** Removes the blocks that all readers have read. */
  function trim(): void {
    const needed = Math.min(length, ...[...readers].map(({ position }) => position))
    const count = Math.floor(needed / blockBytes) - removed
    if (count > 0) removeBlocks(count)
    if (needed < length) return
    caughtUp?.resolve()
    caughtUp = undefined
  }

  function removeBlocks(count: number): void {
    budget.add(-blocks.splice(0, count).length * blockBytes)
    removed += count
  }

  function forget(): void {
    if (isForgotten) return
    isForgotten = true
    timer?.stop()
    onForget()
    if (readers.size === 0) removeBlocks(blocks.length)
  }

  function finish(): void {
    if (isOver) return
    isOver = true
    timer?.stop()
    wake()
    if (isWhole && !isForgotten) timer = timers.start(keptMs, forget)
    else forget()
  }

  function abandon(): void {
    if (isOver) return
    abort()
    head.resolve(undefined)
    finish()
  }

  function stop(): void {
    if (!isOver) append(stoppedEvent)
    abandon()
  }

  function onLeft(): void {
    if (!isWhole) trim()
    if (readers.size > 0) return
    if (isForgotten) removeBlocks(blocks.length)
    if (isOver) return
    if (!isWhole || isClosing()) abandon()
    else timer = timers.start(keptMs, abandon)
  }

  function bytesAt(position: number): AnswerBytes | undefined {
    const index = Math.floor(position / blockBytes) - removed
    if (index < 0 || position > length) return undefined
    const start = position % blockBytes
    const end = Math.min(blockBytes, start + length - position)
    const bytes = blocks[index]?.subarray(start, end) ?? nothing
    return { bytes, isLast: isOver && position + bytes.length === length }
  }

  return {
    head: head.promise,
    get isWhole() {
      return isWhole
    },
    get isOver() {
      return isOver
    },
    get hasReaders() {
      return readers.size > 0
    },
    begin: head.resolve,
    read(from) {
      if (bytesAt(from) === undefined) return undefined
      const place = { position: from }
      readers.add(place)
      if (!isOver) timer?.stop()
      return {
        get position() {
          return place.position
        },
        next: () => bytesAt(place.position),
        advance(count) {
          place.position += count
          if (!isWhole) trim()
        },
        leave() {
          if (readers.delete(place)) onLeft()
        },
      }
    },
    changed() {
      change ??= Promise.withResolvers()
      return change.promise
    },
    write(bytes) {
      if (isOver) return undefined
      append(bytes)
      wake()
      if (isWhole) return undefined
      if (readers.size === 0) return abandon()
      // The answer waits for its slowest reader.
      caughtUp ??= Promise.withResolvers()
      return caughtUp.promise
    },
    end: finish,
    stop,
    abandon,
    forget,
  }
}

const nothing = new Uint8Array()
