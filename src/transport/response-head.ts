import { TransportError } from './transport.ts'

/** Most bytes of one response head, its blank line included. */
export const headBytesMax = 64 * 1024

/** Most header lines of one response. */
export const headersMax = 1_000

/** How a body ends: after `contentLength` bytes, with the last chunk, or with the connection (RFC 9112 section 6.3). */
export type BodyFraming = 'length' | 'chunked' | 'connection'

/** What the head of a response says. */
export interface ResponseHead {
  readonly status: number
  /** Lower-case name → value; repeated headers are joined with `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly framing: BodyFraming
  /** Bytes of the body; 0 unless the framing is `length`. */
  readonly contentLength: number
  /** The connection may carry another exchange after this one. */
  readonly isReusable: boolean
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Control characters other than the tab, the CR and the LF; and a CR or LF that stands alone. */
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|[^\r]\n/
const endOfHead = Buffer.from('\r\n\r\n')
const start = Buffer.from('HTTP/1.')
const nothing = Buffer.alloc(0)

/** Most informational (1xx) responses before the real one (failover.md row 8). */
export const informationalMax = 20

/** A head, and the bytes behind it that came along. */
export interface ReadHead {
  readonly head: ResponseHead
  readonly rest: Buffer
}

/** Finds the head of the response in bytes that may be split anywhere. Good for one response after the other. */
export interface ResponseHeadReader {
  /**
   * Takes the next bytes; informational responses are counted and skipped.
   * @returns `undefined` while the head is not complete
   * @throws {TransportError} `malformed`, `informational`; the reader is of no use afterwards
   */
  push(bytes: Buffer): ReadHead | undefined
}

/** A reader of response heads of at most 64 KiB each. */
export function responseHeadReader(): ResponseHeadReader {
  let held: Buffer = nothing
  let heldLength = 0
  let informational = 0

  /** What is held with what has arrived. Grows by doubling: a head may come byte by byte. */
  function joined(arrived: Buffer): Buffer {
    if (heldLength === 0) return arrived
    const length = heldLength + arrived.length
    if (length > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * length, 1024))
      held.copy(grown, 0, 0, heldLength)
      held = grown
    }
    arrived.copy(held, heldLength)
    return held.subarray(0, length)
  }

  function hold(bytes: Buffer): void {
    if (!beginsLikeHttp(bytes)) throw malformed('not an HTTP/1 status line')
    if (heldLength === 0) held = bytes
    heldLength = bytes.length
  }

  return {
    push(arrived) {
      let searchFrom = Math.max(0, heldLength - 3)
      let bytes = joined(arrived)
      while (bytes.length > 0) {
        const blank = bytes.indexOf(endOfHead, searchFrom)
        if (blank + 4 > headBytesMax || (blank === -1 && bytes.length >= headBytesMax)) throw malformed('a head larger than 64 KiB')
        if (blank === -1) {
          hold(bytes)
          return undefined
        }
        const head = parseResponseHead(bytes.toString('latin1', 0, blank))
        bytes = bytes.subarray(blank + 4)
        held = nothing
        heldLength = searchFrom = 0
        if (head.status >= 200) {
          informational = 0
          return { head, rest: bytes }
        }
        if (head.status === 101) throw malformed('a switch of protocols nobody asked for')
        if (++informational > informationalMax) throw new TransportError('informational', `The upstream sent more than ${informationalMax} informational responses`)
      }
      return undefined
    },
  }
}

/** Whether the first bytes of a response, as far as they are there, are those of HTTP/1: others need not be waited for. */
function beginsLikeHttp(bytes: Uint8Array): boolean {
  for (let index = 0; index < start.length && index < bytes.length; index++) {
    if (bytes[index] !== start[index]) return false
  }
  return true
}

/**
 * Reads a response head, from the status line to before its blank line (RFC 9112).
 * A folded line, a space before the colon and a lone CR or LF are refused, since two readers may understand them differently.
 * @param text one character a byte (latin1), without the final CR LF CR LF
 * @throws {TransportError} `malformed`
 */
export function parseResponseHead(text: string): ResponseHead {
  if (forbidden.test(text)) throw malformed('a control character in the response head')
  let lineEnd = text.indexOf('\r\n')
  if (lineEnd === -1) lineEnd = text.length
  const line = statusLine.exec(text.slice(0, lineEnd))
  if (line === null) throw malformed('not an HTTP/1 status line')
  const status = Number(line[2])
  const headers = parseHeaders(text, lineEnd + 2)
  return { status, headers, ...framingOf(status, headers, line[1] === '0') }
}

function parseHeaders(text: string, from: number): Map<string, string> {
  const headers = new Map<string, string>()
  let count = 0
  for (let index = from; index < text.length; ) {
    let lineEnd = text.indexOf('\r\n', index)
    if (lineEnd === -1) lineEnd = text.length
    const colon = text.indexOf(':', index)
    if (colon === -1 || colon > lineEnd) throw malformed('a header line without a colon')
    const name = text.slice(index, colon)
    if (!token.test(name)) throw malformed('an invalid header name')
    if (++count > headersMax) throw malformed('too many headers')
    const lowered = name.toLowerCase()
    const value = text.slice(colon + 1, lineEnd).trim()
    const before = headers.get(lowered)
    headers.set(lowered, before === undefined ? value : `${before}, ${value}`)
    index = lineEnd + 2
  }
  return headers
}

function framingOf(status: number, headers: ReadonlyMap<string, string>, isHttp10: boolean): Pick<ResponseHead, 'framing' | 'contentLength' | 'isReusable'> {
  const transferEncoding = headers.get('transfer-encoding')
  const lengthText = headers.get('content-length')
  const contentLength = lengthText === undefined ? 0 : parseContentLength(lengthText)
  const connection = headers.get('connection')
  const isReusable = !isHttp10 && (connection === undefined || !lists(connection, 'close'))
  if (status < 200 || status === 204 || status === 304) return { framing: 'length', contentLength: 0, isReusable }
  if (transferEncoding !== undefined) {
    if (transferEncoding.toLowerCase() !== 'chunked') throw malformed('a transfer encoding other than chunked')
    return { framing: 'chunked', contentLength: 0, isReusable: isReusable && lengthText === undefined }
  }
  if (lengthText === undefined) return { framing: 'connection', contentLength: 0, isReusable: false }
  return { framing: 'length', contentLength, isReusable }
}

/** A list of equal lengths is one length (RFC 9110 section 8.6). */
function parseContentLength(text: string): number {
  let single = text
  if (text.includes(',')) {
    const lengths = text.split(',').map((length) => length.trim())
    single = lengths[0] ?? ''
    if (lengths.some((length) => length !== single)) throw malformed('conflicting content lengths')
  }
  const length = Number(single)
  if (!/^\d+$/.test(single) || !Number.isSafeInteger(length)) throw malformed('an invalid content length')
  return length
}

/** Whether a comma-separated header lists a word, in any case. */
function lists(value: string, word: string): boolean {
  const lowered = value.toLowerCase()
  return lowered === word || (lowered.includes(',') && lowered.split(',').some((part) => part.trim() === word))
}

/**
 * Milliseconds an upstream keeps an idle connection, as its `Keep-Alive: timeout=N` says; `undefined` when it does not say.
 */
export function keepAliveMs(headers: ReadonlyMap<string, string>): number | undefined {
  const value = headers.get('keep-alive')
  if (value === undefined) return undefined
  const seconds = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}

function malformed(what: string): TransportError {
  return new TransportError('malformed', `The upstream's answer is not HTTP as it should be: ${what}`)
}
