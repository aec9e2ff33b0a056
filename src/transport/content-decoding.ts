import { noRoomForAnswer, TransportError } from './transport.ts'
import type { UpstreamBody } from './transport.ts'

/** Most bytes that may come out for each that went in (failover.md row 29). */
export const inflationMax = 100

/** Bytes below which the ratio says nothing: a short text of one letter inflates a lot, too. */
export const inflationFreeBytes = 64 * 1024

/** Compressed bytes decoded at a time: what comes out of them, up to a thousand times as much, is held in memory. */
const sliceBytes = 4 * 1024

/**
 * The body without its content encoding: `gzip`, `deflate`, `br` or `zstd`. Bytes come out as soon as the encoding lets
 * them. Reading the result throws {@link TransportError} `too_large` above `bytesMax` decoded bytes and above an
 * inflation of 100×, `short_body` for an encoding cut short, and `malformed` for one that is broken.
 *
 * @param contentEncoding the header; absent and `identity` leave the body as it is
 * @throws {TransportError} `malformed` for any other encoding
 */
export function decodedBody(body: UpstreamBody, contentEncoding: string | undefined, bytesMax: number): UpstreamBody {
  const named = contentEncoding?.toLowerCase() ?? ''
  if (named === '' || named === 'identity') return body
  const encoding = known.find((name) => name === named)
  if (encoding === undefined)
    throw new TransportError('malformed', 'The upstream answered with an unknown content encoding')
  return decompressedBody(body, encoding, bytesMax)
}

type Writer = ReturnType<DecompressionStream['writable']['getWriter']>
interface Reader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

function decompressedBody(body: UpstreamBody, encoding: Encoding, bytesMax: number): UpstreamBody {
  let bytesIn = 0
  let bytesOut = 0
  let reader: Reader | undefined
  let error: TransportError | undefined
  let isOver = false

  /** Feeds the decompressor until the body ends or breaks; it pauses while nobody reads what comes out. */
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
      // The reader learns of it: from the decompressor, if the fault is its own, and from here otherwise.
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
        ? `The upstream's answer inflates over ${inflationMax} times`
        : "The upstream's answer is larger than allowed",
    )
  }

  async function read(): Promise<Uint8Array | undefined> {
    if (error !== undefined) throw error
    if (isOver) return undefined
    try {
      reader ??= await start()
      const piece = (await reader?.read())?.value
      // Dropped meanwhile: this end is none.
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
    hasArrived: () => body.hasArrived(),
    read,
    async readAll(mayHold) {
      const pieces: Uint8Array[] = []
      for (let piece = await read(); piece !== undefined; piece = await read()) {
        if (mayHold?.(piece.length) === false) {
          const refusal = noRoomForAnswer()
          stop(refusal)
          throw refusal
        }
        pieces.push(piece)
      }
      return new Uint8Array(Buffer.concat(pieces))
    },
    cancel() {
      if (!isOver) stop(new TransportError('aborted', "The upstream's answer was dropped"))
    },
  }
}

const known = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'] as const
type Encoding = (typeof known)[number]

function formatOf(encoding: Encoding, firstByte: number): Bun.CompressionFormat {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    case 'deflate':
      // Some send it without the zlib wrapper, whose first byte names the method, 8 (RFC 1950 section 2.2).
      return (firstByte & 15) === 8 ? 'deflate' : 'deflate-raw'
    case 'br':
      return 'brotli'
    case 'zstd':
      return 'zstd'
  }
}

/** Bun tells a cut stream from a broken one by the message alone. */
function decodingError(cause: unknown): TransportError {
  return cause instanceof Error && cause.message === 'unexpected end of file'
    ? new TransportError('short_body', "The upstream's answer was cut inside its content encoding", cause)
    : new TransportError('malformed', "The upstream's answer does not follow its content encoding", cause)
}
