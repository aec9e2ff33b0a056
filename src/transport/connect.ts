import type { Socket } from 'bun'
import { checkServerIdentity } from 'node:tls'
import { isIP } from 'node:net'
import { plainHandlers, secureHandlers } from './socket-user.ts'
import type { SocketUser } from './socket-user.ts'
import { TransportError } from './transport.ts'
import type { Origin, TransportErrorKind } from './transport.ts'

/**
 * Opens a socket to an origin: name look-up, TCP, and for a secure one TLS with the chain and the host name checked.
 * Nothing of a request is written before. The caller puts its own user in the socket's `data` before it awaits anything else.
 * @param connectMs milliseconds for all of it
 * @throws {TransportError} `dns`, `connect`, `connect_timeout`, `tls`, `resources`, `aborted`
 */
export function connect(origin: Origin, connectMs: number, signal: AbortSignal): Promise<Socket<SocketUser>> {
  return new Promise((resolve, reject) => {
    let socket: Socket<SocketUser> | undefined
    let isSettled = false

    const timer = setTimeout(() => fail(new TransportError('connect_timeout', 'The upstream did not accept a connection in time')), connectMs)
    signal.addEventListener('abort', onAbort)

    function onAbort(): void {
      fail(new TransportError('aborted', 'The request was aborted'))
    }

    function settle(): boolean {
      if (isSettled) return false
      isSettled = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      return true
    }

    function fail(error: TransportError): void {
      if (!settle()) return
      socket?.terminate()
      reject(error)
    }

    function succeed(ready: Socket<SocketUser>): void {
      if (settle()) resolve(ready)
    }

    const user: SocketUser = {
      opened(ready) {
        socket = ready
        if (isSettled) ready.terminate()
        else if (!origin.secure) succeed(ready)
      },
      secured(ready, isAuthorized, error) {
        const distrust = error ?? (isAuthorized ? checkName(origin.hostname, ready) : new Error('not authorized'))
        if (distrust === undefined) succeed(ready)
        else fail(new TransportError('tls', 'The upstream could not prove who it is', distrust))
      },
      received() {
        // A server that speaks before it is asked, while its socket changes hands.
        socket?.terminate()
      },
      drained() {},
      closed(error) {
        fail(new TransportError(origin.secure ? 'tls' : 'connect', 'The upstream closed the connection while it was being made', error))
      },
      refused(error) {
        fail(refusal(error))
      },
    }

    const { hostname, port } = origin
    const opening = origin.secure
      ? Bun.connect({ hostname, port, data: user, socket: secureHandlers, tls: { rejectUnauthorized: true, ...(isIP(hostname) === 0 ? { serverName: hostname } : {}) } })
      : Bun.connect({ hostname, port, data: user, socket: plainHandlers })
    // Failures arrive at `refused` first; what only rejects (no descriptor left, say) arrives here.
    opening.catch((error: unknown) => fail(refusal(error)))
  })
}

function checkName(hostname: string, socket: Socket<SocketUser>): Error | undefined {
  return checkServerIdentity(hostname, socket.getPeerCertificate())
}

const outOfResources: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EADDRNOTAVAIL', 'ENOBUFS'])

function refusal(error: unknown): TransportError {
  const kind = refusalKind(error)
  if (kind === 'resources') return new TransportError(kind, 'This machine is out of descriptors, memory or ports', error)
  if (kind === 'dns') return new TransportError(kind, "The upstream's name could not be looked up", error)
  return new TransportError(kind, 'The upstream could not be reached', error)
}

function refusalKind(error: unknown): TransportErrorKind {
  if (!(error instanceof Error)) return 'connect'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (outOfResources.has(code)) return 'resources'
  if ('syscall' in error && error.syscall === 'getaddrinfo') return 'dns'
  return code === 'ENOTFOUND' || code.startsWith('EAI_') ? 'dns' : 'connect'
}
