import { StoreUnavailable } from '../../stores/store.ts'
import { WireError } from '../../wire/error.ts'

/**
 * On everything this extension answers: it is kept by nobody, told to nobody, taken for nothing else, and shown in no
 * frame.
 */
export const harmless = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

function headersOf(own: Readonly<Record<string, string>>, setCookies: readonly string[]): Headers {
  const headers = new Headers({
    ...harmless,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...own,
  })
  for (const cookie of setCookies) headers.append('set-cookie', cookie)
  return headers
}

/** JSON, with cookies. */
export function jsonAnswer(value: unknown, setCookies: readonly string[] = []): Response {
  return new Response(JSON.stringify(value), { headers: headersOf({ 'content-type': 'application/json' }, setCookies) })
}

/** Sends a browser elsewhere, by GET. @param status 303 after a POST (RFC 9110 section 15.4) */
export function redirection(status: 302 | 303, location: string, setCookies: readonly string[]): Response {
  return new Response(null, { status, headers: headersOf({ location }, setCookies) })
}

/** An error with one header more. */
export class ErrorWithHeader extends WireError {
  constructor(error: WireError, name: string, value: string) {
    super(error.status, error.type, error.code, error.message, {
      ...(error.param === null ? {} : { param: error.param }),
      ...(error.advice === undefined ? {} : { advice: error.advice }),
      headers: { ...error.headers, [name]: value },
      cause: error.cause,
    })
  }
}

/**
 * Does what needs a store. While that is away nobody knows who is signed in: nobody passes, and nobody is told to sign
 * in again. @throws {WireError} 503
 */
export async function withStore<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new WireError(503, 'overloaded_error', 'store_unavailable', 'Sessions cannot be looked up at the moment', {
      headers: { 'retry-after': '1' },
      advice: 'Try again in a moment.',
      cause: error,
    })
  }
}
