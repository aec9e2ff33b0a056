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

/** The receiver of a queue's bytes. */
export interface BlockReceiver {
  /** Receives the next bytes. May pause or stop the queue. */
  receive(bytes: Buffer): void
  /** The socket is closed, and all bytes have been received. */
  ended(error: Error | undefined): void
  /** Most bytes that may be received at a time without the scheduler, because they cause little work; 0: none. */
  bytesWithoutTurn(): number
}

export interface ReceiveQueueOptions {
  readonly scheduler: ReadScheduler
  /** The socket to pause while the queue is full. */
  readonly socket: { pause(): unknown; resume(): unknown }
  readonly receiver: BlockReceiver
}

/** A queue of bytes between a socket and its receiver. */
export interface ReceiveQueue {
  /** The queue is empty, and the socket is open. */
  isIdle(): boolean
  /** Bytes wait to be received. */
  hasPendingBytes(): boolean
  push(bytes: Buffer): void
  /** The socket was closed. `ended` is called once all bytes have been received. */
  close(error: Error | undefined): void
  /** Nothing is received until `resume`. */
  pause(): void
  resume(): void
  /** Discards all bytes; nothing is received any more, and `ended` is not called. */
  stop(): void
}

/**
 * Makes a queue that passes on small blocks at once, and large ones in slices of {@link readBytesMax}, each when the
 * scheduler permits. A fast upstream is slowed to the speed of its reader and does not block the event loop.
 */
export function receiveQueue(options: ReceiveQueueOptions): ReceiveQueue {
  return new BlockQueue(options)
}

/** A class, since every connection has one: closures would take more memory. */
class BlockQueue implements ReceiveQueue {
  readonly #scheduler: ReadScheduler
  readonly #socket: ReceiveQueueOptions['socket']
  readonly #receiver: BlockReceiver
  readonly #blocks: Buffer[] = []
  #length = 0
  #isPaused = false
  #isRequested = false
  #isSocketPaused = false
  #isStopped = false
  #end: { readonly error: Error | undefined } | undefined

  constructor({ scheduler, socket, receiver }: ReceiveQueueOptions) {
    this.#scheduler = scheduler
    this.#socket = socket
    this.#receiver = receiver
  }

  isIdle(): boolean {
    return this.#length === 0 && this.#end === undefined
  }

  hasPendingBytes(): boolean {
    return this.#length > 0
  }

  push(bytes: Buffer): void {
    if (this.#isStopped) return
    if (this.#length === 0 && !this.#isPaused && bytes.length <= tokenBytes) return this.#receiver.receive(bytes)
    this.#blocks.push(bytes)
    this.#length += bytes.length
    this.#proceed()
    if (this.#isSocketPaused || this.#isStopped || this.#weight() <= heldBytesMax) return
    this.#isSocketPaused = true
    this.#socket.pause()
  }

  close(error: Error | undefined): void {
    this.#end ??= { error }
    this.#proceed()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#proceed()
  }

  stop(): void {
    this.#isStopped = true
    this.#blocks.length = this.#length = 0
  }

  /** Whether the next slice may be received now; otherwise `#granted` is called later. */
  #hasTurn(): boolean {
    if (this.#receiver.bytesWithoutTurn() > 0) return true
    if (this.#isRequested) return false
    this.#isRequested = !this.#scheduler.take(Math.min(this.#length, readBytesMax), () => this.#granted())
    return !this.#isRequested
  }

  #granted(): void {
    this.#isRequested = false
    if (!this.#isStopped && !this.#isPaused && this.#length > 0) this.#receiveSlice()
    this.#proceed()
  }

  /** Receives all bytes that may be received now. */
  #proceed(): void {
    while (!this.#isStopped && !this.#isPaused && this.#length > 0 && this.#hasTurn()) this.#receiveSlice()
    if (this.#end === undefined || this.#isStopped || this.#length > 0) return
    this.#isStopped = true
    this.#receiver.ended(this.#end.error)
  }

  #receiveSlice(): void {
    const block = this.#blocks[0]
    if (block === undefined) return
    const sliceBytesMax = this.#receiver.bytesWithoutTurn() || readBytesMax
    const slice = block.length <= sliceBytesMax ? block : block.subarray(0, sliceBytesMax)
    if (slice === block) this.#blocks.shift()
    else this.#blocks[0] = block.subarray(sliceBytesMax)
    this.#length -= slice.length
    if (this.#isSocketPaused && this.#end === undefined && this.#weight() <= heldBytesMax / 2) {
      this.#isSocketPaused = false
      this.#socket.resume()
    }
    this.#receiver.receive(slice)
  }

  #weight(): number {
    return this.#length + this.#blocks.length * blockBytes
  }
}
