import { readBytesMax, type ReadScheduler } from './read-scheduler.ts'

/** Bytes queued before the socket is paused. */
export const heldBytesMax = 256 * 1024

/**
 * Blocks up to this many bytes, such as heads and single tokens, are received at once. The event loop handles at most a
 * thousand sockets before other work.
 */
export const tokenBytes = 2 * 1024

/** Memory overhead of each block, in bytes. */
const blockBytes = 1024

/** Options of {@link receiveQueue}. */
export interface ReceiveQueueOptions {
  readonly scheduler: ReadScheduler
  /** The socket to pause while the queue is full. */
  readonly socket: { pause(): unknown; resume(): unknown }
  /** Receives the next bytes. May pause or stop the queue. */
  readonly receive: (bytes: Buffer) => void
  /** The socket is closed, and all bytes have been received. */
  readonly closed: (error: Error | undefined) => void
  /** Most bytes that may be received at a time without the scheduler, because they cause little work; 0: none. */
  readonly bytesWithoutTurn: () => number
}

/** A queue of bytes between a socket and its receiver. */
export interface ReceiveQueue {
  /** The queue is empty, and the socket is open. */
  isIdle(): boolean
  /** Bytes wait to be received. */
  hasPendingBytes(): boolean
  push(bytes: Buffer): void
  /** The socket was closed. `closed` is called once all bytes have been received. */
  close(error: Error | undefined): void
  /** Nothing is received until `resume`. */
  pause(): void
  resume(): void
  /** Discards all bytes; nothing is received any more, and `closed` is not called. */
  stop(): void
}

/**
 * Makes a queue that passes on small blocks at once, and large ones in slices of {@link readBytesMax}, each when the
 * scheduler permits. A fast upstream is slowed to the speed of its reader and does not block the event loop.
 */
export function receiveQueue({
  scheduler,
  socket,
  receive,
  closed,
  bytesWithoutTurn,
}: ReceiveQueueOptions): ReceiveQueue {
  const blocks: Buffer[] = []
  let length = 0
  let isPaused = false
  let isRequested = false
  let isSocketPaused = false
  let isStopped = false
  let end: { readonly error: Error | undefined } | undefined

  /** Whether the next slice may be received now; otherwise `granted` is called later. */
  function hasTurn(): boolean {
    if (bytesWithoutTurn() > 0) return true
    if (isRequested) return false
    isRequested = !scheduler.take(Math.min(length, readBytesMax), granted)
    return !isRequested
  }

  function granted(): void {
    isRequested = false
    if (!isStopped && !isPaused && length > 0) receiveSlice()
    proceed()
  }

  /** Receives all bytes that may be received now. */
  function proceed(): void {
    while (!isStopped && !isPaused && length > 0 && hasTurn()) receiveSlice()
    if (end === undefined || isStopped || length > 0) return
    isStopped = true
    closed(end.error)
  }

  function receiveSlice(): void {
    const block = blocks[0]
    if (block === undefined) return
    const sliceBytesMax = bytesWithoutTurn() || readBytesMax
    const slice = block.length <= sliceBytesMax ? block : block.subarray(0, sliceBytesMax)
    if (slice === block) blocks.shift()
    else blocks[0] = block.subarray(sliceBytesMax)
    length -= slice.length
    if (isSocketPaused && end === undefined && weight() <= heldBytesMax / 2) {
      isSocketPaused = false
      socket.resume()
    }
    receive(slice)
  }

  function weight(): number {
    return length + blocks.length * blockBytes
  }

  return {
    isIdle: () => length === 0 && end === undefined,
    hasPendingBytes: () => length > 0,
    push(bytes) {
      if (isStopped) return
      if (length === 0 && !isPaused && bytes.length <= tokenBytes) return receive(bytes)
      blocks.push(bytes)
      length += bytes.length
      proceed()
      if (isSocketPaused || isStopped || weight() <= heldBytesMax) return
      isSocketPaused = true
      socket.pause()
    },
    close(error) {
      end ??= { error }
      proceed()
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      proceed()
    },
    stop() {
      isStopped = true
      blocks.length = length = 0
    },
  }
}
