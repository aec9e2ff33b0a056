import { closeSync, openSync } from 'node:fs'
import { isIP } from 'node:net'
import { devNull } from 'node:os'
import { checkServerIdentity } from 'node:tls'
import type { Socket, TLSOptions } from 'bun'
import { plainHandlers, secureHandlers, type SocketUser } from './socket-user.ts'
import {
  TransportError,
  type Origin,
  type HttpProxy,
  type TransportErrorKind,
  type UpstreamSignal,
} from './transport.ts'

/** The part of {@link UpstreamRequest} that a connection needs. */
interface Wanted {
  readonly origin: Origin
  /** Milliseconds for all phases together. */
  readonly connectMs: number
  readonly signal: UpstreamSignal
  /** PEM, for origins without their own. Default: those of Bun and of NODE_EXTRA_CA_CERTS. */
  readonly certificateAuthorities?: string | undefined
}

/**
 * Opens a socket to an origin: DNS lookup, TCP, CONNECT if a proxy is on the way, and, if secure, TLS with a check of
 * certificate chain and host name. The caller must set the socket's `data` to its own {@link SocketUser} before it
 * awaits anything else. A pending TCP connection cannot be cancelled: after a time-out or abort it is closed when it
 * opens, unless the kernel gives up.
 *
 * @throws {TransportError} `dns`, `connect`, `connect_timeout`, `tls`, `tls_timeout`, `proxy`, `proxy_timeout`,
 *   `proxy_credential`, `resources`, `aborted`
 */
export function connect(wanted: Wanted): Promise<Socket<SocketUser>> {
  return new Promise((resolve, reject) => new Opening(wanted, resolve, reject).begin())
}

/** The most bytes of a proxy's answer to CONNECT. */
const proxyHeadMax = 16 * 1024

/** The user of a socket while it is opened. */
class Opening implements SocketUser {
  readonly #wanted: Wanted
  readonly #resolve: (socket: Socket<SocketUser>) => void
  readonly #reject: (error: TransportError) => void
  #socket: Socket<SocketUser> | undefined
  /** The proxy's answer so far, while it is awaited. */
  #proxyHead: string | undefined
  #isSettled = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(wanted: Wanted, resolve: (socket: Socket<SocketUser>) => void, reject: (error: TransportError) => void) {
    this.#wanted = wanted
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(): void {
    const { origin, connectMs, signal } = this.#wanted
    // Pending socket events are handled before failing: after a pause of the process, timers fire before sockets.
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(() => this.#fail(this.#late()), 0)
    }, connectMs)
    signal.addEventListener('abort', this.#onAbort)
    const { hostname, port } = origin.proxy ?? origin
    const opening =
      origin.secure && origin.proxy === undefined
        ? Bun.connect<SocketUser>({ hostname, port, data: this, socket: secureHandlers, tls: this.#tlsOptions() })
        : Bun.connect<SocketUser>({ hostname, port, data: this, socket: plainHandlers })
    // Most failures call `refused` first; some, such as a lack of descriptors, only reject.
    opening.catch((error: unknown) => this.refused(error))
  }

  opened(ready: Socket<SocketUser>): void {
    const { origin } = this.#wanted
    const isUpgraded = this.#socket !== undefined
    this.#socket = ready
    if (this.#isSettled) ready.terminate()
    else if (!origin.secure) this.#succeed(ready)
    else if (origin.proxy !== undefined && !isUpgraded) {
      this.#proxyHead = ''
      const target = `${origin.hostname.includes(':') ? `[${origin.hostname}]` : origin.hostname}:${origin.port}`
      ready.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${proxyAuthorization(origin.proxy)}\r\n`)
    }
  }

  secured(ready: Socket<SocketUser>, isAuthorized: boolean, error: Error | null): void {
    const distrust =
      error ?? (isAuthorized ? checkName(this.#wanted.origin.hostname, ready) : new Error('not authorized'))
    if (distrust === undefined) this.#succeed(ready)
    else this.#fail(new TransportError('tls', 'The certificate of the upstream was not accepted', distrust))
  }

  received(bytes: Buffer): void {
    const socket = this.#socket
    // Bytes before the first request cannot belong to a response.
    if (socket === undefined || this.#proxyHead === undefined) return socket?.terminate()
    this.#proxyHead += bytes.toString('latin1')
    const end = this.#proxyHead.indexOf('\r\n\r\n')
    if (end === -1 && this.#proxyHead.length <= proxyHeadMax) return
    const status = end === -1 ? 0 : Number(/^HTTP\/1\.[01] ([1-5]\d\d)[ \r]/.exec(this.#proxyHead)?.[1] ?? 0)
    if (status < 200 || status > 299) return this.#fail(proxyRefusal(status))
    // A client speaks first in TLS, so nothing can follow the head.
    if (end + 4 !== this.#proxyHead.length) return this.#fail(proxyRefusal(0))
    this.#proxyHead = undefined
    // The socket below gets the encrypted bytes.
    socket.data = unused
    const [, secure] = socket.upgradeTLS<SocketUser>({ data: this, tls: this.#tlsOptions(), socket: secureHandlers })
    this.#socket = secure
  }

  drained(): void {}

  closed(error: Error | undefined): void {
    if (this.#proxyHead !== undefined) return this.#fail(proxyRefusal(0))
    const kind = this.#wanted.origin.secure ? 'tls' : 'connect'
    this.#fail(new TransportError(kind, 'The upstream closed the connection before it was established', error))
  }

  refused(error: unknown): void {
    const isProxy = this.#wanted.origin.proxy !== undefined
    const failure = refusal(error)
    this.#fail(
      isProxy && failure.kind !== 'resources'
        ? new TransportError('proxy', 'the proxy could not be reached', error)
        : failure,
    )
  }

  #tlsOptions(): TLSOptions {
    const { origin, certificateAuthorities } = this.#wanted
    const ca = origin.tls?.ca ?? certificateAuthorities
    return {
      rejectUnauthorized: true,
      // An IP address must not be sent as a server name (RFC 6066 section 3); without this option Bun sends it.
      serverName: isIP(origin.hostname) === 0 ? origin.hostname : '',
      ...origin.tls,
      ...(ca === undefined ? {} : { ca }),
    }
  }

  #late(): TransportError {
    const { connectMs } = this.#wanted
    if (this.#socket === undefined)
      return new TransportError('connect_timeout', `The connection was not accepted within ${connectMs} ms`)
    if (this.#proxyHead !== undefined)
      return new TransportError('proxy_timeout', `the proxy did not answer within ${connectMs} ms`)
    return new TransportError('tls_timeout', `The TLS handshake was not finished within ${connectMs} ms`)
  }

  readonly #onAbort = (): void => this.#fail(new TransportError('aborted', 'The request was aborted'))

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#wanted.signal.removeEventListener('abort', this.#onAbort)
    return true
  }

  #fail(error: TransportError): void {
    if (!this.#settle()) return
    this.#socket?.terminate()
    this.#reject(error)
  }

  #succeed(ready: Socket<SocketUser>): void {
    if (this.#settle()) this.#resolve(ready)
  }
}

/** Receives nothing. */
const unused: SocketUser = {
  opened() {},
  secured() {},
  received() {},
  drained() {},
  closed() {},
  refused() {},
}

/** The header line with the proxy's credentials, or none. */
export function proxyAuthorization({ authorization }: HttpProxy): string {
  return authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
}

/** @param status of the proxy's answer; 0: it was not HTTP */
export function proxyRefusal(status: number): TransportError {
  // Tinyproxy refuses wrong credentials with 401, and none with 407.
  if (status === 407 || status === 401)
    return new TransportError('proxy_credential', 'the proxy refused the credentials')
  return new TransportError('proxy', status === 0 ? 'the proxy did not answer CONNECT' : `the proxy answered ${status}`)
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
