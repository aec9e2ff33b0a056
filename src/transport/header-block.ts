import type { HeaderBlock, Origin } from './transport.ts'

/** A header that must not be sent. The message names the header, never its value. */
export class HeaderError extends Error {
  override readonly name = 'HeaderError'
  /** The header's name, unchanged. */
  readonly header: string
  constructor(header: string, message: string) {
    super(message)
    this.header = header
  }
}

/** A header name (RFC 9110 section 5.6.2). */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Visible ASCII, spaces and tabs, which all upstreams interpret alike. */
const plainValue = /^[\t\x20-\x7e]*$/

/**
 * Headers that only the transport may set. A second definition of connection or framing would allow request smuggling
 * (RFC 9112 section 11.2).
 */
const reservedHeaders: ReadonlySet<string> = new Set([
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
 * Writes header lines, names in lower case, in the order given.
 *
 * @throws {HeaderError} for an invalid name, a value with other characters than visible ASCII, spaces and tabs (such as
 *   CR, LF or NUL), and a header that only the transport may set
 */
export function headerBlock(headers: Readonly<Record<string, string>>): HeaderBlock {
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!token.test(name)) throw new HeaderError(name, `${JSON.stringify(name)} is not a header name`)
    const lowered = name.toLowerCase()
    if (reservedHeaders.has(lowered))
      throw new HeaderError(name, `The header ${lowered} is set by the service and cannot be configured`)
    if (!plainValue.test(value))
      throw new HeaderError(name, `The header ${lowered} has a character that is not visible ASCII`)
    lines += `${lowered}: ${value.trim()}\r\n`
  }
  // Only this function makes a HeaderBlock, after these checks.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return lines as HeaderBlock
}

/** Adds header lines that cannot have faults, each with its line break. */
export function withLines(block: HeaderBlock, lines: string): HeaderBlock {
  // Both parts are header lines.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return `${block}${lines}` as HeaderBlock
}

/**
 * Returns the scheme, host and port of a URL.
 *
 * @throws {TypeError} for a scheme other than `http:` and `https:`
 */
export function parseOrigin(url: URL): Origin {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`The URL scheme is ${url.protocol}, but must be http: or https:`)
  const secure = url.protocol === 'https:'
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  return { secure, hostname, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port) }
}
