/*
 * One HTTP/1.1 exchange with an upstream, over the sockets of the runtime. `http-client.ts` takes an idle connection of
 * the origin (`pool.ts`) or makes one with a timer of its own (`connect.ts`), writes the request, and reads the head
 * (`connection.ts`, `receive-queue.ts`, `response-head.ts`). The body is framed by length, chunks or the end (`body-
 * framing.ts`, `incoming-body.ts`) and pulled by its reader, so nothing is read ahead. A body that is compressed
 * although nothing asked for it is decompressed with a limit (`content-decoding.ts`).
 *
 * An own client, since failover has to know whether bytes of an answer arrived, and whether a connection was new: a
 * close of a reused one before the first byte is no failure of the provider.
 */

/** Scheme, host and port of an upstream. Each origin and owner has its own idle connections. */
export interface Origin {
  readonly secure: boolean
  /** Name or address, without brackets. Used for SNI and checked against the certificate. */
  readonly hostname: string
  readonly port: number
  /**
   * Requests of different owners never share a connection, so that an unexpected second answer cannot reach another
   * owner's caller.
   */
  readonly owner?: string
  /** The proxy on the way. Absent: none. */
  readonly proxy?: HttpProxy
  /** Certificates for this origin. Absent: the usual authorities, and no certificate of the client. */
  readonly tls?: Certificates
}

/** An HTTP proxy. It gets CONNECT for a secure origin, and requests with whole URLs for another. */
export interface HttpProxy {
  /** Name or address, without brackets. */
  readonly hostname: string
  readonly port: number
  /** The value of Proxy-Authorization, such as `Basic …`. */
  readonly authorization?: string
}

/** Texts in PEM. */
export interface Certificates {
  /** Trusted authorities, instead of the usual ones. */
  readonly ca?: string
  /** The client's certificate, and its key. */
  readonly cert?: string
  readonly key?: string
}

/** One HTTP/1.1 request to an upstream. */
export interface UpstreamRequest {
  readonly origin: Origin
  readonly method: 'GET' | 'POST'
  /** Path and query, beginning with `/`. */
  readonly path: string
  /**
   * All header lines except Host, Accept-Encoding and Content-Length. {@link headerBlock} checks them once for each
   * provider.
   */
  readonly headers: HeaderBlock
  /** The body in pieces, sent in order. Empty for GET. */
  readonly body: readonly Uint8Array[]
  /** Milliseconds for DNS lookup, TCP, CONNECT and TLS together. */
  readonly connectMs: number
  /** Most bytes of a response body, after decompression. A larger body fails with `too_large`. */
  readonly bodyBytesMax: number
}

/** Header lines ready to send, `name: value\r\n` each; made by `headerBlock`. */
export type HeaderBlock = string & { readonly __brand: 'HeaderBlock' }

/** The headers of a response, at most 64 KiB in all: names in lower case, and values. */
export interface ResponseHeaders extends Iterable<[string, string]> {
  /** Returns the value of a header; of a repeated one all values, joined with `, `. */
  get(name: string): string | undefined
}

/** The head of a response, and its unread body. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: UpstreamBody
}

/** Memory that the reader of a body reserves. */
export interface MemoryReservation {
  /** @returns false when the limit is reached */
  reserve(bytes: number): boolean
}

/** Receives the bytes of a body, as `formats/receiver.ts` does: this room imports no other. Must not throw. */
export interface BodyReceiver {
  /**
   * @param bytes `undefined` at the end of the body
   * @returns whether it takes the next bytes too. Not after the end
   */
  receive(bytes: Uint8Array | undefined): boolean
  fail(error: TransportError): void
}

/** A response body with one reader: call `read` until the end, `readAll`, or `cancel`. */
export interface UpstreamBody {
  /**
   * Reads the next bytes: at most 8 KiB, or the decompressed content of 4 KiB. `undefined` at the end of the body.
   * While nothing is read, about 256 KiB are buffered and then the socket is paused (back-pressure).
   *
   * @throws {TransportError} `short_body` when the connection ends before the body, `reset`, `too_large`, `malformed`
   */
  read(): Promise<Uint8Array | undefined>
  /**
   * Reads on until the receiver takes no more. It is called by the event of the socket, and never before this method
   * returns. Absent: `read` only.
   */
  readTo?(receiver: BodyReceiver): void
  /**
   * Reads the whole body as one piece.
   *
   * @param reservation for the bytes of each piece that arrives from now on. Default: no limit
   * @throws as `read`; `resources` when the limit of the reservation is reached
   */
  readAll(reservation?: MemoryReservation): Promise<Uint8Array>
  /** Received bytes wait to be processed: the upstream is not silent, this process is behind. */
  hasPendingBytes(): boolean
  /** Closes the connection at once unless the body has ended. May be called at any time, more than once. */
  cancel(): void
  /** The end of the connection ends the body, so a truncated body cannot be detected. */
  readonly endsWithConnection: boolean
}

/** Kinds of {@link TransportError}, by phase. */
export type TransportErrorKind =
  | 'dns'
  | 'connect'
  | 'connect_timeout'
  | 'tls'
  /** The connection was accepted in time, but the TLS handshake was not finished in time. */
  | 'tls_timeout'
  /** The proxy could not be reached, or refused to connect. */
  | 'proxy'
  | 'proxy_timeout'
  /** The proxy wants other credentials (407). */
  | 'proxy_credential'
  /** Closed or reset before the first byte of a response on a fresh connection. */
  | 'reset'
  /** More than 20 informational (1xx) responses. */
  | 'informational'
  /** Not HTTP, or the framing is ambiguous. */
  | 'malformed'
  | 'too_large'
  /** The connection was closed or reset before the end of the body. */
  | 'short_body'
  /** This process or machine is out of descriptors, memory or ports, or reached its response memory limit. */
  | 'resources'
  /** The signal was aborted. */
  | 'aborted'

/** A request to an upstream failed. The message contains no address, URL or header. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportErrorKind
  constructor(kind: TransportErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}

/** The service's memory for responses is used up, although the response is within its provider's limit. */
export function responseMemoryError(): TransportError {
  return new TransportError('resources', 'Response memory limit reached')
}

/** The part of `AbortSignal` that a request uses. */
export interface UpstreamSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Sends requests to upstreams over kept-alive connections. */
export interface Transport {
  /**
   * Sends a request and resolves with the head of the response. Never follows redirects. Aborting the signal closes the
   * connection at once, in every phase. When a reused connection closes before the first response byte, the request is
   * sent once more on a new connection (failover.md row 5).
   *
   * @throws {TransportError}
   */
  request(request: UpstreamRequest, signal: UpstreamSignal): Promise<UpstreamResponse>
  /** Numbers of open connections, in use and idle. */
  readonly connections: { readonly active: number; readonly idle: number }
  /** Closes idle connections. Those in use close after their request. */
  close(): void
}
