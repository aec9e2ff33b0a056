import { TransportError, type ResponseHeaders } from './transport.ts'

/** Most bytes of one response head, its blank line included. */
export const headBytesMax = 64 * 1024

/** Most header lines of one response. */
export const headersMax = 1_000

/** How a body ends: after `contentLength` bytes, with the last chunk, or with the connection (RFC 9112 section 6.3). */
export type BodyFraming = 'length' | 'chunked' | 'connection'

/** A parsed response head. */
export interface ResponseHead {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly framing: BodyFraming
  /** Bytes of the body; 0 unless the framing is `length`. */
  readonly contentLength: number
  /** The connection may be used for another request afterwards. */
  readonly isReusable: boolean
}

const endOfHead = Buffer.from('\r\n\r\n')
const start = Buffer.from('HTTP/1.')
const nothing = Buffer.alloc(0)

/** Most informational (1xx) responses before the final one (failover.md row 8). */
export const informationalMax = 20

/** A head, and the bytes it arrived in. The bytes from `end` on follow the head. */
export interface ReadHead {
  readonly head: ResponseHead
  readonly bytes: Buffer
  readonly end: number
}

/** Finds response heads, one after the other, in bytes that may be split anywhere. */
export interface ResponseHeadReader {
  /**
   * Reads the next bytes. Informational responses are counted and skipped.
   *
   * @returns `undefined` while the head is not complete
   * @throws {TransportError} `malformed`, `informational`; the reader must not be used afterwards
   */
  push(bytes: Buffer): ReadHead | undefined
}

/** Makes a reader of response heads of at most 64 KiB each. */
export function responseHeadReader(): ResponseHeadReader {
  return new HeadReader()
}

/** A class, since every connection has one: closures would take more memory. */
class HeadReader implements ResponseHeadReader {
  #held: Buffer = nothing
  #heldLength = 0
  #informational = 0

  push(arrived: Buffer): ReadHead | undefined {
    const bytes = this.#joined(arrived)
    let from = 0
    let searchFrom = Math.max(0, this.#heldLength - 3)
    for (;;) {
      const blank = bytes.indexOf(endOfHead, searchFrom)
      if (blank + 4 - from > headBytesMax || (blank === -1 && bytes.length - from >= headBytesMax))
        throw malformed('the head is larger than 64 KiB')
      if (blank === -1) {
        this.#hold(from === 0 ? bytes : bytes.subarray(from))
        return undefined
      }
      const head = parseResponseHead(bytes, from, blank)
      this.#held = nothing
      this.#heldLength = 0
      from = searchFrom = blank + 4
      if (head.status >= 200) {
        this.#informational = 0
        return { head, bytes, end: from }
      }
      if (head.status === 101) throw malformed('unexpected status 101')
      if (++this.#informational > informationalMax)
        throw new TransportError(
          'informational',
          `The upstream sent more than ${informationalMax} informational responses`,
        )
    }
  }

  /** Appends bytes to those held. The buffer doubles, since a head may arrive byte by byte. */
  #joined(arrived: Buffer): Buffer {
    if (this.#heldLength === 0) return arrived
    const length = this.#heldLength + arrived.length
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * length, 1024))
      this.#held.copy(grown, 0, 0, this.#heldLength)
      this.#held = grown
    }
    arrived.copy(this.#held, this.#heldLength)
    return this.#held.subarray(0, length)
  }

  #hold(bytes: Buffer): void {
    if (!beginsLikeHttp(bytes, 0)) throw malformed('not an HTTP/1 status line')
    if (this.#heldLength === 0) this.#held = bytes
    this.#heldLength = bytes.length
  }
}

/** Whether the bytes, which may be incomplete, can begin an HTTP/1 response. */
function beginsLikeHttp(bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < start.length && from + index < bytes.length; index++) {
    if (bytes[from + index] !== start[index]) return false
  }
  return true
}

/** 1 for bytes of a header name, 0 for other bytes (RFC 9110 section 5.6.2). */
const nameBytes = new Uint8Array(256)
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  nameBytes[character.charCodeAt(0)] = 1

/** 1 for bytes of a header value: the tab, and all bytes that are not control characters (RFC 9110 section 5.5). */
const valueBytes = new Uint8Array(256).fill(1, 32)
valueBytes[9] = 1
valueBytes[127] = 0

const tab = 9
const lineFeed = 10
const carriageReturn = 13
const space = 32
const colon = 58

/**
 * Parses a response head, from the status line to before its blank line (RFC 9112). A folded line, a space before the
 * colon and a lone CR or LF are rejected, since parsers interpret them differently.
 *
 * @param from index of the first byte
 * @param end index of the final CR LF CR LF
 * @throws {TransportError} `malformed`
 */
export function parseResponseHead(bytes: Buffer, from: number, end: number): ResponseHead {
  const status = statusOf(bytes, from)
  const headers = new HeadHeaders(bytes.toString('latin1', from, end))
  let index = nextLine(bytes, from, end)
  for (let count = 0; index < end; count++) {
    if (count === headersMax) throw malformed('too many headers')
    const nameStart = index
    while (nameBytes[bytes[index] ?? 0] === 1) index++
    if (bytes[index] !== colon || index === nameStart) throw malformed('invalid header line')
    const name = readNameAt(bytes, nameStart, index)
    const valueStart = index + 1
    index = nextLine(bytes, valueStart, end)
    if (name !== undefined) headers.add(name, valueStart - from, index - 2 - from)
  }
  return framed(status, headers, bytes[from + start.length] === 48)
}

/** The headers that are read of every response. */
type ReadName = (typeof readHeaders)[number]
const readHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
] as const

/** The same by their lengths. */
const readNames = Array.from({ length: 20 }, (_, length) =>
  readHeaders.filter((name) => name.length === length).map((is) => ({ is, bytes: Buffer.from(is) })),
)

function readNameAt(bytes: Uint8Array, from: number, to: number): ReadName | undefined {
  const candidates = readNames[to - from]
  if (candidates !== undefined) for (const { is, bytes: name } of candidates) if (isNameAt(bytes, from, name)) return is
  return undefined
}

/** Whether there is the name, in upper or lower case. */
function isNameAt(bytes: Uint8Array, from: number, name: Uint8Array): boolean {
  // In ASCII, this bit is set in lower-case letters and in `-`.
  for (let index = 0; index < name.length; index++)
    if (((bytes[from + index] ?? 0) | 0x20) !== name[index]) return false
  return true
}

/**
 * The headers of a head that was checked. Providers send dozens of headers, of which a good answer needs two or three:
 * only these are read at once.
 */
class HeadHeaders implements ResponseHeaders, Record<ReadName, string | undefined> {
  'content-type': string | undefined
  'content-length': string | undefined
  'content-encoding': string | undefined
  'transfer-encoding': string | undefined
  'connection': string | undefined
  'keep-alive': string | undefined
  readonly #text: string
  #all: ReadonlyMap<string, string> | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Adds a value, by the offsets of its line behind the colon. */
  add(name: ReadName, start: number, end: number): void {
    this[name] = joined(this[name], trimmed(this.#text, start, end))
  }

  get(name: string): string | undefined {
    return isRead(name) ? this[name] : this.#map().get(name)
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.#map()[Symbol.iterator]()
  }

  #map(): ReadonlyMap<string, string> {
    return (this.#all ??= allHeaders(this.#text))
  }
}

function isRead(name: string): name is ReadName {
  return readNames[name.length]?.some(({ is }) => is === name) === true
}

function allHeaders(text: string): ReadonlyMap<string, string> {
  const all = new Map<string, string>()
  for (const line of text.split('\r\n').slice(1)) {
    const nameEnd = line.indexOf(':')
    const name = line.slice(0, nameEnd).toLowerCase()
    all.set(name, joined(all.get(name), trimmed(line, nameEnd + 1, line.length)))
  }
  return all
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

/** A part of a text without spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === space || code === tab
}

/** Parses the status of a line such as `HTTP/1.1 200 OK`; the reason is optional. */
function statusOf(bytes: Buffer, from: number): number {
  const minor = bytes[from + start.length]
  const behind = from + start.length + 1
  const after = bytes[behind + 4]
  let status = 0
  for (let index = behind + 1; index < behind + 4; index++) status = status * 10 + digitOf(bytes[index])
  const isStatusLine =
    beginsLikeHttp(bytes, from) &&
    (minor === 48 || minor === 49) &&
    bytes[behind] === space &&
    (after === space || after === carriageReturn)
  if (!isStatusLine || !(status >= 100)) throw malformed('not an HTTP/1 status line')
  return status
}

function digitOf(byte: number | undefined): number {
  return byte !== undefined && byte >= 48 && byte <= 57 ? byte - 48 : Number.NaN
}

/** Checks the rest of a line and returns the start of the next one. The CR LF of the last line is at `end`. */
function nextLine(bytes: Buffer, from: number, end: number): number {
  let index = from
  while (index < end && valueBytes[bytes[index] ?? 0] === 1) index++
  if (bytes[index] !== carriageReturn || bytes[index + 1] !== lineFeed) throw malformed('control character in the head')
  return index + 2
}

function framed(status: number, headers: HeadHeaders, isHttp10: boolean): ResponseHead {
  const transferEncoding = headers['transfer-encoding']
  const lengthText = headers['content-length']
  const contentLength = lengthText === undefined ? 0 : parseContentLength(lengthText)
  const { connection } = headers
  const isReusable =
    !isHttp10 && (connection === undefined || connection === 'keep-alive' || !lists(connection, 'close'))
  if (status < 200 || status === 204 || status === 304)
    return { status, headers, framing: 'length', contentLength: 0, isReusable }
  if (transferEncoding !== undefined) {
    if (transferEncoding.toLowerCase() !== 'chunked') throw malformed('transfer encoding other than chunked')
    return { status, headers, framing: 'chunked', contentLength: 0, isReusable: isReusable && lengthText === undefined }
  }
  if (lengthText === undefined) return { status, headers, framing: 'connection', contentLength: 0, isReusable: false }
  return { status, headers, framing: 'length', contentLength, isReusable }
}

/** Parses Content-Length. A list of equal lengths counts as one length (RFC 9110 section 8.6). */
function parseContentLength(text: string): number {
  let single = text
  if (text.includes(',')) {
    const lengths = text.split(',').map((length) => length.trim())
    single = lengths[0] ?? ''
    if (lengths.some((length) => length !== single)) throw malformed('conflicting content lengths')
  }
  const length = Number(single)
  if (!/^\d+$/.test(single) || !Number.isSafeInteger(length)) throw malformed('invalid content length')
  return length
}

/** Whether a comma-separated header contains a word. Case is ignored. */
function lists(value: string, word: string): boolean {
  const lowered = value.toLowerCase()
  return lowered === word || (lowered.includes(',') && lowered.split(',').some((part) => part.trim() === word))
}

/**
 * Milliseconds an upstream keeps an idle connection, from `Keep-Alive: timeout=N`; `undefined` when not announced.
 */
export function keepAliveMs(headers: ResponseHeaders): number | undefined {
  const value = headers.get('keep-alive')
  if (value === undefined) return undefined
  const seconds = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}

function malformed(fault: string): TransportError {
  return new TransportError('malformed', `The response is not valid HTTP: ${fault}`)
}
