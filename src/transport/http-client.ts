import type { Socket } from 'bun'
import { connect } from './connect.ts'
import { connection, joinedBytesMax } from './connection.ts'
import type { Connection, ConnectionOwner, Exchange } from './connection.ts'
import { pool } from './pool.ts'
import type { Shelf } from './pool.ts'
import type { SocketUser } from './socket-user.ts'
import { TransportError } from './transport.ts'
import type { HeaderBlock, Origin, Transport, UpstreamRequest, UpstreamResponse } from './transport.ts'
import { eventLoopTurns } from './turns.ts'

/** What is remembered of one origin. */
interface Destination {
  readonly origin: Origin
  readonly host: string
  readonly shelf: Shelf<Connection>
  readonly owner: ConnectionOwner
  /** The last head sent, without its length: most requests to an origin have the same. */
  lastHead: RequestHead | undefined
}

/** What an HTTP client can be told. */
export interface HttpClientOptions {
  /** Whom to trust for TLS, in PEM, instead of Bun's list and NODE_EXTRA_CA_CERTS. */
  readonly certificateAuthorities?: string
}

/** A transport whose idle connections can be let go of. */
export interface HttpClient extends Transport {
  /** Closes the connections that are idle now, so that their descriptors can be used for something else. */
  dropIdle(): void
}

interface RequestHead {
  readonly method: string
  readonly path: string
  readonly headers: HeaderBlock
  readonly bytes: Uint8Array
}

/**
 * An HTTP/1.1 client over kept-alive connections: at most 1,024 idle ones an origin, for 60 s; any number in use.
 * Bodies are asked for without compression, and decoded when they come with it.
 */
export function httpClient({ certificateAuthorities }: HttpClientOptions = {}): HttpClient {
  const idle = pool<Connection>((expired) => expired.destroy())
  const scratch = Buffer.allocUnsafeSlow(joinedBytesMax)
  const turns = eventLoopTurns()
  const byObject = new WeakMap<Origin, Destination>()
  const byName = new Map<string, Destination>()
  /** Connections open or being opened. */
  let open = 0

  function destinationOf(origin: Origin): Destination {
    const known = byObject.get(origin)
    if (known !== undefined) return known
    const host = hostHeader(origin)
    const name = `${origin.secure ? 'https' : 'http'}://${host} ${origin.owner ?? ''}`
    const destination = byName.get(name) ?? makeDestination(origin, host)
    byName.set(name, destination)
    byObject.set(origin, destination)
    return destination
  }

  function makeDestination(origin: Origin, host: string): Destination {
    const shelf = idle.shelf()
    const owner: ConnectionOwner = {
      released(released, keepMs) {
        if (!idle.put(shelf, released, keepMs)) released.destroy()
      },
      closed(closed) {
        open--
        idle.remove(shelf, closed)
      },
      stale(exchange) {
        void carryFresh(destination, exchange)
      },
    }
    const destination: Destination = { origin, host, shelf, owner, lastHead: undefined }
    return destination
  }

  async function carryFresh({ origin, owner }: Destination, exchange: Exchange): Promise<void> {
    open++
    let socket: Socket<SocketUser>
    try {
      socket = await connect(origin, exchange.connectMs, exchange.signal, certificateAuthorities)
    } catch (error) {
      open--
      exchange.reject(
        error instanceof TransportError
          ? error
          : new TransportError('connect', 'The upstream could not be reached', error),
      )
      return
    }
    const fresh = connection(socket, owner, scratch, turns)
    socket.data = fresh
    fresh.carry(exchange, false)
  }

  return {
    request(request, signal) {
      if (signal.aborted) return Promise.reject(new TransportError('aborted', 'The request was aborted'))
      return new Promise<UpstreamResponse>((resolve, reject) => {
        const destination = destinationOf(request.origin)
        const { method, connectMs, bodyBytesMax, body } = request
        const exchange: Exchange = {
          method,
          connectMs,
          bodyBytesMax,
          body,
          head: requestHead(destination, request),
          signal,
          resolve,
          reject,
        }
        const kept = idle.take(destination.shelf)
        if (kept === undefined) void carryFresh(destination, exchange)
        else kept.carry(exchange, true)
      })
    },
    connections: {
      get active() {
        return open - idle.idle
      },
      get idle() {
        return idle.idle
      },
    },
    dropIdle: () => idle.empty(),
    close: () => idle.close(),
  }
}

/** Host and, where it is not the scheme's own, port (RFC 9110 section 7.2). */
function hostHeader({ secure, hostname, port }: Origin): string {
  const name = hostname.includes(':') ? `[${hostname}]` : hostname
  return port === (secure ? 443 : 80) ? name : `${name}:${port}`
}

const printable = /^\/[\x21-\x7e]*$/

/**
 * The head of a request without Content-Length and blank line. @throws {TypeError} for a path with a character that
 * must be escaped
 */
function requestHead(destination: Destination, { method, path, headers }: UpstreamRequest): Uint8Array {
  const last = destination.lastHead
  if (last !== undefined && last.path === path && last.headers === headers && last.method === method) return last.bytes
  if (!printable.test(path)) throw new TypeError('The path of a request has a character that must be escaped')
  const bytes = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${destination.host}\r\naccept-encoding: identity\r\n${headers}`,
    'latin1',
  )
  destination.lastHead = { method, path, headers, bytes }
  return bytes
}
