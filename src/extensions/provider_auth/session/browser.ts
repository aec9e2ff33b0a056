/**
 * Whether a request may come from a browser: it has `Sec-Fetch-Site`, a cookie, or a user agent with `Mozilla/`
 * (docs/sign-in.md). `Sec-Fetch-Mode` alone does not count: browsers send both (W3C Fetch Metadata section 3), Node's
 * `fetch` only the mode.
 */
export function looksLikeBrowser({ headers }: Request): boolean {
  return (
    headers.has('sec-fetch-site') || headers.has('cookie') || (headers.get('user-agent') ?? '').includes('Mozilla/')
  )
}

/**
 * Whether a request may be a page navigation: its headers do not say script, image, frame or prefetch. `Sec-Fetch-Mode`
 * counts only together with `Sec-Fetch-Site`, as in {@link looksLikeBrowser}.
 */
export function mayBeNavigation({ headers }: Request): boolean {
  const isPrefetch = ['sec-purpose', 'purpose', 'x-moz'].some((name) => (headers.get(name) ?? '').includes('prefetch'))
  const mode = headers.has('sec-fetch-site') ? headers.get('sec-fetch-mode') : null
  return (
    !isPrefetch && (mode ?? 'navigate') === 'navigate' && (headers.get('sec-fetch-dest') ?? 'document') === 'document'
  )
}

/** Whether a browser will show the response as a page. */
export function showsPage({ headers }: Request): boolean {
  return (
    (headers.get('sec-fetch-mode') ?? 'navigate') === 'navigate' && (headers.get('accept') ?? '').includes('text/html')
  )
}

/** Whether a method is safe (RFC 9110 section 9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
