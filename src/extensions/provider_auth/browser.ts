/** Whether a request shows any mark of a browser: `Sec-Fetch-*`, a `Mozilla/` user agent, a cookie (docs/sign-in.md). */
export function hasBrowserMark({ headers }: Request): boolean {
  return (
    headers.has('cookie') ||
    (headers.get('user-agent') ?? '').includes('Mozilla/') ||
    [...headers.keys()].some((name) => name.startsWith('sec-fetch-'))
  )
}

/**
 * Whether a request may be a person who follows a link: not one that says of itself to be a script, a picture, a frame
 * or a guess of what will be opened next. Whoever says nothing may.
 */
export function mayBeNavigation({ headers }: Request): boolean {
  const isGuess = ['sec-purpose', 'purpose', 'x-moz'].some((name) => (headers.get(name) ?? '').includes('prefetch'))
  return (
    !isGuess &&
    (headers.get('sec-fetch-mode') ?? 'navigate') === 'navigate' &&
    (headers.get('sec-fetch-dest') ?? 'document') === 'document'
  )
}

/** Whether a browser will show the answer as a page. */
export function showsPage({ headers }: Request): boolean {
  return (
    (headers.get('sec-fetch-mode') ?? 'navigate') === 'navigate' && (headers.get('accept') ?? '').includes('text/html')
  )
}

/**
 * Whether a request comes from our own pages, or from no page at all. `Sec-Fetch-Site` decides where a browser sends
 * it, that is over https and on this machine; else `Origin`. A program sends neither.
 *
 * @param ownOrigin `undefined`: none is known, so no page is ours
 */
export function isFromOwnPages({ headers }: Request, ownOrigin: string | undefined): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  return origin === null || origin === ownOrigin
}

/** Whether a method changes nothing (RFC 9110 section 9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
