import { isIP } from 'node:net'
import { WireError } from '../formats/error.ts'

/**
 * Checks that the `Host` of a request is a name that no other website can own: an IP address, `localhost`, a name below
 * `.localhost`, or the host of one of `origins`. A website can point any other name at this machine, and its page then
 * counts as the service's own (DNS rebinding).
 */
export function hostNames(origins: readonly string[]): (request: Request) => boolean {
  const listed = new Set(
    origins.filter((origin) => /^https?:/.test(origin)).map((origin) => withoutDot(new URL(origin).hostname)),
  )
  /** The last one that was known: most requests have the same. */
  let known: string | undefined
  return function isKnown({ headers }) {
    const host = headers.get('host') ?? ''
    if (host === known) return true
    const name = withoutDot(host.replace(/:\d+$/, '').toLowerCase())
    const isKnownName =
      isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
      name === 'localhost' ||
      name.endsWith('.localhost') ||
      listed.has(name)
    if (isKnownName) known = host
    return isKnownName
  }
}

const shownLength = 100

/** 403: the host name of the request is not known. */
export function hostNotAllowed({ headers }: Request): WireError {
  const found = `The host name '${(headers.get('host') ?? '').slice(0, shownLength)}' is not allowed without sign-in`
  const ways = 'call the service by its IP address or as localhost, switch sign-in on (--auth), or list its address in'
  return new WireError(403, 'permission_error', 'host_not_allowed', `${found}: ${ways} SVC_CORS_ORIGINS`, {
    advice: 'Any website could otherwise make a name of its own point here (DNS rebinding).',
  })
}

/** Loopback addresses in the spelling of `URL`; the last form is an IPv4 address in IPv6. */
const loopbackName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/

/** Whether an address to listen on, in any spelling (`127.1`, `0:0:0:0:0:0:0:1`), is reached from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  const url = `http://${isIP(host) === 6 ? `[${host.replace(/%.*/, '')}]` : host}/`
  return URL.canParse(url) && loopbackName.test(new URL(url).hostname)
}

/** Removes the dot at the end of a fully qualified name: `localhost.` is `localhost`. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
