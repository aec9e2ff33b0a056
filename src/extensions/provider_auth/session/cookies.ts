/** Limit of a `Cookie` header, in characters; a longer one is ignored. HTTP servers usually have a lower limit. */
const headerMax = 65_536

/** Cookies of a request: name → values in the order sent. A name with several values may include forged ones. */
export type Cookies = ReadonlyMap<string, readonly string[]>

/** Parses a `Cookie` header (RFC 6265 section 4.2.1). Skips malformed pairs; does not decode values. Never throws. */
export function parseCookies(header: string | null): Cookies {
  const cookies = new Map<string, string[]>()
  if (header === null || header.length > headerMax) return cookies
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals === -1) continue
    const name = withoutBlanks(pair.slice(0, equals))
    const value = withoutBlanks(pair.slice(equals + 1))
    const values = cookies.get(name)
    if (values === undefined) cookies.set(name, [value])
    else values.push(value)
  }
  return cookies
}

/**
 * Strips spaces and tabs only, as browsers do. `trim` also strips characters such as U+00A0; another subdomain can set
 * a cookie named U+00A0 and `__Host-…`, which `trim` would turn into the protected name.
 */
function withoutBlanks(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '')
}

/** The value of a cookie; `undefined` if it is absent or has several different values. */
export function onlyValue(cookies: Cookies, name: string): string | undefined {
  const values = new Set(cookies.get(name))
  return values.size === 1 ? values.values().next().value : undefined
}

/** Options of {@link serialiseCookie}. All cookies are host-only, `Path=/`, `HttpOnly` and `SameSite=Lax`. */
export interface CookieOptions {
  readonly name: string
  /** Must need no escaping. */
  readonly value: string
  /** 0 deletes the cookie. */
  readonly maxAgeSeconds: number
  /** Whether the cookie is sent over https only. */
  readonly isSecure: boolean
}

/** Builds a `Set-Cookie` header. */
export function serialiseCookie({ name, value, maxAgeSeconds, isSecure }: CookieOptions): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`
}
