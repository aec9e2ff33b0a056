import { responseMemoryError, TransportError, type UpstreamBody, type MemoryReservation } from './transport.ts'

/** Most decompressed bytes for each compressed byte (failover.md row 29). */
export const inflationMax = 100

/** The ratio is not checked below this many decompressed bytes: short repetitive texts exceed it, too. */
export const inflationFreeBytes = 64 * 1024

/** Compressed bytes decoded at a time. Their decompressed bytes, up to 1,000 times as many, are held in memory. */
const sliceBytes = 4 * 1024

/**
 * Removes the content encoding of a body: `gzip`, `deflate`, `br` or `zstd`. Each part can be read as soon as it can be
 * decompressed. Reading throws {@link TransportError} `too_large` above `bytesMax` decompressed bytes and above a ratio
 * of 100, `short_body` for a truncated body, and `malformed` for invalid data.
 *
 * @param contentEncoding the header's value; absent and `identity` return the body itself
 * @throws {TransportError} `malformed` for any other encoding
 */
export function decodedBody(body: UpstreamBody, contentEncoding: string | undefined, bytesMax: number): UpstreamBody {
  const named = contentEncoding?.toLowerCase() ?? ''
  if (named === '' || named === 'identity') return body
  const encoding = known.find((name) => name === named)
  if (encoding === undefined) throw new TransportError('malformed', 'The response has an unknown content encoding')
  return decompressedBody(body, encoding, bytesMax)
}

type Writer = ReturnType<DecompressionStream['writable']['getWriter']>
interface Reader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

function decompressedBody(body: UpstreamBody, encoding: ContentCoding, bytesMax: number): UpstreamBody {
  return new DecompressedBody(body, encoding, bytesMax)
}

class DecompressedBody implements UpstreamBody {
  readonly #body: UpstreamBody
  readonly #encoding: ContentCoding
  readonly #bytesMax: number
  #bytesIn = 0
  #bytesOut = 0
  #reader: Reader | undefined
  #error: TransportError | undefined
  #isOver = false
  readonly endsWithConnection: boolean

  constructor(body: UpstreamBody, encoding: ContentCoding, bytesMax: number) {
    this.#body = body
    this.#encoding = encoding
    this.#bytesMax = bytesMax
    this.endsWithConnection = body.endsWithConnection
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#error !== undefined) throw this.#error
    if (this.#isOver) return undefined
    try {
      this.#reader ??= await this.#start()
      const piece = (await this.#reader?.read())?.value
      // Cancelled during the read: not the end of the body.
      if (this.#error !== undefined) throw this.#error
      if (piece === undefined) this.#isOver = true
      this.#bytesOut += piece?.length ?? 0
      this.#checkSize()
      return piece
    } catch (cause) {
      if (!this.#isOver) this.#stop(cause instanceof TransportError ? cause : decodingError(cause))
      throw this.#error
    }
  }

  hasPendingBytes(): boolean {
    return this.#body.hasPendingBytes()
  }

  async readAll(reservation: MemoryReservation | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = []
    for (let piece = await this.read(); piece !== undefined; piece = await this.read()) {
      if (reservation?.reserve(piece.length) === false) {
        const refusal = responseMemoryError()
        this.#stop(refusal)
        throw refusal
      }
      pieces.push(piece)
    }
    return new Uint8Array(Buffer.concat(pieces))
  }

  cancel(): void {
    if (!this.#isOver) this.#stop(new TransportError('aborted', 'Reading the response was cancelled'))
  }

  /** Feeds the decompressor until the body ends or fails; pauses while its output is not read. */
  async #feed(writer: Writer, first: Uint8Array): Promise<void> {
    try {
      for (let piece: Uint8Array | undefined = first; piece !== undefined; piece = await this.#body.read()) {
        for (let from = 0; from < piece.length; from += sliceBytes) {
          const slice = new Uint8Array(piece.subarray(from, from + sliceBytes))
          this.#bytesIn += slice.length
          await writer.write(slice)
        }
      }
      await writer.close()
    } catch (cause) {
      // The reader receives the decompressor's own error, or this one.
      await writer.abort(cause).catch(() => {})
    }
  }

  async #start(): Promise<Reader | undefined> {
    const first = await this.#body.read()
    if (first === undefined || this.#isOver) return undefined
    const decompressor = new DecompressionStream(formatOf(this.#encoding, first[0] ?? 0))
    void this.#feed(decompressor.writable.getWriter(), first)
    return decompressor.readable.getReader()
  }

  #stop(reason: TransportError): void {
    this.#isOver = true
    this.#error ??= reason
    this.#body.cancel()
    this.#reader?.cancel().catch(() => {})
  }

  #checkSize(): void {
    const inflates = this.#bytesOut > inflationFreeBytes && this.#bytesOut > inflationMax * this.#bytesIn
    if (this.#bytesOut <= this.#bytesMax && !inflates) return
    throw new TransportError(
      'too_large',
      inflates
        ? `The response is more than ${inflationMax} times larger when decompressed`
        : 'The response is larger than allowed',
    )
  }
}

const known = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'] as const
type ContentCoding = (typeof known)[number]

function formatOf(encoding: ContentCoding, firstByte: number): Bun.CompressionFormat {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    case 'deflate':
      // Some upstreams omit the zlib wrapper, whose first byte contains the method, 8 (RFC 1950 section 2.2).
      return (firstByte & 15) === 8 ? 'deflate' : 'deflate-raw'
    case 'br':
      return 'brotli'
    case 'zstd':
      return 'zstd'
  }
}

/** Tells truncated data from invalid data. In Bun only the message differs. */
function decodingError(cause: unknown): TransportError {
  return cause instanceof Error && cause.message === 'unexpected end of file'
    ? new TransportError('short_body', 'The compressed response is truncated', cause)
    : new TransportError('malformed', 'The response cannot be decompressed', cause)
}
