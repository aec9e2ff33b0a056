import type { BodyFraming } from './response-head.ts'
import { TransportError } from './transport.ts'

/** Most bytes of a chunk's extensions, which are ignored. */
export const chunkLineBytesMax = 4 * 1024

/** Most bytes of all trailers, which are ignored. */
export const trailerBytesMax = 16 * 1024

/** Removes the framing of a body, piece by piece. */
export interface BodyDecoder {
  /**
   * Decodes the connection's bytes from index `from` on, and calls `deliver` with one view of the body's bytes. They
   * are moved together in place, so `bytes` must not be used again below the returned index.
   *
   * @returns the index after the last byte of this body; less than `bytes.length` only when the body is complete
   * @throws {TransportError} `malformed`
   */
  push(bytes: Uint8Array, from: number, deliver: (piece: Uint8Array) => void): number
  /** Whether the body has ended. Never true for a body that ends with the connection. */
  readonly isComplete: boolean
}

/** The decoder for a framing (RFC 9112 section 6.3). @param contentLength bytes, for the framing `length` */
export function bodyDecoder(framing: BodyFraming, contentLength: number): BodyDecoder {
  if (framing === 'chunked') return new ChunkedBody()
  return framing === 'length' ? new MeasuredBody(contentLength) : untilClose
}

const untilClose: BodyDecoder = {
  push(bytes, from, deliver) {
    if (from < bytes.length) deliver(view(bytes, from, bytes.length))
    return bytes.length
  },
  isComplete: false,
}

// Classes, since every request has one of them.
class MeasuredBody implements BodyDecoder {
  #left: number

  constructor(contentLength: number) {
    this.#left = contentLength
  }

  get isComplete(): boolean {
    return this.#left === 0
  }

  push(bytes: Uint8Array, from: number, deliver: (piece: Uint8Array) => void): number {
    const taken = Math.min(this.#left, bytes.length - from)
    this.#left -= taken
    if (taken > 0) deliver(view(bytes, from, from + taken))
    return from + taken
  }
}

const CR = 13
const LF = 10

/** The state of a chunk decoder: the next byte to come. */
const At = {
  size: 0,
  extension: 1,
  lineFeedAfterSize: 2,
  data: 3,
  returnAfterData: 4,
  lineFeedAfterData: 5,
  trailerStart: 6,
  trailer: 7,
  lineFeedAfterTrailer: 8,
  lastLineFeed: 9,
  end: 10,
} as const

/** Decodes chunks (RFC 9112 section 7.1). */
class ChunkedBody implements BodyDecoder {
  #at: number = At.size
  #size = 0
  #digits = 0
  #lineBytes = 0
  #trailerBytes = 0

  get isComplete(): boolean {
    return this.#at === At.end
  }

  push(bytes: Uint8Array, from: number, deliver: (piece: Uint8Array) => void): number {
    let index = from
    let start = from
    let end = from
    try {
      while (index < bytes.length && this.#at !== At.end) {
        if (this.#at === At.data) {
          const taken = Math.min(this.#size, bytes.length - index)
          this.#size -= taken
          if (this.#size === 0) this.#at = At.returnAfterData
          if (start === end) start = end = index
          else move(bytes, index, taken, end)
          end += taken
          index += taken
        } else {
          this.#step(bytes[index] ?? 0)
          index++
        }
      }
    } finally {
      if (end > start) deliver(view(bytes, start, end))
    }
    return index
  }

  /** Reads one byte outside of chunk data. */
  #step(byte: number): void {
    switch (this.#at) {
      case At.size: {
        const digit = hexDigit(byte)
        if (digit >= 0) {
          this.#size = this.#size * 16 + digit
          if (++this.#digits > 16 || this.#size > Number.MAX_SAFE_INTEGER) throw malformed('chunk size too large')
          return
        }
        if (this.#digits === 0) throw malformed('chunk without size')
        if (byte === CR) this.#at = At.lineFeedAfterSize
        else if (byte === 59 || byte === 32 || byte === 9) this.#at = At.extension
        else throw malformed('invalid chunk size')
        return
      }
      case At.extension:
        if (byte === CR) this.#at = At.lineFeedAfterSize
        else if (byte === LF || byte === 0 || ++this.#lineBytes > chunkLineBytesMax)
          throw malformed('invalid chunk extension')
        return
      case At.lineFeedAfterSize:
        if (byte !== LF) throw malformed('chunk line without line break')
        this.#at = this.#size === 0 ? At.trailerStart : At.data
        return
      case At.returnAfterData:
        if (byte !== CR) throw malformed('chunk longer than its size')
        this.#at = At.lineFeedAfterData
        return
      case At.lineFeedAfterData:
        if (byte !== LF) throw malformed('chunk longer than its size')
        this.#at = At.size
        this.#size = this.#digits = this.#lineBytes = 0
        return
      case At.trailerStart:
        this.#countTrailer(byte)
        this.#at = byte === CR ? At.lastLineFeed : At.trailer
        return
      case At.trailer:
        this.#countTrailer(byte)
        if (byte === CR) this.#at = At.lineFeedAfterTrailer
        return
      case At.lineFeedAfterTrailer:
        if (byte !== LF) throw malformed('trailer without line break')
        this.#at = At.trailerStart
        return
      case At.lastLineFeed:
        if (byte !== LF) throw malformed('last chunk without line break')
        this.#at = At.end
        return
    }
  }

  #countTrailer(byte: number): void {
    if (byte === LF || byte === 0 || ++this.#trailerBytes > trailerBytesMax) throw malformed('invalid trailer')
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lowered = byte | 32
  return lowered >= 97 && lowered <= 102 ? lowered - 87 : -1
}

function view(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
}

/** Moves bytes towards the beginning. */
function move(bytes: Uint8Array, from: number, length: number, to: number): void {
  if (length > 16) bytes.copyWithin(to, from, from + length)
  else for (let offset = 0; offset < length; offset++) bytes[to + offset] = bytes[from + offset] ?? 0
}

function malformed(fault: string): TransportError {
  return new TransportError('malformed', `The response has malformed framing: ${fault}`)
}
