import { readBytesMax } from './read-scheduler.ts'
import {
  responseMemoryError,
  TransportError,
  type BodyReceiver,
  type MemoryReservation,
  type UpstreamBody,
} from './transport.ts'

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
  readonly isReadWhole: boolean
  /** Adds a piece. @throws {TransportError} `resources` when the reader has no memory for it */
  push(piece: Uint8Array): void
  /** Ends the body. Buffered pieces can still be read. */
  end(): void
  /** Fails the body. Buffered pieces can still be read when `keepsPieces`. */
  fail(error: TransportError, keepsPieces: boolean): void
}

interface Waiter<Value> {
  resolve(value: Value): void
  reject(error: TransportError): void
}

/**
 * Makes a queue of pieces between one connection and one reader, with back-pressure. Pieces are neither copied nor
 * joined, except by `readAll`.
 */
export function incomingBody(source: BodySource, endsWithConnection: boolean): IncomingBody {
  return new PieceQueue(source, endsWithConnection)
}

/** A class, since every request has one: closures would take five times its memory. */
class PieceQueue implements IncomingBody, UpstreamBody {
  readonly endsWithConnection: boolean
  readonly #source: BodySource
  #pieces: Uint8Array[] = []
  #buffered = 0
  #isPaused = false
  #isOpen = true
  #error: TransportError | undefined
  /** The reader waits for a piece. */
  #next: BodyReceiver | undefined
  /** The reader waits for the whole body: there is no back-pressure. */
  #whole: Waiter<Uint8Array> | undefined
  #reservation: MemoryReservation | undefined

  constructor(source: BodySource, endsWithConnection: boolean) {
    this.#source = source
    this.endsWithConnection = endsWithConnection
  }

  get body(): UpstreamBody {
    return this
  }

  get isReadWhole(): boolean {
    return this.#whole !== undefined
  }

  read(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.readTo({
        receive(bytes) {
          resolve(bytes)
          return false
        },
        fail: reject,
      })
    })
  }

  readTo(receiver: BodyReceiver): void {
    const piece = this.#takeOne()
    const error = this.#error
    if (piece === undefined && error !== undefined) queueMicrotask(() => receiver.fail(error))
    else if (piece !== undefined || !this.#isOpen) queueMicrotask(() => this.#give(receiver, piece))
    else this.#next = receiver
  }

  #give(receiver: BodyReceiver, piece: Uint8Array | undefined): void {
    if (receiver.receive(piece)) this.readTo(receiver)
  }

  readAll(reservation?: MemoryReservation): Promise<Uint8Array> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (!this.#isOpen) return Promise.resolve(this.#takeAll())
    this.#reservation = reservation
    return new Promise((resolve, reject) => {
      this.#whole = { resolve, reject }
      this.#resume()
    })
  }

  hasPendingBytes(): boolean {
    return this.#isOpen && this.#source.hasPendingBytes()
  }

  cancel(): void {
    if (this.#isOpen) return this.#source.drop()
    if (this.#buffered > 0) this.#error ??= new TransportError('aborted', 'Reading the response was cancelled')
    this.#drop()
  }

  push(piece: Uint8Array): void {
    if (!this.#isOpen) return
    const waiting = this.#next
    if (waiting !== undefined) {
      this.#next = undefined
      return this.#give(waiting, piece)
    }
    if (this.#reservation?.reserve(piece.length) === false) throw responseMemoryError()
    this.#pieces.push(piece)
    this.#buffered += piece.length
    if (this.#isPaused || this.#whole !== undefined) return
    if (this.#buffered < readBytesMax && this.#pieces.length < piecesMax) return
    this.#isPaused = true
    this.#source.pause()
  }

  end(): void {
    if (!this.#isOpen) return
    // Otherwise the connection's next body would wait for the reader of this one.
    if (this.#isPaused) this.#resume()
    this.#isOpen = false
    this.#next?.receive(undefined)
    this.#whole?.resolve(this.#takeAll())
    this.#forgetReader()
  }

  fail(error: TransportError, keepsPieces: boolean): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#error = error
    if (!keepsPieces) this.#drop()
    this.#next?.fail(error)
    this.#whole?.reject(error)
    this.#forgetReader()
  }

  #forgetReader(): void {
    this.#next = undefined
    this.#whole = undefined
  }

  #takeOne(): Uint8Array | undefined {
    const piece = this.#pieces.shift()
    if (piece === undefined) return undefined
    this.#buffered -= piece.length
    if (this.#isPaused && this.#pieces.length === 0) this.#resume()
    return piece
  }

  #takeAll(): Uint8Array {
    const [first] = this.#pieces
    const all = first !== undefined && this.#pieces.length === 1 ? first : new Uint8Array(Buffer.concat(this.#pieces))
    this.#drop()
    return all
  }

  #drop(): void {
    this.#pieces = []
    this.#buffered = 0
  }

  #resume(): void {
    this.#isPaused = false
    if (this.#isOpen) this.#source.resume()
  }
}
