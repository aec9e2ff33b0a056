/**
 * Whether a URL names the loopback interface (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3).
 */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(hostname) || /^127(?:\.\d+){3}$/.test(hostname) || hostname === '[::1]'
}

/**
 * Whether requests with secrets may be sent to a URL: https, or http if it is a loopback URL or `allowsInsecureHttp`.
 * URLs with user name or password are never allowed.
 */
export function isAllowedUrl(url: URL, allowsInsecureHttp: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowsInsecureHttp || isLoopbackUrl(url)))
}
