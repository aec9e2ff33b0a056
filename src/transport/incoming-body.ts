import { readBytesMax } from './read-scheduler.ts'
import { responseMemoryError, TransportError, type UpstreamBody } from './transport.ts'

/** Most pieces buffered for a slow reader; of larger pieces, {@link readBytesMax} bytes. */
const piecesMax = 64

/** The connection that a body controls. Its methods are called only until the body has ended or failed. */
export interface BodySource {
  /** Pushes no more pieces, since the reader is slow. */
  pause(): void
  resume(): void
  /** Drops the rest of the body: the reader has cancelled. */
  drop(): void
  /** Received bytes wait to be processed. */
  hasPendingBytes(): boolean
}

/** The connection's side of a response body. `body` is the reader's side. */
export interface IncomingBody {
  readonly body: UpstreamBody
  /** The reader has called `readAll`. */
  isReadWhole(): boolean
  /** Adds a piece. @throws {TransportError} `resources` when the reader has no memory for it */
  push(piece: Uint8Array): void
  /** Ends the body. Buffered pieces can still be read. */
  end(): void
  /** Fails the body. Buffered pieces can still be read when `keepsPieces`. */
  fail(error: TransportError, keepsPieces: boolean): void
}

interface Waiter {
  resolve(piece: Uint8Array | undefined): void
  reject(error: TransportError): void
}

/**
 * Makes a queue of pieces between one connection and one reader, with back-pressure. Pieces are neither copied nor
 * joined, except by `readAll`.
 */
export function incomingBody(source: BodySource, endsWithConnection: boolean): IncomingBody {
  let pieces: Uint8Array[] = []
  let buffered = 0
  let isPaused = false
  let isOpen = true
  let error: TransportError | undefined
  let waiter: Waiter | undefined
  /** The reader has called `readAll`: no back-pressure, and `waiter` is resolved at the end only. */
  let readsAll = false
  let reserve = (_bytes: number): boolean => true

  function close(): Waiter | undefined {
    isOpen = false
    const waiting = waiter
    waiter = undefined
    return waiting
  }

  function takeAll(): Uint8Array {
    const all = pieces.length === 1 ? (pieces[0] ?? new Uint8Array(0)) : new Uint8Array(Buffer.concat(pieces))
    drop()
    return all
  }

  function drop(): void {
    pieces = []
    buffered = 0
  }

  function takeOne(): Uint8Array | undefined {
    const piece = pieces.shift()
    if (piece === undefined) return undefined
    buffered -= piece.length
    if (isPaused && pieces.length === 0) resume()
    return piece
  }

  function resume(): void {
    isPaused = false
    if (isOpen) source.resume()
  }

  const body: UpstreamBody = {
    endsWithConnection,
    read() {
      const piece = takeOne()
      if (piece !== undefined) return Promise.resolve(piece)
      if (error !== undefined) return Promise.reject(error)
      if (!isOpen) return Promise.resolve(undefined)
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject }
      })
    },
    readAll(reservePiece = reserve) {
      if (error !== undefined) return Promise.reject(error)
      if (!isOpen) return Promise.resolve(takeAll())
      return new Promise((resolve, reject) => {
        readsAll = true
        reserve = reservePiece
        waiter = { resolve: () => resolve(takeAll()), reject }
        resume()
      })
    },
    hasPendingBytes: () => isOpen && source.hasPendingBytes(),
    cancel() {
      if (isOpen) return source.drop()
      if (buffered > 0) error ??= new TransportError('aborted', 'Reading the response was cancelled')
      drop()
    },
  }

  return {
    body,
    isReadWhole: () => readsAll,
    push(piece) {
      if (!isOpen) return
      if (waiter !== undefined && !readsAll) {
        const waiting = waiter
        waiter = undefined
        return waiting.resolve(piece)
      }
      if (readsAll && !reserve(piece.length)) throw responseMemoryError()
      pieces.push(piece)
      buffered += piece.length
      if (isPaused || readsAll || (buffered < readBytesMax && pieces.length < piecesMax)) return
      isPaused = true
      source.pause()
    },
    end() {
      if (!isOpen) return
      // Otherwise the connection's next body would wait for the reader of this one.
      if (isPaused) resume()
      close()?.resolve(undefined)
    },
    fail(reason, keepsPieces) {
      if (!isOpen) return
      error = reason
      if (!keepsPieces) drop()
      close()?.reject(reason)
    },
  }
}
