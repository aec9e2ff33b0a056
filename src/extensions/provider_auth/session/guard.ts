import { isFromOwnPages } from '../../../base/same-site.ts'
import { WireError } from '../../../formats/error.ts'
import type { RequestContext, Visitor } from '../../extension.ts'
import { withStore } from '../responses.ts'
import { isSafe } from './browser.ts'
import type { Credentials } from './credentials.ts'
import { profileOf } from './sessions.ts'

/**
 * Creates the guard: admits requests with a valid session. Browsers add the cookie to requests of any page, so an
 * unsafe request with the cookie must come from the service's own page (docs/sign-in.md).
 *
 * @param hasCaselessNames as in `Settings`
 * @throws {WireError} 401, 403, or 503 while the store is unavailable
 */
export function guard(
  credentials: Credentials,
  ownOrigin: string | undefined,
  hasCaselessNames: boolean,
): (visit: RequestContext) => Promise<Visitor> {
  return async function admit({ request }) {
    const { by, session } = await withStore(() => credentials.require(request))
    if (by === 'cookie' && !isSafe(request.method) && !isFromOwnPages(request, (origin) => origin === ownOrigin))
      throw crossSiteCookie()
    const profile = profileOf(session)
    return {
      user: session.userName,
      userId: session.userId,
      subject: profile.id,
      hasCaselessName: hasCaselessNames,
      profile,
    }
  }
}

/** 403: another site's page sent the request, with the session cookie. */
export function crossSiteCookie(): WireError {
  return new WireError(
    403,
    'permission_error',
    'cross_site_request',
    'Cross-site request: with a cookie, only the pages of this service may send this',
  )
}
