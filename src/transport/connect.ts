import { closeSync, openSync } from 'node:fs'
import { isIP } from 'node:net'
import { devNull } from 'node:os'
import { checkServerIdentity } from 'node:tls'
import type { Socket, TLSOptions } from 'bun'
import { plainHandlers, secureHandlers, type SocketUser } from './socket-user.ts'
import { TransportError, type Origin, type TransportErrorKind, type UpstreamSignal } from './transport.ts'

/**
 * Opens a socket to an origin: DNS lookup, TCP and, if secure, TLS with a check of certificate chain and host name. The
 * caller must set the socket's `data` to its own {@link SocketUser} before it awaits anything else. A pending TCP
 * connection cannot be cancelled: after a time-out or abort it is closed when it opens, unless the kernel gives up.
 *
 * @param connectMs milliseconds for all phases together
 * @param certificateAuthorities PEM; default: those of Bun and of NODE_EXTRA_CA_CERTS
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

    // Pending socket events are handled before failing: after a pause of the process, timers fire before sockets.
    let timer = setTimeout(() => {
      timer = setTimeout(() => fail(late()), 0)
    }, connectMs)
    signal.addEventListener('abort', onAbort)

    function late(): TransportError {
      if (socket === undefined)
        return new TransportError('connect_timeout', `The connection was not accepted within ${connectMs} ms`)
      return new TransportError('tls_timeout', `The TLS handshake was not finished within ${connectMs} ms`)
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
        else fail(new TransportError('tls', 'The certificate of the upstream was not accepted', distrust))
      },
      received() {
        // Bytes before the first request cannot belong to a response.
        socket?.terminate()
      },
      drained() {},
      closed(error) {
        fail(
          new TransportError(
            origin.secure ? 'tls' : 'connect',
            'The upstream closed the connection before it was established',
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
    // Most failures call `refused` first; some, such as a lack of descriptors, only reject.
    opening.catch((error: unknown) => fail(refusal(error)))
  })
}

function tlsOptions(hostname: string, certificateAuthorities: string | undefined): TLSOptions {
  return {
    rejectUnauthorized: true,
    // An IP address must not be sent as a server name (RFC 6066 section 3); without this option Bun sends it.
    serverName: isIP(hostname) === 0 ? hostname : '',
    ...(certificateAuthorities === undefined ? {} : { ca: certificateAuthorities }),
  }
}

/** Checks the host name. Bun 1.4.5 checks names without documenting it, and does not check IP addresses. */
function checkName(hostname: string, socket: Socket<SocketUser>): Error | undefined {
  return checkServerIdentity(hostname, socket.getPeerCertificate())
}

const outOfResources: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EADDRNOTAVAIL', 'ENOBUFS'])

function refusal(error: unknown): TransportError {
  const kind = refusalKind(error)
  if (kind === 'resources')
    return new TransportError(kind, 'This machine is out of descriptors, memory or ports', error)
  if (kind === 'dns') return new TransportError(kind, 'DNS lookup failed', error)
  return new TransportError(kind, 'The server could not be reached', error)
}

function refusalKind(error: unknown): TransportErrorKind {
  if (!(error instanceof Error)) return 'connect'
  const code = codeOf(error)
  if (outOfResources.has(code) || lacksDescriptors()) return 'resources'
  if ('syscall' in error && error.syscall === 'getaddrinfo') return 'dns'
  return code === 'ENOTFOUND' || code.startsWith('EAI_') ? 'dns' : 'connect'
}

/** Whether opening a file fails for lack of descriptors: Bun 1.4.5 then reports sockets as refused by the upstream. */
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
