import type { Visitor } from '../extensions/extension.ts'
import type { WireError } from '../wire/error.ts'

/** One HTTP request on its way through the service. */
export interface Exchange {
  readonly request: Request
  /** Normalised: dot segments resolved, no query. Everything that decides compares this and nothing else. */
  readonly path: string
  /** `x-request-id`: the caller's where it is acceptable, else a new one. */
  readonly id: string
  /** `performance.now()` of its arrival. */
  readonly started: number
  /** The address the connection comes from; empty once it is gone. */
  readonly address: () => string
  /** The port the connection comes from; `undefined` once it is gone. */
  readonly peerPort: () => number | undefined
  /** Who a guard said it is from. */
  readonly user?: string
  /** Asks the guards that are in force by then who it is from. @throws what a guard throws */
  readonly whoNow: () => Promise<Partial<Visitor>>
  /** Lets this exchange last as long as its own timers say, instead of the server's idle limit. */
  readonly keepOpen: () => void
  /** The server's idle limit counts again, from now: bytes that have left this process by then are not lost, others are. */
  readonly letClose: () => void
  /**
   * As {@link letClose}, after a large answer: the system still holds megabytes of it, and its reader may take nothing
   * for some four minutes.
   */
  readonly letRead: () => void
  /**
   * Closes the connection within seconds, although the client has not taken what it was sent: a body that breaks off
   * waits for it, for ever where {@link keepOpen} was called.
   */
  readonly drop: () => void
}

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `x-request-id` if it is 1 to 128 of `[A-Za-z0-9._-]`, else a new one (docs/api.md). */
export function requestId(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && acceptableId.test(given) ? given : crypto.randomUUID()
}

/**
 * What every error carries, whatever its path: it is not kept, not guessed at, not framed, and its address is told to
 * nobody.
 */
const harmless = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** An error as a response: in the shape of docs/errors.md, whatever the path. */
export function errorResponse(error: WireError, id: string, headers?: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(error), {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...errorHeaders(error, id),
      ...headers,
    },
  })
}

/** Too slow, too much, or not now. */
const tryAgain: ReadonlySet<number> = new Set([408, 429, 503])

/** Headers of an error in any form. */
export function errorHeaders(error: WireError, id: string): Readonly<Record<string, string>> {
  return {
    ...harmless,
    'x-request-id': id,
    'x-should-retry': tryAgain.has(error.status) ? 'true' : 'false',
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
