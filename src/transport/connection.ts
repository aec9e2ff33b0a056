import type { Socket } from 'bun'
import { bodyDecoder, type BodyDecoder } from './body-framing.ts'
import { decodedBody } from './content-decoding.ts'
import { incomingBody, type BodySource, type IncomingBody } from './incoming-body.ts'
import { readBytesMax, type ReadScheduler } from './read-scheduler.ts'
import { receiveQueue, tokenBytes, type ReceiveQueue, type BlockReceiver } from './receive-queue.ts'
import { keepAliveMs, responseHeadReader, type ResponseHead } from './response-head.ts'
import type { SocketUser } from './socket-user.ts'
import { TransportError, type UpstreamRequest, type UpstreamResponse, type UpstreamSignal } from './transport.ts'

/** Requests up to this size, in bytes, are sent in one write; also the size of `scratch`. */
export const joinedBytesMax = 64 * 1024

/** Most bytes written in one turn of the event loop: about a millisecond's work. */
const writtenPerTurnMax = 1024 * 1024

/** The first bytes of a body that is read as a whole are received without the scheduler. */
const bodyBytesWithoutTurn = 1024 * 1024

/** A request to send, and the callbacks for its outcome. */
export interface OutgoingRequest {
  readonly method: UpstreamRequest['method']
  readonly connectMs: number
  readonly bodyBytesMax: number
  /** The body. Emptied when the response begins, to free its memory: the request is not sent again after that. */
  body: readonly Uint8Array[]
  /** The request's head without its Content-Length and its blank line. */
  readonly head: Uint8Array
  readonly signal: UpstreamSignal
  resolve(response: UpstreamResponse): void
  reject(error: TransportError): void
}

/** Callbacks of a connection. */
export interface ConnectionOwner {
  /** The connection is idle and reusable. @param keepMs milliseconds the upstream keeps it, when announced */
  released(connection: Connection, keepMs: number | undefined): void
  closed(connection: Connection): void
  /** The reused connection closed before the first response byte (failover.md row 5). Called after `closed`. */
  stale(outgoing: OutgoingRequest): void
}

/** The part of a socket that a connection uses. */
export type ConnectionSocket = Pick<Socket, 'write' | 'pause' | 'resume' | 'terminate'>

/** One socket to an upstream, with at most one request at a time. */
export interface Connection extends SocketUser {
  /** Sends a request; its callbacks receive the outcome. Must be called on an idle connection only. */
  start(outgoing: OutgoingRequest, isReused: boolean): void
  /** Closes the connection at once. */
  destroy(): void
}

/** State of the request in progress. */
interface ActiveRequest {
  readonly outgoing: OutgoingRequest
  readonly isReused: boolean
  /** Pieces that are not written yet, in order. */
  unsent: readonly Uint8Array[]
  /** Bytes of the first unsent piece that are written. */
  offset: number
  /** The response began before the whole request was sent. */
  isCutShort: boolean
  hasAnswered: boolean
  head: ResponseHead | undefined
  decoder: BodyDecoder | undefined
  incoming: IncomingBody | undefined
  bodyBytes: number
}

const nothing: readonly Uint8Array[] = []

/**
 * Makes a connection over a socket that is open and, if secure, authorized.
 *
 * @param scratch {@link joinedBytesMax} bytes that each request overwrites; shared by all connections
 * @param scheduler shared by all connections
 */
export function connection(
  socket: ConnectionSocket,
  owner: ConnectionOwner,
  scratch: Buffer,
  scheduler: ReadScheduler,
): Connection {
  return new UpstreamConnection(socket, owner, scratch, scheduler)
}

/** A class, since every open request has one: closures would take more memory. */
class UpstreamConnection implements Connection, BodySource, BlockReceiver {
  readonly #socket: ConnectionSocket
  readonly #owner: ConnectionOwner
  readonly #scratch: Buffer
  readonly #headReader = responseHeadReader()
  readonly #queue: ReceiveQueue
  #active: ActiveRequest | undefined
  #isClosed = false
  #isSendDeferred = false

  constructor(socket: ConnectionSocket, owner: ConnectionOwner, scratch: Buffer, scheduler: ReadScheduler) {
    this.#socket = socket
    this.#owner = owner
    this.#scratch = scratch
    this.#queue = receiveQueue({ scheduler, socket, receiver: this })
  }

  readonly #onAbort = (): void => this.drop()

  readonly #deliver = (piece: Uint8Array): void => {
    if (this.#active === undefined) return
    this.#active.bodyBytes += piece.length
    if (this.#active.bodyBytes > this.#active.outgoing.bodyBytesMax) throw tooLarge()
    this.#active.incoming?.push(piece)
  }

  opened(): void {}

  secured(): void {}

  refused(): void {}

  closed(error: Error | undefined): void {
    this.#queue.close(error)
  }

  pause(): void {
    this.#queue.pause()
  }

  resume(): void {
    this.#queue.resume()
  }

  hasPendingBytes(): boolean {
    return this.#queue.hasPendingBytes()
  }

  start(outgoing: OutgoingRequest, isReused: boolean): void {
    const { signal, method, body, head } = outgoing
    const current: ActiveRequest = {
      outgoing,
      isReused,
      unsent: nothing,
      offset: 0,
      isCutShort: false,
      hasAnswered: false,
      head: undefined,
      decoder: undefined,
      incoming: undefined,
      bodyBytes: 0,
    }
    this.#active = current
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) return this.drop()
    let bodyLength = 0
    for (const piece of body) bodyLength += piece.length
    const headEnd = method === 'GET' && bodyLength === 0 ? '\r\n' : `content-length: ${bodyLength}\r\n\r\n`
    const length = head.length + headEnd.length + bodyLength
    if (length <= joinedBytesMax) return this.#sendJoined(current, headEnd, length)
    current.unsent = [head, Buffer.from(headEnd), ...body]
    this.#send(current)
  }

  #sendJoined(current: ActiveRequest, headEnd: string, length: number): void {
    const { head, body } = current.outgoing
    this.#scratch.set(head)
    let end = head.length + this.#scratch.write(headEnd, head.length, 'latin1')
    for (const piece of body) {
      this.#scratch.set(piece, end)
      end += piece.length
    }
    const written = this.#socket.write(this.#scratch, 0, length)
    if (written === length) return
    if (written < 0) return this.#queue.close(undefined)
    current.unsent = [Buffer.from(this.#scratch.subarray(written, length))]
  }

  /** Writes unsent pieces until the socket is full. Pauses for one turn after {@link writtenPerTurnMax} bytes. */
  #send(current: ActiveRequest): void {
    let allowance = writtenPerTurnMax
    let piece = current.unsent[0]
    while (piece !== undefined) {
      if (current.offset === piece.length) {
        current.unsent = current.unsent.slice(1)
        current.offset = 0
        piece = current.unsent[0]
        continue
      }
      if (allowance === 0) {
        this.#isSendDeferred = true
        setImmediate(() => this.#resumeSending())
        return
      }
      const length = Math.min(piece.length - current.offset, allowance)
      const written = this.#socket.write(piece, current.offset, length)
      if (written < 0) return this.#queue.close(undefined)
      current.offset += written
      allowance -= written
      if (written < length) return
    }
  }

  #resumeSending(): void {
    this.#isSendDeferred = false
    this.drained()
  }

  drained(): void {
    if (this.#active !== undefined && !this.#isSendDeferred) this.#send(this.#active)
  }

  received(bytes: Buffer): void {
    // Bytes on an idle connection would be taken for the response to the next request.
    if (this.#active === undefined) this.destroy()
    else this.#queue.push(bytes)
  }

  /**
   * Bytes that may be received now without a turn of the scheduler. Heads, and the beginning of a body that is read as
   * a whole, cause little work.
   */
  bytesWithoutTurn(): number {
    if (this.#active?.incoming === undefined) return tokenBytes
    return this.#active.incoming.isReadWhole && this.#active.bodyBytes < bodyBytesWithoutTurn ? readBytesMax : 0
  }

  receive(bytes: Buffer): void {
    const current = this.#active
    if (current === undefined) return this.destroy()
    try {
      current.hasAnswered = true
      if (current.incoming !== undefined) return this.#receiveBody(current, bytes, 0)
      const read = this.#headReader.push(bytes)
      if (read === undefined) return
      this.#beginBody(current, read.head)
      this.#receiveBody(current, read.bytes, read.end)
    } catch (error) {
      this.#fail(
        error instanceof TransportError
          ? error
          : new TransportError('malformed', 'The response could not be read', error),
        false,
      )
    }
  }

  #beginBody(current: ActiveRequest, head: ResponseHead): void {
    const { bodyBytesMax } = current.outgoing
    if (head.contentLength > bodyBytesMax) throw tooLarge()
    const incoming = incomingBody(this, head.framing === 'connection')
    const body = decodedBody(incoming.body, head.headers.get('content-encoding'), bodyBytesMax)
    // The upstream answered before the whole request was sent: the rest is not sent.
    current.isCutShort = current.unsent.length > 0
    current.unsent = nothing
    current.outgoing.body = nothing
    current.head = head
    current.decoder = bodyDecoder(head.framing, head.contentLength)
    current.incoming = incoming
    current.outgoing.resolve({ status: head.status, headers: head.headers, body })
  }

  #receiveBody(current: ActiveRequest, bytes: Buffer, from: number): void {
    const { decoder, head, incoming } = current
    if (decoder === undefined || head === undefined || incoming === undefined) return
    const end = decoder.push(bytes, from, this.#deliver)
    if (!decoder.isComplete || this.#active !== current) return
    const isReusable = head.isReusable && !current.isCutShort && end === bytes.length && this.#queue.isIdle()
    this.#finish()
    if (!isReusable) this.destroy()
    incoming.end()
    if (isReusable) this.#owner.released(this, keepAliveMs(head.headers))
  }

  /** The reader of the body has cancelled, or the request was aborted. */
  drop(): void {
    this.#fail(new TransportError('aborted', 'The request was aborted'), false)
  }

  /**
   * Ends the connection, and the exchange with an error.
   *
   * @param keepsPieces the reader still gets what has arrived before the error
   */
  #fail(error: TransportError, keepsPieces: boolean): void {
    const failed = this.#finish()
    this.destroy()
    if (failed === undefined) return
    if (failed.incoming === undefined) failed.outgoing.reject(error)
    else failed.incoming.fail(error, keepsPieces)
  }

  /** Detaches the request from the connection and returns it. */
  #finish(): ActiveRequest | undefined {
    const finished = this.#active
    if (finished === undefined) return undefined
    this.#active = undefined
    finished.outgoing.signal.removeEventListener('abort', this.#onAbort)
    return finished
  }

  destroy(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.stop()
    this.#socket.terminate()
    this.#owner.closed(this)
  }

  ended(error: Error | undefined): void {
    if (this.#isClosed) return
    const cut = this.#finish()
    this.destroy()
    if (cut === undefined) return
    if (cut.incoming === undefined) {
      if (cut.isReused && !cut.hasAnswered) this.#owner.stale(cut.outgoing)
      else
        cut.outgoing.reject(
          new TransportError('reset', 'The upstream closed the connection before the response', error),
        )
    } else if (cut.head?.framing === 'connection' && error === undefined) {
      cut.incoming.end()
    } else {
      cut.incoming.fail(
        new TransportError('short_body', 'The upstream closed the connection before the end of the response', error),
        true,
      )
    }
  }
}

function tooLarge(): TransportError {
  return new TransportError('too_large', 'The response is larger than allowed')
}
