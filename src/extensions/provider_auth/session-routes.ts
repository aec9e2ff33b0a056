import { WireError } from '../../wire/error.ts'
import type { ExtensionLog, ExtensionRoute, Visit } from '../extension.ts'
import { jsonAnswer, redirection } from './answers.ts'
import { isFromOwnPages, showsPage } from './browser.ts'
import { invalidSession, type Credentials } from './credentials.ts'
import { crossSiteRequest } from './guard.ts'
import type { SessionCookie } from './session-cookie.ts'
import { expiryOf, type Sessions } from './sessions.ts'

/** What {@link sessionRoutes} needs. */
export interface SessionRoutesOptions {
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly cookie: SessionCookie
  readonly ownOrigin: string | undefined
  readonly log: ExtensionLog
}

/**
 * `GET /auth`, `GET /auth/session`, `POST /auth/logout` and, for whatever else is asked below `/auth/`, that there is
 * nothing (docs/sign-in.md).
 */
export function sessionRoutes({
  sessions,
  credentials,
  cookie,
  ownOrigin,
  log,
}: SessionRoutesOptions): readonly ExtensionRoute[] {
  async function status({ request }: Visit): Promise<Response> {
    const { session } = await credentials.require(request)
    const { userId, userName, displayName, profileUrl, email } = session
    return jsonAnswer({
      userId,
      userName,
      displayName,
      profileUrl,
      email,
      authProvider: 'provider',
      expiresAt: expiryOf(session),
    })
  }

  async function current({ request }: Visit): Promise<Response> {
    const credential = await credentials.find(request)
    if (credential.kind !== 'live') throw invalidSession()
    const { userId, userName, displayName, profileUrl, email, created } = credential.session
    return jsonAnswer({ userId, userName, displayName, profileUrl, email, sessionToken: credential.token, created })
  }

  async function logout({ request }: Visit): Promise<Response> {
    const { byHeader, byCookie } = credentials.shown(request)
    const isOwn = isFromOwnPages(request, ownOrigin)
    if (!isOwn && byCookie.length > 0) throw crossSiteRequest()
    for (const token of new Set([...byHeader, ...byCookie])) {
      const ended = await sessions.end(token)
      if (ended !== undefined) log.info('signed out', { user: ended.userName, id: ended.userId })
    }
    // A form of another site comes without our cookie, but its answer could still delete it.
    const setCookies = isOwn ? [cookie.deletion] : []
    return showsPage(request) ? redirection(303, '/', setCookies) : jsonAnswer({ success: true }, setCookies)
  }

  async function nothing(): Promise<Response> {
    throw new WireError(404, 'invalid_request_error', 'not_found', 'There is nothing at this path')
  }

  return [
    { method: 'GET', path: '/auth', handle: status },
    { method: 'GET', path: '/auth/session', handle: current },
    { method: 'POST', path: '/auth/logout', handle: logout },
    { method: 'GET', path: '/auth/', handle: nothing },
    { method: 'POST', path: '/auth/', handle: nothing },
  ]
}
