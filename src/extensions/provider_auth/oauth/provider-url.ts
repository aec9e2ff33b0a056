import { isLoopbackHost } from '../../../base/this-machine.ts'

/**
 * Whether requests with secrets may be sent to a URL: https, or http if it is a loopback URL or `allowsInsecureHttp`.
 * URLs with user name or password are never allowed.
 */
export function isAllowedUrl(url: URL, allowsInsecureHttp: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowsInsecureHttp || isLoopbackHost(url.hostname)))
}
