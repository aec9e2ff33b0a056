import { WireError } from '../../wire/error.ts'
import { onlyValue, parseCookies } from './cookies.ts'
import { isToken } from './random-token.ts'
import type { Session, Sessions } from './sessions.ts'

/** What a request shows of who sent it. */
export type Credential =
  | { readonly kind: 'absent' }
  /** Something that is, or looks like, the token of a session, and is of none that lives. */
  | { readonly kind: 'dead' }
  | { readonly kind: 'live'; readonly by: 'header' | 'cookie'; readonly token: string; readonly session: Session }

/**
 * Reads who sends a request: `X-Session-Token`, else `Authorization: Bearer`, else the cookie (docs/sign-in.md). Never
 * the address.
 */
export interface Credentials {
  find(request: Request): Promise<Credential>
  /** @throws {WireError} 401 */
  require(request: Request): Promise<Extract<Credential, { kind: 'live' }>>
  /** Every token that a request shows, be it live or not; of cookies only some, since their number is the sender's. */
  shown(request: Request): { readonly byHeader: readonly string[]; readonly byCookie: readonly string[] }
}

/** Tokens in cookies that are looked at when a session is to end. */
const cookiesMost = 4

/** The credentials of requests to this service. @param cookieName of the session's cookie */
export function credentials(sessions: Sessions, cookieName: string): Credentials {
  function cookieValues({ headers }: Request): readonly string[] {
    return (parseCookies(headers.get('cookie')).get(cookieName) ?? []).filter((value) => value !== '')
  }

  async function find(request: Request): Promise<Credential> {
    const header = request.headers.get('x-session-token')
    if (header !== null) return liveOr('dead', 'header', header)
    const bearer = bearerToken(request)
    const byBearer = await liveOr('absent', 'header', bearer)
    if (byBearer.kind === 'live') return byBearer
    // With two of them, one may have been set by somebody else's subdomain.
    const byCookie = await liveOr(
      'absent',
      'cookie',
      onlyValue(parseCookies(request.headers.get('cookie')), cookieName),
    )
    if (byCookie.kind === 'live') return byCookie
    return { kind: bearer === undefined && cookieValues(request).length === 0 ? 'absent' : 'dead' }
  }

  async function liveOr(
    otherwise: 'absent' | 'dead',
    by: 'header' | 'cookie',
    token: string | undefined,
  ): Promise<Credential> {
    const session = token === undefined ? undefined : await sessions.find(token)
    return token === undefined || session === undefined ? { kind: otherwise } : { kind: 'live', by, token, session }
  }

  return {
    find,

    async require(request) {
      const credential = await find(request)
      if (credential.kind === 'live') return credential
      if (credential.kind === 'dead') throw invalidSession()
      throw new WireError(401, 'authentication_error', 'authentication_required', 'Authentication required', {
        headers: challenge,
        advice: 'Sign in at the start page.',
      })
    },

    shown(request) {
      const byHeader = [request.headers.get('x-session-token') ?? undefined, bearerToken(request)].filter(
        (token) => token !== undefined,
      )
      return { byHeader, byCookie: [...new Set(cookieValues(request))].slice(0, cookiesMost) }
    },
  }
}

/** RFC 6750 section 3. */
const challenge = { 'www-authenticate': 'Bearer realm="svc"' }

/** 401: what was shown as a session is none (docs/sign-in.md). */
export function invalidSession(): WireError {
  return new WireError(401, 'authentication_error', 'invalid_session', 'Invalid or expired session', {
    headers: challenge,
    advice: 'Sign in again at the start page.',
  })
}

/**
 * The token in `Authorization: Bearer`, if it has the form of one of ours: anything else is an API key, which nobody
 * looks at (docs/sign-in.md).
 */
function bearerToken({ headers }: Request): string | undefined {
  const token = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  return token !== undefined && isToken(token) ? token : undefined
}
