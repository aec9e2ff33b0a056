import type { Socket } from 'bun'
import { requestHead } from './upstream-protocol.ts'

/** Head of an answer. */
export interface RawHead {
  readonly status: number
  readonly contentType: string
  /** Length of a counted body; undefined for a chunked one. */
  readonly length: number | undefined
}

/** Gets the parts of an answer as they come. The last call is `onEnd` or `onCut`. */
export interface RawListener {
  readonly onHead: (head: RawHead) => void
  /** Some bytes of the body, without its framing. */
  readonly onBytes: (bytes: Uint8Array) => void
  readonly onEnd: () => void
  /** The connection failed or ended before the answer was complete. */
  readonly onCut: () => void
}

/** A kept-alive connection, with one request at a time. */
export interface RawConnection {
  readonly pause: () => void
  readonly resume: () => void
  /** Closes it; its listener is not called any more. */
  readonly cancel: () => void
}

interface PooledConnection extends RawConnection {
  readonly send: (request: Buffer, listener: RawListener) => void
  readonly isClosed: () => boolean
}

/**
 * Client for POSTs of JSON to one port of 127.0.0.1. It does as little as HTTP allows, without limits and timers, and
 * trusts its upstream: a lower bound of costs, not for use.
 */
export function rawClient(port: number): (body: Uint8Array, listener: RawListener) => RawConnection {
  const idle: PooledConnection[] = []
  return (body, listener) => {
    let connection = idle.pop()
    while (connection?.isClosed() === true) connection = idle.pop()
    connection ??= openConnection(port, (free) => void idle.push(free))
    connection.send(requestBytes(port, body), listener)
    return connection
  }
}

function requestBytes(port: number, body: Uint8Array): Buffer {
  const head = requestHead({ port, headers: {} }, body.length)
  const request = Buffer.allocUnsafe(head.length + body.length)
  request.write(head, 'latin1')
  request.set(body, head.length)
  return request
}

/** Opens a connection, and calls `release` with it after each complete answer. */
function openConnection(port: number, release: (connection: PooledConnection) => void): PooledConnection {
  let socket: Socket | undefined
  let unsent: Buffer | undefined
  let listener: RawListener | undefined
  let isClosed = false

  const take = answerParser({
    onHead: (head) => listener?.onHead(head),
    onBytes: (bytes) => listener?.onBytes(bytes),
    onEnd() {
      const ended = listener
      listener = undefined
      release(connection)
      ended?.onEnd()
    },
  })

  function sendRest(): void {
    if (unsent === undefined || socket === undefined) return
    const written = Math.max(socket.write(unsent), 0)
    unsent = written < unsent.length ? unsent.subarray(written) : undefined
  }

  function close(): void {
    isClosed = true
    const cut = listener
    listener = undefined
    cut?.onCut()
  }

  const connection: PooledConnection = {
    send(request, to) {
      listener = to
      unsent = request
      sendRest()
    },
    isClosed: () => isClosed,
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
    cancel() {
      listener = undefined
      isClosed = true
      socket?.terminate()
    },
  }

  Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(opened) {
        socket = opened
        socket.setNoDelay(true)
        if (isClosed) socket.terminate()
        else sendRest()
      },
      data: (_socket, bytes) => take(bytes),
      drain: sendRest,
      close,
      error: close,
    },
  }).catch(close)
  return connection
}

type Phase = 'head' | 'body' | 'chunk-end' | 'size' | 'trailer'

/** Parses answers one after the other, with a counted or a chunked body. */
function answerParser(listener: Omit<RawListener, 'onCut'>): (received: Buffer) => void {
  let phase: Phase = 'head'
  let isChunked = false
  /** Bytes of the counted body, or of the chunk, that are still to come. */
  let remaining = 0
  /** An incomplete head or line. */
  let rest: Buffer | undefined

  function finish(): void {
    phase = 'head'
    listener.onEnd()
  }

  function takeHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end < 0) return at
    const head = parseHead(bytes.toString('latin1', at, end))
    isChunked = head.length === undefined
    remaining = head.length ?? 0
    phase = isChunked ? 'size' : 'body'
    listener.onHead(head)
    if (remaining === 0 && !isChunked) finish()
    return end + 4
  }

  function takeBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + remaining, bytes.length)
    remaining -= end - at
    listener.onBytes(bytes.subarray(at, end))
    if (remaining === 0) {
      if (isChunked) phase = 'chunk-end'
      else finish()
    }
    return end
  }

  function takeLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return at
    if (phase === 'chunk-end') phase = 'size'
    else if (phase === 'trailer') {
      if (end === at) finish()
    } else {
      remaining = Number.parseInt(bytes.toString('latin1', at, end), 16)
      phase = remaining === 0 ? 'trailer' : 'body'
    }
    return end + 2
  }

  return (received) => {
    const bytes = rest === undefined ? received : Buffer.concat([rest, received])
    rest = undefined
    for (let at = 0; at < bytes.length;) {
      const next = phase === 'head' ? takeHead(bytes, at) : phase === 'body' ? takeBody(bytes, at) : takeLine(bytes, at)
      if (next === at) {
        rest = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
  }
}

function parseHead(head: string): RawHead {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  return {
    status: Number(head.slice(9, 12)),
    contentType: /\r\ncontent-type: *([^\r]+)/i.exec(head)?.[1] ?? '',
    length: length === undefined ? undefined : Number(length),
  }
}
