import type { HeaderBlock, Origin } from './transport.ts'

/** A header that must not go on the wire. The message names the header, never its value. */
export class HeaderError extends Error {
  override readonly name = 'HeaderError'
  /** The header's name as it was given. */
  readonly header: string
  constructor(header: string, message: string) {
    super(message)
    this.header = header
  }
}

/** RFC 9110 section 5.6.2. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Visible ASCII, spaces and tabs: what every upstream reads the same way. */
const plainValue = /^[\t\x20-\x7e]*$/

/**
 * The connection and the framing are the transport's own; two opinions about them are request smuggling (RFC 9112
 * section 11.2).
 */
const transportsOwn: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Header lines ready for the wire, names in lower case, in the order given.
 *
 * @throws {HeaderError} for an invalid name, a value with anything but visible ASCII, spaces and tabs (so no CR, LF or
 *   NUL), and a header the transport writes itself
 */
export function headerBlock(headers: Readonly<Record<string, string>>): HeaderBlock {
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!token.test(name)) throw new HeaderError(name, `${JSON.stringify(name)} is not a header name`)
    const lowered = name.toLowerCase()
    if (transportsOwn.has(lowered))
      throw new HeaderError(name, `The header ${lowered} is set by the transport and cannot be chosen`)
    if (!plainValue.test(value))
      throw new HeaderError(name, `The header ${lowered} has a character that is not visible ASCII`)
    lines += `${lowered}: ${value.trim()}\r\n`
  }
  return lines as HeaderBlock
}

/**
 * Where a URL points: scheme, host and port, nothing else of it.
 *
 * @throws {TypeError} for a scheme other than `http:` and `https:`
 */
export function parseOrigin(url: URL): Origin {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`The scheme ${url.protocol} is neither http: nor https:`)
  const secure = url.protocol === 'https:'
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  return { secure, hostname, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port) }
}
