import { WireError } from '../../formats/error.ts'
import { StoreUnavailable } from '../../stores/store.ts'

/** Headers of all successful responses: no caching, no referrer, no frames, no cross-origin reads. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

function headersOf(own: Readonly<Record<string, string>>, setCookies: readonly string[]): Headers {
  const headers = new Headers({
    ...securityHeaders,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...own,
  })
  for (const cookie of setCookies) headers.append('set-cookie', cookie)
  return headers
}

/** A JSON response that sets cookies. */
export function jsonWithCookies(value: unknown, setCookies: readonly string[] = []): Response {
  return new Response(JSON.stringify(value), { headers: headersOf({ 'content-type': 'application/json' }, setCookies) })
}

/** A redirect that sets cookies. @param status 303 after a POST (RFC 9110 section 15.4) */
export function redirect(status: 302 | 303, location: string, setCookies: readonly string[]): Response {
  return new Response(null, { status, headers: headersOf({ location }, setCookies) })
}

/** Of the path that starts a sign-in: with another account than the one that was refused. */
export const anotherAccount = '?another'

const deniedInGerman = 'Zugriff verweigert'

/** 403: the person refused at the identity provider. */
export function accessDenied(): WireError {
  return new WireError(403, 'permission_error', 'access_denied', 'Access Denied', {
    translations: { de: { message: deniedInGerman } },
  })
}

/** 403: `restrict_to` does not name the account of the person. */
export function accountDenied(userName: string, identityProvider: string | undefined): WireError {
  const advice =
    `You are signed in at ${identityProvider ?? 'the identity provider'} as ${userName}. ` +
    'Ask the owner of this service to let you in.'
  const german =
    `Sie sind bei ${identityProvider ?? 'dem Identitätsanbieter'} als ${userName} angemeldet. ` +
    'Bitten Sie den Eigentümer dieses Dienstes, Sie einzulassen.'
  return new WireError(403, 'permission_error', 'access_denied', 'Access Denied', {
    advice,
    wayOn: { path: `/auth/provider${anotherAccount}`, text: 'Sign in as someone else' },
    translations: { de: { message: deniedInGerman, advice: german, wayOn: 'Mit einem anderen Konto anmelden' } },
  })
}

/** A copy of an error with an additional header. */
export class ErrorWithHeader extends WireError {
  constructor(error: WireError, name: string, value: string) {
    super(error.status, error.type, error.code, error.message, {
      ...(error.param === null ? {} : { param: error.param }),
      ...(error.advice === undefined ? {} : { advice: error.advice }),
      wayOn: error.wayOn,
      translations: error.translations,
      headers: { ...error.headers, [name]: value },
      cause: error.cause,
    })
  }
}

/**
 * Runs work that reads a store. An unavailable store gives 503 instead of 401, because the session may still be valid.
 *
 * @throws {WireError} 503
 */
export async function withStore<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new WireError(503, 'overloaded_error', 'store_unavailable', 'The session store is not available', {
      headers: { 'retry-after': '1' },
      advice: 'Try again in a moment.',
      cause: error,
    })
  }
}
