import { serialiseCookie } from './cookies.ts'
import { sessionSeconds } from './sessions.ts'

/** `Set-Cookie` headers of the session cookie (docs/sign-in.md). */
export interface SessionCookie {
  /** Header that sets the cookie. */
  create(token: string): string
  /** Header that deletes the cookie. Browsers require the same attributes. */
  readonly deletion: string
}

/** Creates the headers of the session cookie. @param isSecure from the scheme of `redirect_uri`, not of a request */
export function sessionCookie(name: string, isSecure: boolean): SessionCookie {
  return {
    create: (token) => serialiseCookie({ name, value: token, maxAgeSeconds: sessionSeconds, isSecure }),
    deletion: serialiseCookie({ name, value: '', maxAgeSeconds: 0, isSecure }),
  }
}
