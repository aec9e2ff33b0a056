import type { Socket } from 'bun'
import { connect, proxyAuthorization, proxyRefusal } from './connect.ts'
import {
  connection,
  joinedBytesMax,
  type Connection,
  type ConnectionOwner,
  type OutgoingRequest,
} from './connection.ts'
import { pool, type IdleList } from './pool.ts'
import { readScheduler } from './read-scheduler.ts'
import type { SocketUser } from './socket-user.ts'
import {
  TransportError,
  type HeaderBlock,
  type Origin,
  type Transport,
  type UpstreamRequest,
  type UpstreamResponse,
} from './transport.ts'

/** State of one origin. */
interface Destination {
  readonly origin: Origin
  readonly host: string
  readonly idleList: IdleList<Connection>
  readonly owner: ConnectionOwner
  /** The last head sent, without its length; most requests to an origin repeat it. */
  lastHead: RequestHead | undefined
}

export interface HttpClientOptions {
  /** Trusted certificate authorities, in PEM. Default: Bun's list and NODE_EXTRA_CA_CERTS. */
  readonly certificateAuthorities?: string
}

/** A transport over HTTP/1.1. */
export interface HttpClient extends Transport {
  /** Closes all connections that are idle now, to free their descriptors. */
  dropIdle(): void
}

interface RequestHead {
  readonly method: string
  readonly path: string
  readonly headers: HeaderBlock
  readonly bytes: Uint8Array
}

/**
 * Makes an HTTP/1.1 client with kept-alive connections. Each origin keeps at most 1,024 idle connections for 60 s; the
 * number in use is not limited. Requests ask for uncompressed bodies; compressed ones are decoded anyway.
 */
export function httpClient({ certificateAuthorities }: HttpClientOptions = {}): HttpClient {
  const idle = pool<Connection>((expired) => expired.destroy())
  const scratch = Buffer.allocUnsafeSlow(joinedBytesMax)
  const scheduler = readScheduler()
  const byObject = new WeakMap<Origin, Destination>()
  const byName = new Map<string, Destination>()
  /** Number of connections open or being opened. */
  let open = 0

  function destinationOf(origin: Origin): Destination {
    const known = byObject.get(origin)
    if (known !== undefined) return known
    const host = hostHeader(origin)
    const { secure, owner, proxy, tls } = origin
    const name = `${secure ? 'https' : 'http'}://${host} ${JSON.stringify([owner, proxy, tls])}`
    const destination = byName.get(name) ?? makeDestination(origin, host)
    byName.set(name, destination)
    byObject.set(origin, destination)
    return destination
  }

  function makeDestination(origin: Origin, host: string): Destination {
    const idleList = idle.idleList()
    const owner: ConnectionOwner = {
      released(released, keepMs) {
        if (!idle.put(idleList, released, keepMs)) released.destroy()
      },
      closed(closed) {
        open--
        idle.remove(idleList, closed)
      },
      stale(outgoing) {
        void startOnNewConnection(destination, outgoing)
      },
    }
    const destination: Destination = { origin, host, idleList, owner, lastHead: undefined }
    return destination
  }

  async function startOnNewConnection({ origin, owner }: Destination, outgoing: OutgoingRequest): Promise<void> {
    open++
    let socket: Socket<SocketUser>
    try {
      const { connectMs, signal } = outgoing
      socket = await connect({ origin, connectMs, signal, certificateAuthorities })
    } catch (error) {
      open--
      outgoing.reject(
        error instanceof TransportError
          ? error
          : new TransportError('connect', 'The server could not be reached', error),
      )
      return
    }
    const fresh = connection(socket, owner, scratch, scheduler)
    socket.data = fresh
    fresh.start(outgoing, false)
  }

  return {
    request(request, signal) {
      if (signal.aborted) return Promise.reject(new TransportError('aborted', 'The request was aborted'))
      return new Promise<UpstreamResponse>((resolve, reject) => {
        const destination = destinationOf(request.origin)
        const { method, connectMs, bodyBytesMax, body } = request
        const outgoing: OutgoingRequest = {
          method,
          connectMs,
          bodyBytesMax,
          body,
          head: requestHead(destination, request),
          signal,
          resolve: request.origin.proxy === undefined ? resolve : throughProxy(resolve, reject),
          reject,
        }
        const kept = idle.take(destination.idleList)
        if (kept === undefined) void startOnNewConnection(destination, outgoing)
        else kept.start(outgoing, true)
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

/** The Host header: host, and the port unless it is the scheme's default (RFC 9110 section 7.2). */
function hostHeader({ secure, hostname, port }: Origin): string {
  const name = hostname.includes(':') ? `[${hostname}]` : hostname
  return port === (secure ? 443 : 80) ? name : `${name}:${port}`
}

/** Refuses an answer of the proxy itself. */
function throughProxy(
  resolve: (response: UpstreamResponse) => void,
  reject: (error: TransportError) => void,
): (response: UpstreamResponse) => void {
  return (response) => {
    if (response.status !== 407) return resolve(response)
    response.body.cancel()
    reject(proxyRefusal(407))
  }
}

const printable = /^\/[\x21-\x7e]*$/

/**
 * The head of a request without Content-Length and blank line.
 *
 * @throws {TypeError} for a path with a character that must be percent-encoded
 */
function requestHead(destination: Destination, { method, path, headers }: UpstreamRequest): Uint8Array {
  const last = destination.lastHead
  if (last !== undefined && last.path === path && last.headers === headers && last.method === method) return last.bytes
  if (!printable.test(path)) throw new TypeError('The request path has a character that must be percent-encoded')
  const { origin, host } = destination
  const isWhole = origin.proxy !== undefined && !origin.secure
  const target = isWhole ? `http://${host}${path}` : path
  const own = `host: ${host}\r\naccept-encoding: identity\r\n${isWhole ? proxyAuthorization(origin.proxy) : ''}`
  const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${own}${headers}`, 'latin1')
  destination.lastHead = { method, path, headers, bytes }
  return bytes
}
