/**
 * Characters of a `Cookie` header that are looked at; a longer one is as good as none. HTTP servers bound it before we
 * do.
 */
const headerMax = 65_536

/**
 * Every cookie of a request: name → its values in the order sent. A name that occurs twice is two values: which of them
 * is ours, nobody knows.
 */
export type Cookies = ReadonlyMap<string, readonly string[]>

/**
 * Reads a `Cookie` header (RFC 6265 section 4.2.1). Never throws: what is no `name=value` is passed over. Values are as
 * sent.
 */
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
 * Spaces and tabs only, as browsers strip them. `trim` takes more, such as U+00A0: a browser lets anybody's subdomain
 * set a cookie whose name begins with that and goes on with `__Host-`, and would have us take it for the real one.
 */
function withoutBlanks(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '')
}

/** The value of a cookie, unless it has several different ones. */
export function onlyValue(cookies: Cookies, name: string): string | undefined {
  const values = new Set(cookies.get(name))
  return values.size === 1 ? values.values().next().value : undefined
}

/**
 * What our cookies differ in. Each is host-only, for all paths, hidden from scripts and not sent with requests of other
 * sites.
 */
export interface CookieOptions {
  readonly name: string
  /** Of characters that need no escaping. */
  readonly value: string
  /** 0 deletes it. */
  readonly maxAgeSeconds: number
  /** Sent over https only. */
  readonly isSecure: boolean
}

/** A `Set-Cookie` header. */
export function serialiseCookie({ name, value, maxAgeSeconds, isSecure }: CookieOptions): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`
}
