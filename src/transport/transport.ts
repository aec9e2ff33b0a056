/** Where an upstream lives. One pool of connections an origin and owner. */
export interface Origin {
  readonly secure: boolean
  /** Name or address, without brackets. Used for SNI and checked against the certificate. */
  readonly hostname: string
  readonly port: number
  /**
   * Connections are shared only by those of the same owner: an answer too many on one of them never reaches another's
   * caller.
   */
  readonly owner?: string
}

/** One HTTP/1.1 request to an upstream. */
export interface UpstreamRequest {
  readonly origin: Origin
  readonly method: 'GET' | 'POST'
  /** Path and query, beginning with `/`. */
  readonly path: string
  /**
   * Complete header lines but for Host, Connection, Content-Length. Names and values are checked once, when the
   * provider is made (see {@link headerBlock}).
   */
  readonly headers: HeaderBlock
  /** The body in pieces, sent in order without being joined. Empty for GET. */
  readonly body: readonly Uint8Array[]
  /** Milliseconds for name look-up, TCP and TLS together. */
  readonly connectMs: number
  /** Most bytes of a response body, after decompression. Above: {@link TransportError} `too_large`. */
  readonly bodyBytesMax: number
}

/** Header lines ready for the wire, `name: value\r\n` each; made by `headerBlock`. */
export type HeaderBlock = string & { readonly __brand: 'HeaderBlock' }

/** The head of an answer, with its body still to be read. */
export interface UpstreamResponse {
  readonly status: number
  /** Lower-case name → value; repeated headers are joined with `, `. At most 64 KiB in all. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: UpstreamBody
}

/** A response body. Exactly one reader; either `read` until the end, `readAll`, or `cancel`. */
export interface UpstreamBody {
  /**
   * The next bytes: 8 KiB at most, or what 4 KiB of a compressed body unfold to. `undefined` at the end the framing
   * announced. Not reading holds the upstream back (back-pressure; some 256 KiB are buffered, and what the socket
   * brought with them).
   *
   * @throws {TransportError} `short_body` when the connection ends before the framing says so, `reset`, `too_large`,
   *   `malformed`
   */
  read(): Promise<Uint8Array | undefined>
  /**
   * The whole body in one piece.
   *
   * @param mayHold asked for the bytes of each piece that comes from now on, before it is held. Absent: all may be held
   * @throws as `read`; `resources` when a piece may not be held
   */
  readAll(mayHold?: (bytes: number) => boolean): Promise<Uint8Array>
  /** Bytes have arrived that wait for their turn to be looked at: the upstream is not silent, this process is behind. */
  hasArrived(): boolean
  /** Drops the connection at once, if the body has not ended. May be called at any time, more than once. */
  cancel(): void
  /** The body was framed by the end of the connection: its end proves nothing. */
  readonly endsWithConnection: boolean
}

/** What went wrong on the way, by phase. */
export type TransportErrorKind =
  | 'dns'
  | 'connect'
  | 'connect_timeout'
  | 'tls'
  /** The connection was there in time, its TLS handshake was not. */
  | 'tls_timeout'
  /** Closed or reset before the first byte of a response on a fresh connection. */
  | 'reset'
  /** More than 20 informational (1xx) responses. */
  | 'informational'
  /** Not HTTP, or an ambiguous framing. */
  | 'malformed'
  | 'too_large'
  /** The body ended before its framing said so, or the connection was reset inside it. */
  | 'short_body'
  /** This process or machine is out of descriptors, memory, ports, or room for an answer: not the upstream's fault. */
  | 'resources'
  /** The signal was aborted. */
  | 'aborted'

/** An exchange with an upstream failed. The message names no address, URL or header. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportErrorKind
  constructor(kind: TransportErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}

/** An answer is too much for this service, not for what its provider may send. */
export function noRoomForAnswer(): TransportError {
  return new TransportError('resources', 'There is no room for so large an answer now')
}

/** What an exchange needs of an `AbortSignal`; one will do. */
export interface UpstreamSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Sends requests to upstreams over kept-alive connections. */
export interface Transport {
  /**
   * Sends a request and resolves with the head of the answer. Never follows a redirect. Aborting the signal drops the
   * connection at once, in every phase. A kept-alive connection that dies before the first response byte is tried once
   * more on a fresh one, unseen by the caller (failover.md row 5).
   *
   * @throws {TransportError}
   */
  request(request: UpstreamRequest, signal: UpstreamSignal): Promise<UpstreamResponse>
  /** Connections open now: in use and idle. */
  readonly connections: { readonly active: number; readonly idle: number }
  /** Closes idle connections; those in use close when they are done. */
  close(): void
}
