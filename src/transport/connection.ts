import type { Socket } from 'bun'
import { bodyDecoder } from './body-framing.ts'
import type { BodyDecoder } from './body-framing.ts'
import { decodedBody } from './content-decoding.ts'
import { incomingBody } from './incoming-body.ts'
import type { BodySource, IncomingBody } from './incoming-body.ts'
import { inflow, tokenBytes } from './inflow.ts'
import { keepAliveMs, responseHeadReader } from './response-head.ts'
import type { ResponseHead } from './response-head.ts'
import type { SocketUser } from './socket-user.ts'
import { TransportError } from './transport.ts'
import type { UpstreamRequest, UpstreamResponse, UpstreamSignal } from './transport.ts'
import { sliceBytes } from './turns.ts'
import type { Turns } from './turns.ts'

/** Requests up to this size, in bytes, go out in one write; `scratch` holds as much. */
export const joinedBytesMax = 64 * 1024

/** Most bytes written before others get their turn: about a millisecond's work. */
const writtenPerTurnMax = 1024 * 1024

/** A body that is read as a whole waits for no turns until it has so much. */
const freeBodyBytes = 1024 * 1024

/** A request on its way, and whom to tell how it went. */
export interface Exchange {
  readonly method: UpstreamRequest['method']
  readonly connectMs: number
  readonly bodyBytesMax: number
  /** What is to be sent. Empty once the answer begins: nobody sends it again, and the answer may be long. */
  body: readonly Uint8Array[]
  /** The request's head without its Content-Length and its blank line. */
  readonly head: Uint8Array
  readonly signal: UpstreamSignal
  resolve(response: UpstreamResponse): void
  reject(error: TransportError): void
}

/** What a connection tells its owner. */
export interface ConnectionOwner {
  /** The exchange is done and the connection can carry another. @param keepMs how long, when the upstream said so */
  released(connection: Connection, keepMs: number | undefined): void
  closed(connection: Connection): void
  /**
   * The connection was reused and died before the first byte of the response (failover.md row 5). `closed` was called
   * before.
   */
  stale(exchange: Exchange): void
}

/** What a connection needs of its socket. */
export type ConnectionSocket = Pick<Socket, 'write' | 'pause' | 'resume' | 'terminate'>

/** One socket to an upstream, carrying one exchange at a time. */
export interface Connection extends SocketUser {
  /** Sends a request; the outcome goes to the exchange. Only when no other is being carried. */
  carry(exchange: Exchange, isReused: boolean): void
  /** Drops the connection at once. */
  destroy(): void
}

/** The exchange being carried. */
interface Progress {
  readonly exchange: Exchange
  readonly isReused: boolean
  /** What could not be written yet, in order. */
  unsent: readonly Uint8Array[]
  /** How much of the first unsent piece was written. */
  offset: number
  /** The sending was given up before its end. */
  isCutShort: boolean
  hasAnswered: boolean
  head: ResponseHead | undefined
  decoder: BodyDecoder | undefined
  incoming: IncomingBody | undefined
  bodyBytes: number
}

const nothing: readonly Uint8Array[] = []

/**
 * A connection over a socket that is open and, if secure, authorized.
 *
 * @param scratch {@link joinedBytesMax} bytes that each request overwrites; connections share it
 * @param turns those of the event loop; connections share them
 */
export function connection(
  socket: ConnectionSocket,
  owner: ConnectionOwner,
  scratch: Buffer,
  turns: Turns,
): Connection {
  const headReader = responseHeadReader()
  const flow = inflow({ turns, socket, receive, closed: ended, freeBytes })
  const source: BodySource = { hold: flow.hold, release: flow.release, drop: onAbort, hasArrived: flow.hasArrived }
  let progress: Progress | undefined
  let isClosed = false
  let isWaitingItsTurn = false

  function carry(exchange: Exchange, isReused: boolean): void {
    const { signal, method, body, head } = exchange
    const current: Progress = {
      exchange,
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
    progress = current
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) return onAbort()
    let bodyLength = 0
    for (const piece of body) bodyLength += piece.length
    const headEnd = method === 'GET' && bodyLength === 0 ? '\r\n' : `content-length: ${bodyLength}\r\n\r\n`
    const length = head.length + headEnd.length + bodyLength
    if (length <= joinedBytesMax) return sendJoined(current, headEnd, length)
    current.unsent = [head, Buffer.from(headEnd), ...body]
    send(current)
  }

  function sendJoined(current: Progress, headEnd: string, length: number): void {
    const { head, body } = current.exchange
    scratch.set(head)
    let end = head.length + scratch.write(headEnd, head.length, 'latin1')
    for (const piece of body) {
      scratch.set(piece, end)
      end += piece.length
    }
    const written = socket.write(scratch, 0, length)
    if (written === length) return
    if (written < 0) return flow.close(undefined)
    current.unsent = [Buffer.from(scratch.subarray(written, length))]
  }

  /** Writes what is unsent, until the socket is full or it is the others' turn. */
  function send(current: Progress): void {
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
        isWaitingItsTurn = true
        setImmediate(takeTurn)
        return
      }
      const length = Math.min(piece.length - current.offset, allowance)
      const written = socket.write(piece, current.offset, length)
      if (written < 0) return flow.close(undefined)
      current.offset += written
      allowance -= written
      if (written < length) return
    }
  }

  function takeTurn(): void {
    isWaitingItsTurn = false
    drained()
  }

  function drained(): void {
    if (progress !== undefined && !isWaitingItsTurn) send(progress)
  }

  function received(bytes: Buffer): void {
    // Nobody asked: what this connection says next cannot be told apart from an answer.
    if (progress === undefined) destroy()
    else flow.push(bytes)
  }

  /** A head makes little work, and so does a body that is read as a whole, as long as it is no larger than most. */
  function freeBytes(): number {
    if (progress?.incoming === undefined) return tokenBytes
    return progress.incoming.isReadWhole() && progress.bodyBytes < freeBodyBytes ? sliceBytes : 0
  }

  function receive(bytes: Buffer): void {
    const current = progress
    if (current === undefined) return destroy()
    try {
      current.hasAnswered = true
      if (current.incoming !== undefined) return receiveBody(current, bytes, 0)
      const read = headReader.push(bytes)
      if (read === undefined) return
      beginBody(current, read.head)
      receiveBody(current, read.bytes, read.end)
    } catch (error) {
      fail(
        error instanceof TransportError
          ? error
          : new TransportError('malformed', "The upstream's answer could not be read", error),
        false,
      )
    }
  }

  function beginBody(current: Progress, head: ResponseHead): void {
    const { bodyBytesMax } = current.exchange
    if (head.contentLength > bodyBytesMax) throw tooLarge()
    const incoming = incomingBody(source, head.framing === 'connection')
    const body = decodedBody(incoming.body, head.headers.get('content-encoding'), bodyBytesMax)
    // Answered before it was asked completely: the upstream has heard enough.
    current.isCutShort = current.unsent.length > 0
    current.unsent = nothing
    current.exchange.body = nothing
    current.head = head
    current.decoder = bodyDecoder(head.framing, head.contentLength)
    current.incoming = incoming
    current.exchange.resolve({ status: head.status, headers: head.headers, body })
  }

  function receiveBody(current: Progress, bytes: Buffer, from: number): void {
    const { decoder, head, incoming } = current
    if (decoder === undefined || head === undefined || incoming === undefined) return
    const end = decoder.push(bytes, from, deliver)
    if (!decoder.isComplete() || progress !== current) return
    const isReusable = head.isReusable && !current.isCutShort && end === bytes.length && flow.isDry()
    finish()
    if (!isReusable) destroy()
    incoming.end()
    if (isReusable) owner.released(self, keepAliveMs(head.headers))
  }

  function deliver(piece: Uint8Array): void {
    if (progress === undefined) return
    progress.bodyBytes += piece.length
    if (progress.bodyBytes > progress.exchange.bodyBytesMax) throw tooLarge()
    progress.incoming?.push(piece)
  }

  function onAbort(): void {
    fail(new TransportError('aborted', 'The request was aborted'), false)
  }

  /** Ends the connection, and the exchange with an error. */
  function fail(error: TransportError, keepsPieces: boolean): void {
    const failed = finish()
    destroy()
    if (failed === undefined) return
    if (failed.incoming === undefined) failed.exchange.reject(error)
    else failed.incoming.fail(error, keepsPieces)
  }

  /** Lets go of the exchange. */
  function finish(): Progress | undefined {
    const finished = progress
    if (finished === undefined) return undefined
    progress = undefined
    finished.exchange.signal.removeEventListener('abort', onAbort)
    return finished
  }

  function destroy(): void {
    if (isClosed) return
    isClosed = true
    flow.stop()
    socket.terminate()
    owner.closed(self)
  }

  function ended(error: Error | undefined): void {
    if (isClosed) return
    const cut = finish()
    destroy()
    if (cut === undefined) return
    if (cut.incoming === undefined) {
      if (cut.isReused && !cut.hasAnswered) owner.stale(cut.exchange)
      else
        cut.exchange.reject(new TransportError('reset', 'The upstream closed the connection before it answered', error))
    } else if (cut.head?.framing === 'connection' && error === undefined) {
      cut.incoming.end()
    } else {
      cut.incoming.fail(
        new TransportError('short_body', 'The upstream closed the connection inside its answer', error),
        true,
      )
    }
  }

  const self: Connection = {
    carry,
    destroy,
    received,
    drained,
    closed: flow.close,
    opened() {},
    secured() {},
    refused() {},
  }
  return self
}

function tooLarge(): TransportError {
  return new TransportError('too_large', "The upstream's answer is larger than allowed")
}
