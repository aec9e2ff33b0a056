import { isFromOwnPages } from '../../../base/same-site.ts'
import { WireError } from '../../../formats/error.ts'
import type { RequestContext, Visitor } from '../../extension.ts'
import { withStore } from '../responses.ts'
import { isSafe } from './browser.ts'
import type { Credentials } from './credentials.ts'
import { visitorOf } from './signed-in-people.ts'

/**
 * Creates the guard: admits requests with a valid session. Browsers add the cookie to requests of any page, so an
 * unsafe request with the cookie must come from the service's own page (docs/sign-in.md).
 *
 * @param hasCaselessNames as in `Settings`
 * @param onUse called with the token of each admitted request
 * @throws {WireError} 401, 403, or 503 while the store is unavailable
 */
export function guard(
  credentials: Credentials,
  ownOrigin: string | undefined,
  hasCaselessNames: boolean,
  onUse: (token: string) => void = () => undefined,
): (visit: RequestContext) => Promise<Visitor> {
  return async function admit({ request }) {
    const { by, token, session } = await withStore(() => credentials.require(request))
    if (by === 'cookie' && !isSafe(request.method) && !isFromOwnPages(request, (origin) => origin === ownOrigin))
      throw crossSiteCookie()
    onUse(token)
    return visitorOf(session, hasCaselessNames)
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
