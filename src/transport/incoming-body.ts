import { TransportError } from './transport.ts'
import type { UpstreamBody } from './transport.ts'

/** Bytes held for a reader that does not read before the upstream is held back. */
export const bufferedBytesMax = 256 * 1024

/** What a body may ask of the connection it comes from. Called only while the body has neither ended nor failed. */
export interface BodySource {
  pause(): void
  resume(): void
  /** The reader wants no more of it. */
  drop(): void
}

/** A response body as the connection sees it: pieces go in, `body` is what the reader holds. */
export interface IncomingBody {
  readonly body: UpstreamBody
  push(piece: Uint8Array): void
  /** No more pieces: the framing is satisfied. What was pushed can still be read. */
  end(): void
  /** No more pieces: something broke. What was pushed can still be read when `keepsPieces`. */
  fail(error: TransportError, keepsPieces: boolean): void
}

interface Waiter {
  resolve(piece: Uint8Array | undefined): void
  reject(error: TransportError): void
}

/**
 * A queue of pieces between one connection and one reader, with back-pressure.
 * The pieces are neither copied nor joined, unless the reader asks for the whole.
 */
export function incomingBody(source: BodySource, endsWithConnection: boolean): IncomingBody {
  let pieces: Uint8Array[] = []
  let first = 0
  let buffered = 0
  let isPaused = false
  let isOpen = true
  let error: TransportError | undefined
  let waiter: Waiter | undefined
  /** The reader wants everything at once: hold nothing back, and wake it at the end. */
  let readsAll = false

  function close(): Waiter | undefined {
    isOpen = false
    const waiting = waiter
    waiter = undefined
    return waiting
  }

  function takeAll(): Uint8Array {
    const all = pieces.length - first === 1 ? (pieces[first] ?? new Uint8Array(0)) : new Uint8Array(Buffer.concat(pieces.slice(first)))
    drop()
    return all
  }

  function drop(): void {
    pieces = []
    first = 0
    buffered = 0
  }

  function takeOne(): Uint8Array | undefined {
    const piece = pieces[first]
    if (piece === undefined) return undefined
    buffered -= piece.length
    if (++first === pieces.length) {
      pieces.length = 0
      first = 0
    } else if (first === 1_024) {
      pieces = pieces.slice(first)
      first = 0
    }
    if (isPaused && buffered <= bufferedBytesMax / 2) unpause()
    return piece
  }

  function unpause(): void {
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
    readAll() {
      if (error !== undefined) return Promise.reject(error)
      if (!isOpen) return Promise.resolve(takeAll())
      return new Promise((resolve, reject) => {
        readsAll = true
        waiter = { resolve: () => resolve(takeAll()), reject }
        if (isPaused) unpause()
      })
    },
    cancel() {
      if (isOpen) return source.drop()
      if (buffered > 0) error ??= new TransportError('aborted', "The upstream's answer was dropped")
      drop()
    },
  }

  return {
    body,
    push(piece) {
      if (!isOpen) return
      if (waiter !== undefined && !readsAll) {
        const waiting = waiter
        waiter = undefined
        return waiting.resolve(piece)
      }
      pieces.push(piece)
      buffered += piece.length
      if (buffered > bufferedBytesMax && !isPaused && !readsAll) {
        isPaused = true
        source.pause()
      }
    },
    end() {
      if (!isOpen) return
      // The connection may carry another exchange, whose body would wait for this one's reader.
      if (isPaused) unpause()
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
