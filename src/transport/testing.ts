import type { Socket, TLSOptions } from 'bun'
import type { Origin } from './transport.ts'

/** One connection a raw upstream has accepted. */
export interface RawConnection {
  readonly socket: Socket<RawConnection>
  /** Every byte received, one character a byte. */
  received: string
  /** Bytes received. */
  bytes: number
  isClosed: boolean
  /** Writes bytes, one a character. */
  write(text: string): void
}

/** A server for tests that sends exactly the bytes a test chooses, HTTP or not. */
export interface RawUpstream {
  readonly origin: Origin
  readonly connections: RawConnection[]
  /** Requests that arrived completely, in order. */
  readonly requests: string[]
  stop(): void
}

export interface RawUpstreamOptions {
  readonly tls?: TLSOptions
  readonly opened?: (connection: RawConnection) => void
  /** Called after bytes arrived. Default: waits for complete requests and calls `answer`. */
  readonly received?: (connection: RawConnection) => void
}

/**
 * Starts a raw upstream on a free port of this machine.
 *
 * @param answer called for each complete request, with the number of earlier requests on all connections
 */
export function rawUpstream(
  answer: (connection: RawConnection, index: number) => void,
  options: RawUpstreamOptions = {},
): RawUpstream {
  const connections: RawConnection[] = []
  const requests: string[] = []

  function answerCompleteRequests(connection: RawConnection): void {
    for (;;) {
      const headEnd = connection.received.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const length = Number(/content-length: (\d+)/.exec(connection.received)?.[1] ?? 0)
      const end = headEnd + 4 + length
      if (connection.received.length < end) return
      requests.push(connection.received.slice(0, end))
      connection.received = connection.received.slice(end)
      answer(connection, requests.length - 1)
    }
  }

  const listener = Bun.listen<RawConnection>({
    hostname: '127.0.0.1',
    port: 0,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    socket: {
      open(socket) {
        const connection: RawConnection = {
          socket,
          received: '',
          bytes: 0,
          isClosed: false,
          write: (text) => void socket.write(Buffer.from(text, 'latin1')),
        }
        socket.data = connection
        connections.push(connection)
        options.opened?.(connection)
      },
      data({ data: connection }, bytes) {
        connection.bytes += bytes.length
        if (options.received !== undefined) return options.received(connection)
        connection.received += bytes.toString('latin1')
        answerCompleteRequests(connection)
      },
      close({ data: connection }) {
        if (connection !== undefined) connection.isClosed = true
      },
      error() {},
    },
  })
  return {
    origin: { secure: options.tls !== undefined, hostname: '127.0.0.1', port: listener.port },
    connections,
    requests,
    stop: () => listener.stop(true),
  }
}

/** Waits at most half a second until a claim becomes true. @throws when it does not */
export async function eventually(claim: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 500; performance.now() < deadline; await Bun.sleep(1)) {
    if (claim()) return
  }
  throw new Error(`Did not become true: ${claim.toString()}`)
}

/** Cuts bytes into buffers of the given lengths; the last buffer contains the rest. */
export function cut(bytes: Uint8Array, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (const length of lengths) {
    pieces.push(Buffer.from(bytes.subarray(from, from + length)))
    from += length
  }
  pieces.push(Buffer.from(bytes.subarray(from)))
  return pieces.filter((piece) => piece.length > 0)
}
