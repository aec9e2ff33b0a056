import type { WireError } from '../formats/error.ts'
import type { Format } from '../formats/format.ts'

/** Headers of every error: no caching, no referrer, no frames. The server adds those of every answer. */
const protection = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
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
  return new Response(format?.errorBody(error, id) ?? JSON.stringify(error), {
    status: statusOf(error, format),
    headers: {
      'content-type': 'application/json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...errorHeaders(error, id),
      ...headers,
    },
  })
}

/** The status of an error in a format. */
export function statusOf(error: WireError, format: Format | undefined): number {
  return format?.errorStatus?.(error) ?? error.status
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
