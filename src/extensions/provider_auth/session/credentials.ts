import { WireError } from '../../../formats/error.ts'
import { keyHeaders } from '../../../formats/format-list.ts'
import { onlyValue, parseCookies } from './cookies.ts'
import { isToken } from './random-token.ts'
import type { Session, Sessions } from './sessions.ts'

/** The session credential of a request. */
export type Credential =
  | { readonly kind: 'absent' }
  /** A token was sent, but belongs to no current session. */
  | { readonly kind: 'invalid' }
  | { readonly kind: 'valid'; readonly by: 'header' | 'cookie'; readonly token: string; readonly session: Session }

/**
 * Reads session tokens of requests: `X-Session-Token`, then `Authorization: Bearer`, then the headers of API keys, then
 * the cookie (docs/sign-in.md). A token in the URL is ignored.
 */
export interface Credentials {
  find(request: Request): Promise<Credential>
  /** @throws {WireError} 401 */
  require(request: Request): Promise<Extract<Credential, { kind: 'valid' }>>
  /** All tokens that a request carries, valid or not, with at most four from cookies. */
  tokens(request: Request): { readonly byHeader: readonly string[]; readonly byCookie: readonly string[] }
}

/** Limit of tokens taken from cookies by {@link Credentials.tokens}. */
const cookieTokensMax = 4

/** Creates the reader of session tokens. @param cookieName name of the session cookie */
export function credentials(sessions: Sessions, cookieName: string): Credentials {
  function cookieValues({ headers }: Request): readonly string[] {
    return (parseCookies(headers.get('cookie')).get(cookieName) ?? []).filter((value) => value !== '')
  }

  async function find(request: Request): Promise<Credential> {
    const header = request.headers.get('x-session-token')
    if (header !== null) return findSession('invalid', 'header', header)
    const keys = apiKeyTokens(request)
    for (const key of keys) {
      const byKey = await findSession('absent', 'header', key)
      if (byKey.kind === 'valid') return byKey
    }
    // Of two different values, one may be forged by another subdomain.
    const byCookie = await findSession(
      'absent',
      'cookie',
      onlyValue(parseCookies(request.headers.get('cookie')), cookieName),
    )
    if (byCookie.kind === 'valid') return byCookie
    return { kind: keys.length === 0 && cookieValues(request).length === 0 ? 'absent' : 'invalid' }
  }

  async function findSession(
    otherwise: 'absent' | 'invalid',
    by: 'header' | 'cookie',
    token: string | undefined,
  ): Promise<Credential> {
    const session = token === undefined ? undefined : await sessions.find(token)
    return token === undefined || session === undefined ? { kind: otherwise } : { kind: 'valid', by, token, session }
  }

  return {
    find,

    async require(request) {
      const credential = await find(request)
      if (credential.kind === 'valid') return credential
      if (credential.kind === 'invalid') throw invalidSession()
      throw new WireError(401, 'authentication_error', 'authentication_required', 'Authentication required', {
        headers: challenge,
        advice: 'Sign in at the start page.',
      })
    },

    tokens(request) {
      const token = request.headers.get('x-session-token')
      const byHeader = [...(token === null ? [] : [token]), ...apiKeyTokens(request)]
      return { byHeader, byCookie: [...new Set(cookieValues(request))].slice(0, cookieTokensMax) }
    },
  }
}

/** RFC 6750 section 3. */
const challenge = { 'www-authenticate': 'Bearer realm="svc"' }

/** 401: the session token is invalid or expired (docs/sign-in.md). */
export function invalidSession(): WireError {
  return new WireError(401, 'authentication_error', 'invalid_session', 'Invalid or expired session', {
    headers: challenge,
    advice: 'Sign in again at the start page.',
  })
}

/**
 * The tokens in `Authorization: Bearer` and the {@link keyHeaders}, where clients send API keys, if they have the form
 * of a session token. Other values are API keys, which are ignored (docs/sign-in.md).
 */
function apiKeyTokens({ headers }: Request): readonly string[] {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  return [bearer, ...keyHeaders.map((name) => headers.get(name))]
    .filter((token) => typeof token === 'string')
    .filter(isToken)
}
