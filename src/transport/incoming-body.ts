import { noRoomForAnswer, TransportError } from './transport.ts'
import type { UpstreamBody } from './transport.ts'
import { sliceBytes } from './turns.ts'

/** Most pieces held for a reader that does not read; of larger ones, {@link sliceBytes}. */
const piecesMost = 64

/** What a body may ask of the connection it comes from. Called only while the body has neither ended nor failed. */
export interface BodySource {
  /** No more pieces for now: the reader has one that it does not read. */
  hold(): void
  release(): void
  /** The reader wants no more of it. */
  drop(): void
  /** Bytes wait for their turn. */
  hasArrived(): boolean
}

/** A response body as the connection sees it: pieces go in, `body` is what the reader holds. */
export interface IncomingBody {
  readonly body: UpstreamBody
  /** The reader wants everything at once. */
  isReadWhole(): boolean
  /** @throws {TransportError} `resources` when the reader may not hold it */
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
 * A queue of pieces between one connection and one reader, with back-pressure. The pieces are neither copied nor
 * joined, unless the reader asks for the whole.
 */
export function incomingBody(source: BodySource, endsWithConnection: boolean): IncomingBody {
  let pieces: Uint8Array[] = []
  let buffered = 0
  let isHeld = false
  let isOpen = true
  let error: TransportError | undefined
  let waiter: Waiter | undefined
  /** The reader wants everything at once: hold nothing back, and wake it at the end. */
  let readsAll = false
  let mayHold = (_bytes: number): boolean => true

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
    if (isHeld && pieces.length === 0) release()
    return piece
  }

  function release(): void {
    isHeld = false
    if (isOpen) source.release()
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
    readAll(mayHoldPiece = mayHold) {
      if (error !== undefined) return Promise.reject(error)
      if (!isOpen) return Promise.resolve(takeAll())
      return new Promise((resolve, reject) => {
        readsAll = true
        mayHold = mayHoldPiece
        waiter = { resolve: () => resolve(takeAll()), reject }
        release()
      })
    },
    hasArrived: () => isOpen && source.hasArrived(),
    cancel() {
      if (isOpen) return source.drop()
      if (buffered > 0) error ??= new TransportError('aborted', "The upstream's answer was dropped")
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
      if (readsAll && !mayHold(piece.length)) throw noRoomForAnswer()
      pieces.push(piece)
      buffered += piece.length
      if (isHeld || readsAll || (buffered < sliceBytes && pieces.length < piecesMost)) return
      isHeld = true
      source.hold()
    },
    end() {
      if (!isOpen) return
      // The connection may carry another exchange, whose body would wait for this one's reader.
      if (isHeld) release()
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
