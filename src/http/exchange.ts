import type { Visitor } from '../extensions/extension.ts'
import type { WireError } from '../formats/error.ts'
import type { Format } from '../formats/format.ts'

/** A request of a client, and what its handlers need to know and do about its connection. */
export interface Exchange {
  readonly request: Request
  /** Normalised: dot segments resolved, no query. All decisions are made by it. */
  readonly path: string
  /** `x-request-id` of the caller, if acceptable, or a new one. */
  readonly id: string
  /** `performance.now()` at its arrival. */
  readonly started: number
  /** Remote address of the connection; empty once it is closed. */
  readonly address: () => string
  /** Remote port of the connection; `undefined` once it is closed. */
  readonly peerPort: () => number | undefined
  /** Name of the user, if a guard gave one. */
  readonly user?: string
  /** All that the guards know of the user. */
  readonly visitor?: Partial<Visitor>
  /** Asks the current guards again. @throws errors of the guards */
  readonly currentVisitor: () => Promise<Partial<Visitor>>
  /** Suspends the server's idle limit: the timers of the handler apply instead. */
  readonly keepOpen: () => void
  /** Restarts the server's idle limit. After it, bytes that have not left this process are lost. */
  readonly resetIdleLimit: () => void
  /**
   * Sets the longest idle limit, some four minutes, after a large answer: the system still buffers megabytes of it for
   * a client that may read slowly.
   */
  readonly extendIdleLimit: () => void
  /**
   * Closes the connection within seconds, even if the client has not read its answer. Without it, a body aborted after
   * {@link keepOpen} would wait for the client for ever.
   */
  readonly drop: () => void
}

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `x-request-id` if it is 1 to 128 of `[A-Za-z0-9._-]`, otherwise a new one (docs/api.md). */
export function requestId(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && acceptableId.test(given) ? given : crypto.randomUUID()
}

/** Headers of every error: no caching, no referrer, no type sniffing, no frames. */
const protection = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** How an error is sent. */
export interface ErrorOptions {
  /** Gives the error its shape. Default: the shape of docs/errors.md. */
  readonly format?: Format | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** An error as a response, in the shape of docs/errors.md on every path. */
export function errorResponse(error: WireError, id: string, { format, headers }: ErrorOptions = {}): Response {
  return new Response(format?.errorBody(error) ?? JSON.stringify(error), {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...errorHeaders(error, id),
      ...headers,
    },
  })
}

/** Statuses after which a retry can help: too slow, too many requests, overloaded. */
const retryable: ReadonlySet<number> = new Set([408, 429, 503])

/** Headers of an error, as JSON or as a page. */
export function errorHeaders(error: WireError, id: string): Readonly<Record<string, string>> {
  return {
    ...protection,
    'x-request-id': id,
    'x-should-retry': retryable.has(error.status) ? 'true' : 'false',
    ...error.headers,
  }
}

/** JSON as a response. */
export function jsonResponse(value: unknown, id: string, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': id },
  })
}
