import { NoAnswer, WireError } from '../../../formats/error.ts'
import type { RouteContext } from '../../extension.ts'
import { securityHeaders } from '../responses.ts'

/** The errors of RFC 6749 section 5.2 and RFC 8628 section 3.5 that are sent. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'

/** An answer of OAuth 2.0 as JSON. */
export function oauthAnswer(status: number, value: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      ...securityHeaders,
      'content-type': 'application/json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...(status === 200 ? {} : { 'x-should-retry': 'false' }),
      ...headers,
    },
  })
}

export function oauthError(status: 400 | 401 | 429, error: OAuthErrorCode, description?: string): Response {
  return oauthAnswer(status, description === undefined ? { error } : { error, error_description: description })
}

const formBytesMax = 8_192

/**
 * Reads the form of a request, each name once. Unknown names are accepted, as RFC 6749 section 3.2 wants.
 *
 * @returns `undefined`: no form, or a name that is there twice
 * @throws {WireError} when the body is too large, too slow or cut off
 */
export async function readOAuthForm({ request, body }: RouteContext): Promise<ReadonlyMap<string, string> | undefined> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return undefined
  const bytes = await body(formBytesMax)
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (form.has(name)) return undefined
    form.set(name, value)
  }
  return form
}

/**
 * Runs the work of an endpoint whose clients give up their sign-in after any status of an error: in place of an error,
 * the connection is closed without an answer, and they try again.
 *
 * @throws {NoAnswer}
 */
export async function answeredOrClosed(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof WireError && error.status === 413) throw error
    throw new NoAnswer('the answer would have been an error of the service', { cause: error })
  }
}
