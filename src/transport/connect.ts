import { closeSync, openSync } from 'node:fs'
import { isIP } from 'node:net'
import { devNull } from 'node:os'
import { checkServerIdentity } from 'node:tls'
import type { Socket, TLSOptions } from 'bun'
import { plainHandlers, secureHandlers } from './socket-user.ts'
import type { SocketUser } from './socket-user.ts'
import { TransportError } from './transport.ts'
import type { Origin, TransportErrorKind, UpstreamSignal } from './transport.ts'

/**
 * Opens a socket to an origin: name look-up, TCP, and for a secure one TLS with the chain and the host name checked.
 * Nothing of a request is written before. The caller puts its own user in the socket's `data` before it awaits anything
 * else. A TCP connection that nobody has accepted yet cannot be taken back: abandoned, it is dropped when it opens or
 * the kernel gives up on it.
 *
 * @param connectMs milliseconds for all of it
 * @param certificateAuthorities PEM, instead of the platform's; by default those of Bun and of NODE_EXTRA_CA_CERTS
 * @throws {TransportError} `dns`, `connect`, `connect_timeout`, `tls`, `tls_timeout`, `resources`, `aborted`
 */
export function connect(
  origin: Origin,
  connectMs: number,
  signal: UpstreamSignal,
  certificateAuthorities?: string,
): Promise<Socket<SocketUser>> {
  return new Promise((resolve, reject) => {
    let socket: Socket<SocketUser> | undefined
    let isSettled = false

    // What had arrived by then is looked at first: after this process stood still, timers come before sockets.
    let timer = setTimeout(() => {
      timer = setTimeout(() => fail(late()), 0)
    }, connectMs)
    signal.addEventListener('abort', onAbort)

    function late(): TransportError {
      if (socket === undefined)
        return new TransportError('connect_timeout', 'The upstream did not accept a connection in time')
      return new TransportError('tls_timeout', 'The upstream did not finish the TLS handshake in time')
    }

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
        fail(
          new TransportError(
            origin.secure ? 'tls' : 'connect',
            'The upstream closed the connection while it was being made',
            error,
          ),
        )
      },
      refused(error) {
        fail(refusal(error))
      },
    }

    const { hostname, port } = origin
    const opening = origin.secure
      ? Bun.connect({
          hostname,
          port,
          data: user,
          socket: secureHandlers,
          tls: tlsOptions(hostname, certificateAuthorities),
        })
      : Bun.connect({ hostname, port, data: user, socket: plainHandlers })
    // Failures arrive at `refused` first; what only rejects (no descriptor left, say) arrives here.
    opening.catch((error: unknown) => fail(refusal(error)))
  })
}

function tlsOptions(hostname: string, certificateAuthorities: string | undefined): TLSOptions {
  return {
    rejectUnauthorized: true,
    // An address is no server name (RFC 6066 section 3); left out, Bun would send it all the same.
    serverName: isIP(hostname) === 0 ? hostname : '',
    ...(certificateAuthorities === undefined ? {} : { ca: certificateAuthorities }),
  }
}

/** Bun 1.4.5 checks names, too, but does not document it, and has no name to check for an address. */
function checkName(hostname: string, socket: Socket<SocketUser>): Error | undefined {
  return checkServerIdentity(hostname, socket.getPeerCertificate())
}

const outOfResources: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EADDRNOTAVAIL', 'ENOBUFS'])

function refusal(error: unknown): TransportError {
  const kind = refusalKind(error)
  if (kind === 'resources')
    return new TransportError(kind, 'This machine is out of descriptors, memory or ports', error)
  if (kind === 'dns') return new TransportError(kind, "The upstream's name could not be looked up", error)
  return new TransportError(kind, 'The upstream could not be reached', error)
}

function refusalKind(error: unknown): TransportErrorKind {
  if (!(error instanceof Error)) return 'connect'
  const code = codeOf(error)
  if (outOfResources.has(code) || lacksDescriptors()) return 'resources'
  if ('syscall' in error && error.syscall === 'getaddrinfo') return 'dns'
  return code === 'ENOTFOUND' || code.startsWith('EAI_') ? 'dns' : 'connect'
}

/**
 * Whether not even a file can be opened. Bun 1.4.5 reports a socket it has no descriptor for as refused by the
 * upstream.
 */
function lacksDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return outOfResources.has(codeOf(error))
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
