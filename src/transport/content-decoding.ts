import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import type { Transform } from 'node:stream'
import { TransportError } from './transport.ts'
import type { UpstreamBody } from './transport.ts'

/** Most bytes that may come out for each that went in (failover.md row 29). */
export const inflationMax = 100

/** Bytes below which the ratio says nothing: a short text of one letter inflates a lot, too. */
export const inflationFreeBytes = 64 * 1024

/** Compressed bytes decoded at a time: what comes out of them is held in memory, and may be 100 times as much. */
const sliceBytes = 16 * 1024

/**
 * The body without its content encoding: `gzip`, `deflate`, `br` or `zstd`. Bytes come out as soon as the encoding lets them.
 * Reading the result throws {@link TransportError} `too_large` above `bytesMax` decoded bytes and above an inflation of 100×,
 * `short_body` for an encoding cut short, and `malformed` for one that is broken.
 * @param contentEncoding the header; absent and `identity` leave the body as it is
 * @throws {TransportError} `malformed` for any other encoding
 */
export function decodedBody(body: UpstreamBody, contentEncoding: string | undefined, bytesMax: number): UpstreamBody {
  const named = contentEncoding?.toLowerCase() ?? ''
  if (named === '' || named === 'identity') return body
  const encoding = known.find((name) => name === named)
  if (encoding === undefined) throw new TransportError('malformed', 'The upstream answered with an unknown content encoding')
  return decompressedBody(body, encoding, bytesMax)
}

function decompressedBody(body: UpstreamBody, encoding: Encoding, bytesMax: number): UpstreamBody {
  const decoded: Uint8Array[] = []
  let bytesIn = 0
  let bytesOut = 0
  let decompressor: Transform | undefined
  let error: TransportError | undefined
  /** The encoding says that it has ended; the connection may still carry bytes, which mean nothing. */
  let hasDecodedAll = false
  let hasReadAll = false
  let isCancelled = false
  /** Wakes whoever waits for the decompressor. */
  let wake = (): void => {}

  function start(firstByte: number): Transform {
    const started = decompressorFor(encoding, firstByte)
    started.on('data', (piece: Uint8Array) => {
      bytesOut += piece.length
      if (bytesOut > bytesMax) fail(new TransportError('too_large', "The upstream's answer is larger than allowed"))
      else if (bytesOut > inflationFreeBytes && bytesOut > inflationMax * bytesIn) fail(new TransportError('too_large', `The upstream's answer inflates over ${inflationMax} times`))
      else decoded.push(piece)
    })
    started.on('end', () => {
      hasDecodedAll = true
      wake()
    })
    started.on('error', (cause: Error) => fail(decodingError(cause)))
    return started
  }

  function fail(reason: TransportError): void {
    error ??= reason
    decoded.length = 0
    body.cancel()
    decompressor?.destroy()
    wake()
  }

  /** Decodes the next bytes, or finishes when there are none. */
  async function decodeMore(): Promise<void> {
    const piece = await body.read()
    if (isCancelled) return
    if (piece === undefined) return finish()
    for (let from = 0; from < piece.length && error === undefined && !hasDecodedAll && !isCancelled; from += sliceBytes) {
      const slice = piece.subarray(from, from + sliceBytes)
      const target = (decompressor ??= start(slice[0] ?? 0))
      bytesIn += slice.length
      await new Promise<void>((resolve) => {
        wake = resolve
        target.write(slice, () => resolve())
      })
    }
  }

  async function finish(): Promise<void> {
    hasReadAll = true
    const target = decompressor
    if (target === undefined || hasDecodedAll || error !== undefined) return
    await new Promise<void>((resolve) => {
      wake = resolve
      target.end()
    })
  }

  async function read(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (error !== undefined) throw error
      const piece = decoded.shift()
      if (piece !== undefined) return piece
      if (hasReadAll || isCancelled) return undefined
      await decodeMore()
    }
  }

  return {
    endsWithConnection: body.endsWithConnection,
    read,
    async readAll() {
      const pieces: Uint8Array[] = []
      for (let piece = await read(); piece !== undefined; piece = await read()) pieces.push(piece)
      return new Uint8Array(Buffer.concat(pieces))
    },
    cancel() {
      isCancelled = true
      decoded.length = 0
      body.cancel()
      decompressor?.destroy()
      wake()
    },
  }
}

const known = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'] as const
type Encoding = (typeof known)[number]

function decompressorFor(encoding: Encoding, firstByte: number): Transform {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      // Some send it without the zlib wrapper, whose first byte names the method, 8 (RFC 1950 section 2.2).
      return (firstByte & 15) === 8 ? createInflate() : createInflateRaw()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
  }
}

function decodingError(cause: Error): TransportError {
  const isCut = 'code' in cause && cause.code === 'Z_BUF_ERROR'
  return isCut
    ? new TransportError('short_body', "The upstream's answer was cut inside its content encoding", cause)
    : new TransportError('malformed', "The upstream's answer does not follow its content encoding", cause)
}
