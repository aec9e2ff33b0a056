/** Whether requests to it stay on this machine (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(hostname) || /^127(?:\.\d+){3}$/.test(hostname) || hostname === '[::1]'
}

/**
 * Whether an identity provider may be asked there: https, or http where nobody listens or its owner said so; never with
 * a user name or password in it.
 */
export function isFitForSecrets(url: URL, allowsInsecureHttp: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowsInsecureHttp || isLoopback(url)))
}
