import { responseMemoryError, TransportError, type UpstreamBody } from './transport.ts'

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
  let bytesIn = 0
  let bytesOut = 0
  let reader: Reader | undefined
  let error: TransportError | undefined
  let isOver = false

  /** Feeds the decompressor until the body ends or fails; pauses while its output is not read. */
  async function feed(writer: Writer, first: Uint8Array): Promise<void> {
    try {
      for (let piece: Uint8Array | undefined = first; piece !== undefined; piece = await body.read()) {
        for (let from = 0; from < piece.length; from += sliceBytes) {
          const slice = new Uint8Array(piece.subarray(from, from + sliceBytes))
          bytesIn += slice.length
          await writer.write(slice)
        }
      }
      await writer.close()
    } catch (cause) {
      // The reader receives the decompressor's own error, or this one.
      await writer.abort(cause).catch(() => {})
    }
  }

  async function start(): Promise<Reader | undefined> {
    const first = await body.read()
    if (first === undefined || isOver) return undefined
    const decompressor = new DecompressionStream(formatOf(encoding, first[0] ?? 0))
    void feed(decompressor.writable.getWriter(), first)
    return decompressor.readable.getReader()
  }

  function stop(reason: TransportError): void {
    isOver = true
    error ??= reason
    body.cancel()
    reader?.cancel().catch(() => {})
  }

  function checkSize(): void {
    const inflates = bytesOut > inflationFreeBytes && bytesOut > inflationMax * bytesIn
    if (bytesOut <= bytesMax && !inflates) return
    throw new TransportError(
      'too_large',
      inflates
        ? `The response is more than ${inflationMax} times larger when decompressed`
        : 'The response is larger than allowed',
    )
  }

  async function read(): Promise<Uint8Array | undefined> {
    if (error !== undefined) throw error
    if (isOver) return undefined
    try {
      reader ??= await start()
      const piece = (await reader?.read())?.value
      // Cancelled during the read: not the end of the body.
      if (error !== undefined) throw error
      if (piece === undefined) isOver = true
      bytesOut += piece?.length ?? 0
      checkSize()
      return piece
    } catch (cause) {
      if (!isOver) stop(cause instanceof TransportError ? cause : decodingError(cause))
      throw error
    }
  }

  return {
    endsWithConnection: body.endsWithConnection,
    hasPendingBytes: () => body.hasPendingBytes(),
    read,
    async readAll(reservation) {
      const pieces: Uint8Array[] = []
      for (let piece = await read(); piece !== undefined; piece = await read()) {
        if (reservation?.reserve(piece.length) === false) {
          const refusal = responseMemoryError()
          stop(refusal)
          throw refusal
        }
        pieces.push(piece)
      }
      return new Uint8Array(Buffer.concat(pieces))
    },
    cancel() {
      if (!isOver) stop(new TransportError('aborted', 'Reading the response was cancelled'))
    },
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
