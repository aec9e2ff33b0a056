/** Cookies of one browser (RFC 6265 section 5; only host, Path, Max-Age, Secure and deletion). */
export interface CookieJar {
  /** The `Cookie` header for an address; `undefined` without cookies. */
  header(url: string): string | undefined
  /** Cookies for an address: name → value. */
  cookies(url: string): ReadonlyMap<string, string>
  /** Stores the `Set-Cookie` lines of an answer from this address. */
  store(url: string, headers: Headers): void
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly host: string
  readonly path: string
  readonly isSecure: boolean
}

/** Makes an empty jar. Cookies of all ports of a host are the same, as in browsers. */
export function cookieJar(): CookieJar {
  const kept = new Map<string, Cookie>()

  function cookiesFor(url: string): ReadonlyMap<string, string> {
    const { hostname, pathname, protocol } = new URL(url)
    const matching = [...kept.values()].filter(
      ({ host, path, isSecure }) =>
        host === hostname && isBelow(pathname, path) && (!isSecure || protocol === 'https:'),
    )
    return new Map(matching.map(({ name, value }) => [name, value]))
  }

  return {
    cookies: cookiesFor,
    header(url) {
      const cookies = cookiesFor(url)
      return cookies.size === 0 ? undefined : Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    },
    store(url, headers) {
      for (const line of headers.getSetCookie()) {
        const { cookie, isOver } = parseSetCookie(line, new URL(url))
        const key = `${cookie.host} ${cookie.path} ${cookie.name}`
        if (isOver) kept.delete(key)
        else kept.set(key, cookie)
      }
    },
  }
}

/** Parses a `Set-Cookie` line: name, value, and attributes in lower case, `true` for those without a value. */
export function cookieParts(line: string): {
  readonly name: string
  readonly value: string
  readonly attributes: Readonly<Record<string, string | true>>
} {
  const [pair = '', ...rest] = line.split(';').map((part) => part.trim())
  const equals = pair.indexOf('=')
  const attributes = rest.map((part) => {
    const [name = '', ...value] = part.split('=')
    return [name.toLowerCase(), value.length === 0 ? true : value.join('=')] as const
  })
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1), attributes: Object.fromEntries(attributes) }
}

function parseSetCookie(line: string, url: URL): { readonly cookie: Cookie; readonly isOver: boolean } {
  const { name, value, attributes } = cookieParts(line)
  const { 'max-age': maxAge, expires, path, secure } = attributes
  const isOver =
    typeof maxAge === 'string' ? Number(maxAge) <= 0 : typeof expires === 'string' && Date.parse(expires) <= Date.now()
  return {
    isOver,
    cookie: { name, value, host: url.hostname, path: typeof path === 'string' ? path : '/', isSecure: secure === true },
  }
}

function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}
