/**
 * Whether a request comes from a page of this service, or from no page at all. `Sec-Fetch-Site` decides where a browser
 * sends it (over https, or to this machine), `Origin` otherwise. Programs send neither.
 *
 * @param isOwnOrigin whether an `Origin` is that of this service
 */
export function isFromOwnPages({ headers }: Request, isOwnOrigin: (origin: string) => boolean): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  return origin === null || isOwnOrigin(origin)
}

/** Whether the body is declared as JSON, which a page of another site cannot send without a preflight. */
export function isJson({ headers }: Request): boolean {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}
