import { describe, expect, test } from 'bun:test'
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { decodedBody } from './content-decoding.ts'
import { incomingBody } from './incoming-body.ts'
import { cut } from './testing.ts'
import { TransportError, type UpstreamBody } from './transport.ts'

/** Lengths of pieces into which bytes may be cut. */
const pieceLengths = fc.array(fc.nat({ max: 40 }), { maxLength: 60 })

const encoders: readonly [string, (bytes: Uint8Array) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]

/** A body whose bytes have all arrived. */
function arrived(pieces: readonly Uint8Array[], dropped: () => void = () => {}): UpstreamBody {
  const incoming = incomingBody({ hasPendingBytes: () => false, pause() {}, resume() {}, drop: dropped }, false)
  for (const piece of pieces) incoming.push(piece)
  incoming.end()
  return incoming.body
}

async function decode(encoding: string, pieces: readonly Uint8Array[], bytesMax = 1e9): Promise<string> {
  try {
    return Buffer.from(await decodedBody(arrived(pieces), encoding, bytesMax).readAll()).toString('latin1')
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    return error.kind
  }
}

describe.each(encoders)('a body in %s', (encoding, encode) => {
  test('decodes to the original bytes, wherever it is split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), pieceLengths, async (bytes, lengths) => {
        expect(await decode(encoding, cut(encode(bytes), lengths))).toBe(Buffer.from(bytes).toString('latin1'))
      }),
      { numRuns: 15 },
    )
  })

  test('that inflates over 100 times is refused', async () => {
    expect(await decode(encoding, [encode(Buffer.alloc(2_000_000))])).toBe('too_large')
  })

  test('above the limit is refused, at the limit it is not', async () => {
    const bytes = Buffer.from('0123456789')
    expect(await decode(encoding, [encode(bytes)], 9)).toBe('too_large')
    expect(await decode(encoding, [encode(bytes)], 10)).toBe('0123456789')
  })

  test('that is truncated does not end', async () => {
    const bytes = encode(Buffer.from('hello, hello, hello and good-bye'))
    expect(await decode(encoding, [bytes.subarray(0, bytes.length - 3)])).toBe('short_body')
  })

  test('may be empty', async () => {
    expect(await decode(encoding, [])).toBe('')
    expect(await decode(encoding, [encode(Buffer.alloc(0))])).toBe('')
  })
})

describe('a compressed body', () => {
  test.each(['gzip', 'br', 'zstd'])('that is not what it claims (%s) is malformed', async (encoding) => {
    expect(await decode(encoding, [Buffer.from('{"hello":"world"}')])).toBe('malformed')
  })

  test('in an unknown encoding is malformed', () => {
    expect(() => decodedBody(arrived([]), 'compress', 9)).toThrow(TransportError)
    expect(() => decodedBody(arrived([]), 'gzip, br', 9)).toThrow(TransportError)
  })

  test('that is not compressed is the same body', () => {
    const body = arrived([])
    expect(decodedBody(body, undefined, 9)).toBe(body)
    expect(decodedBody(body, 'identity', 9)).toBe(body)
  })

  test('can be read up to each flush, not only at the end', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    const incoming = incomingBody({ hasPendingBytes: () => false, pause() {}, resume() {}, drop() {} }, false)
    gzip.on('data', (piece: Uint8Array) => incoming.push(piece))
    const body = decodedBody(incoming.body, 'gzip', 1_000)
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      gzip.write(event)
      let seen = ''
      while (seen.length < event.length) seen += Buffer.from((await body.read()) ?? []).toString()
      expect(seen).toBe(event)
    }
    const waiting = body.read()
    await Bun.sleep(1)
    body.cancel()
    expect(waiting).rejects.toMatchObject({ kind: 'aborted' })
    expect(body.read()).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('that inflates too much drops its connection', async () => {
    let drops = 0
    const incoming = incomingBody({ hasPendingBytes: () => false, pause() {}, resume() {}, drop: () => drops++ }, false)
    incoming.push(gzipSync(Buffer.alloc(2_000_000)))
    const body = decodedBody(incoming.body, 'gzip', 1e9)
    expect(await body.readAll().catch((error: unknown) => (error instanceof TransportError ? error.kind : error))).toBe(
      'too_large',
    )
    expect(drops).toBe(1)
  })

  test('that memory cannot be reserved for drops its connection', async () => {
    let drops = 0
    const incoming = incomingBody({ hasPendingBytes: () => false, pause() {}, resume() {}, drop: () => drops++ }, false)
    incoming.push(gzipSync(Buffer.alloc(200_000, 'abc'), { level: 0 }))
    const body = decodedBody(incoming.body, 'gzip', 1e9)
    let held = 0
    expect(
      await body
        .readAll({ reserve: (bytes) => (held += bytes) < 100_000 })
        .catch((error: unknown) => (error instanceof TransportError ? error.kind : error)),
    ).toBe('resources')
    expect(drops).toBe(1)
    expect(held).toBeLessThan(200_000)
  })

  test('is not decoded ahead of its reader', async () => {
    const piece = gzipSync(Buffer.alloc(200_000, 'abc'), { level: 0 })
    let reads = 0
    const endless: UpstreamBody = {
      endsWithConnection: false,
      hasPendingBytes: () => false,
      readAll: () => Promise.reject(new Error('not asked for')),
      cancel() {},
      read: () => Promise.resolve(reads++ === 0 ? piece : piece.subarray(0, 1)),
    }
    const body = decodedBody(endless, 'gzip', 1e9)
    await body.read()
    await Bun.sleep(5)
    expect(reads).toBe(1)
  })

  test('passes on errors of its source', async () => {
    const incoming = incomingBody({ hasPendingBytes: () => false, pause() {}, resume() {}, drop() {} }, false)
    incoming.push(gzipSync('hello').subarray(0, 12))
    incoming.fail(new TransportError('short_body', 'cut'), true)
    expect(
      await decodedBody(incoming.body, 'gzip', 100)
        .readAll()
        .catch((error: unknown) => (error instanceof TransportError ? error.kind : error)),
    ).toBe('short_body')
  })
})
