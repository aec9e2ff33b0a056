import { isFromOwnPages, isJson } from '../../../base/same-site.ts'
import { WireError } from '../../../formats/error.ts'
import { readBodyBy } from '../../../formats/parse-json-object.ts'
import { objectShape } from '../../../shapes/containers.ts'
import { flagShape } from '../../../shapes/shape.ts'
import type { ExtensionLog, ExtensionRoute, RouteContext, RequestContext } from '../../extension.ts'
import { jsonWithCookies, redirect } from '../responses.ts'
import { showsPage } from './browser.ts'
import { invalidSession, type Credentials } from './credentials.ts'
import { crossSiteCookie } from './guard.ts'
import type { SessionCookie } from './session-cookie.ts'
import { expiryOf, type Sessions } from './sessions.ts'
import type { AgentSessions } from './signed-in-people.ts'

export interface SessionRoutesOptions {
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly cookie: SessionCookie
  readonly ownOrigin: string | undefined
  /** Absent: agents cannot sign in. */
  readonly agents: Pick<AgentSessions, 'endAll'> | undefined
  readonly log: ExtensionLog
}

/** `GET /auth`, `GET /auth/session`, `POST /auth/logout`, and 404 for other paths below `/auth/` (docs/sign-in.md). */
export function sessionRoutes(options: SessionRoutesOptions): readonly ExtensionRoute[] {
  const { sessions, credentials, cookie, ownOrigin, log } = options

  async function status({ request }: RequestContext): Promise<Response> {
    const { session } = await credentials.require(request)
    const { userId, userName, displayName, profileUrl, email } = session
    return jsonWithCookies({
      userId,
      userName,
      displayName,
      profileUrl,
      email,
      authProvider: 'provider',
      expiresAt: expiryOf(session),
    })
  }

  async function current({ request }: RequestContext): Promise<Response> {
    const credential = await credentials.find(request)
    if (credential.kind !== 'valid') throw invalidSession()
    const { userId, userName, displayName, profileUrl, email, created } = credential.session
    return jsonWithCookies({
      userId,
      userName,
      displayName,
      profileUrl,
      email,
      sessionToken: credential.token,
      created,
    })
  }

  async function logout(context: RouteContext): Promise<Response> {
    const { request } = context
    const { byHeader, byCookie } = credentials.tokens(request)
    const isOwn = isFromOwnPages(request, (origin) => origin === ownOrigin)
    if (!isOwn && byCookie.length > 0) throw crossSiteCookie()
    const ended = (await isForEverywhere(context)) ? await endEverywhere(options, request) : undefined
    for (const token of new Set([...byHeader, ...byCookie])) {
      const ended = await sessions.end(token)
      if (ended !== undefined) log.info('signed out', { user: ended.userName, id: ended.userId })
    }
    // Another site's form is sent without the cookie (SameSite), but its response could still delete it.
    const setCookies = isOwn ? [cookie.deletion] : []
    return showsPage(request) ? redirect(303, '/', setCookies) : jsonWithCookies({ success: true, ended }, setCookies)
  }

  return [
    { method: 'GET', path: '/auth', handle: status },
    { method: 'GET', path: '/auth/session', handle: current },
    { method: 'POST', path: '/auth/logout', handle: logout },
    { method: 'GET', path: '/auth/', handle: notFound },
    { method: 'POST', path: '/auth/', handle: notFound },
  ]
}

/** @returns the number of sessions and agents that ended */
async function endEverywhere(options: SessionRoutesOptions, request: Request): Promise<number> {
  const { sessions, credentials, agents, log } = options
  const credential = await credentials.find(request)
  if (credential.kind !== 'valid') return 0
  const { userId, userName } = credential.session
  const ended = (await sessions.endAllOfUserId(userId)) + ((await agents?.endAll(`id:${userId}`)) ?? 0)
  log.info('signed out', { user: userName, id: userId, sessions: ended })
  return ended
}

async function notFound(): Promise<Response> {
  throw new WireError(404, 'invalid_request_error', 'not_found', 'There is nothing at this path')
}

const logoutBytesMax = 1_024
const logoutShape = objectShape({ everywhere: flagShape }, { isOpen: true })

/** Whether the body is JSON with `"everywhere": true`. @throws {WireError} if JSON is malformed or of a wrong type */
async function isForEverywhere({ request, body }: RouteContext): Promise<boolean> {
  if (!isJson(request)) return false
  const bytes = await body(logoutBytesMax)
  if (bytes.length === 0) return false
  return readBodyBy(bytes, logoutShape).everywhere ?? false
}
