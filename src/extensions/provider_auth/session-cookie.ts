import { serialiseCookie } from './cookies.ts'
import { sessionSeconds } from './sessions.ts'

/** `Set-Cookie` headers of the session's cookie (docs/sign-in.md). */
export interface SessionCookie {
  holding(token: string): string
  /** With the same attributes, as browsers want it. */
  readonly deletion: string
}

/** The cookie of sessions. @param isSecure over https only: as `redirect_uri` says, whatever a request says of itself */
export function sessionCookie(name: string, isSecure: boolean): SessionCookie {
  return {
    holding: (token) => serialiseCookie({ name, value: token, maxAgeSeconds: sessionSeconds, isSecure }),
    deletion: serialiseCookie({ name, value: '', maxAgeSeconds: 0, isSecure }),
  }
}
