import { WireError } from '../../wire/error.ts'
import type { Visit, Visitor } from '../extension.ts'
import { withStore } from './answers.ts'
import { isFromOwnPages, isSafe } from './browser.ts'
import type { Credentials } from './credentials.ts'
import { profileOf } from './sessions.ts'

/**
 * Lets pass who is signed in, and nobody else. A browser adds the cookie to whatever a page asks for, so with the
 * cookie a request that changes something must be from our own pages (docs/sign-in.md).
 *
 * @throws {WireError} 401, 403, or 503 while nobody knows who is signed in
 */
export function guard(credentials: Credentials, ownOrigin: string | undefined): (visit: Visit) => Promise<Visitor> {
  return async function letPass({ request }) {
    const { by, session } = await withStore(() => credentials.require(request))
    if (by === 'cookie' && !isSafe(request.method) && !isFromOwnPages(request, ownOrigin)) throw crossSiteRequest()
    return { user: session.userName, profile: profileOf(session) }
  }
}

/** 403: somebody else's page has sent this, with our cookie. */
export function crossSiteRequest(): WireError {
  return new WireError(
    403,
    'permission_error',
    'cross_site_request',
    'Cross-site request: with a cookie, only the pages of this service may send this',
  )
}
