import { sliceBytes } from './turns.ts'
import type { Turns } from './turns.ts'

/** Bytes held that nobody has looked at before the upstream is held back. */
export const heldBytesMax = 256 * 1024

/**
 * So little is received at once: heads, and tokens as they come. The event loop looks at a thousand sockets at most
 * before others have their turn.
 */
export const tokenBytes = 2 * 1024

/** What a block takes beside its bytes, however small it is. */
const blockBytes = 1024

/** What {@link inflow} needs. */
export interface InflowOptions {
  readonly turns: Turns
  /** The socket whose bytes they are. */
  readonly socket: { pause(): unknown; resume(): unknown }
  /** Takes the next bytes. May hold the inflow back, or stop it. */
  readonly receive: (bytes: Buffer) => void
  /** Everything has been received, and the socket is closed. */
  readonly closed: (error: Error | undefined) => void
  /** Most bytes that may be received at a time without waiting for a turn, because they make little work; 0: none. */
  readonly freeBytes: () => number
}

/** Bytes on their way from a socket to whoever looks at them. */
export interface Inflow {
  /** Nothing waits to be received, nor will anything come. */
  isDry(): boolean
  /** Something waits to be received. */
  hasArrived(): boolean
  push(bytes: Buffer): void
  /** The socket is closed; `closed` is told when what came before has been received. */
  close(error: Error | undefined): void
  /** Nothing is received until `release`. */
  hold(): void
  release(): void
  /** Nothing is received any more. */
  stop(): void
}

/**
 * Hands on what arrives: at once where it is little, and in slices of {@link sliceBytes}, each in its turn, where it is
 * much. What upstreams send as fast as they can is looked at no faster than it is read, and does not keep the event
 * loop from others.
 */
export function inflow({ turns, socket, receive, closed, freeBytes }: InflowOptions): Inflow {
  const blocks: Buffer[] = []
  let length = 0
  let isHeld = false
  let isInQueue = false
  let isPaused = false
  let isStopped = false
  let end: { readonly error: Error | undefined } | undefined

  /** Whether the next slice may be received now; otherwise `granted` is called when it may. */
  function hasTurn(): boolean {
    if (freeBytes() > 0) return true
    if (isInQueue) return false
    isInQueue = !turns.take(Math.min(length, sliceBytes), granted)
    return !isInQueue
  }

  function granted(): void {
    isInQueue = false
    if (!isStopped && !isHeld && length > 0) receiveSlice()
    go()
  }

  /** Receives what may be received now. */
  function go(): void {
    while (!isStopped && !isHeld && length > 0 && hasTurn()) receiveSlice()
    if (end === undefined || isStopped || length > 0) return
    isStopped = true
    closed(end.error)
  }

  function receiveSlice(): void {
    const block = blocks[0]
    if (block === undefined) return
    const most = freeBytes() || sliceBytes
    const slice = block.length <= most ? block : block.subarray(0, most)
    if (slice === block) blocks.shift()
    else blocks[0] = block.subarray(most)
    length -= slice.length
    if (isPaused && end === undefined && weight() <= heldBytesMax / 2) {
      isPaused = false
      socket.resume()
    }
    receive(slice)
  }

  function weight(): number {
    return length + blocks.length * blockBytes
  }

  return {
    isDry: () => length === 0 && end === undefined,
    hasArrived: () => length > 0,
    push(bytes) {
      if (isStopped) return
      if (length === 0 && !isHeld && bytes.length <= tokenBytes) return receive(bytes)
      blocks.push(bytes)
      length += bytes.length
      go()
      if (isPaused || isStopped || weight() <= heldBytesMax) return
      isPaused = true
      socket.pause()
    },
    close(error) {
      end ??= { error }
      go()
    },
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
      go()
    },
    stop() {
      isStopped = true
      blocks.length = length = 0
    },
  }
}
