import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyDecoder, chunkLineBytesMax, trailerBytesMax } from './body-framing.ts'
import type { BodyFraming } from './response-head.ts'
import { cut } from './testing.ts'
import { TransportError } from './transport.ts'

/** Lengths of pieces into which bytes may be cut. */
const pieceLengths = fc.array(fc.nat({ max: 40 }), { maxLength: 60 })

/** Decodes the pieces to the body, whether it has ended and how many bytes belonged to it; or to the kind of error. */
function decode(framing: BodyFraming, contentLength: number, pieces: readonly Buffer[]): unknown {
  const decoder = bodyDecoder(framing, contentLength)
  const body: Uint8Array[] = []
  let taken = 0
  try {
    for (const piece of pieces) {
      if (decoder.isComplete) break
      taken += decoder.push(piece, 0, (part) => void body.push(part))
    }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    return error.kind
  }
  return { body: Buffer.concat(body).toString('latin1'), isComplete: decoder.isComplete, taken }
}

const chunks = (text: string): unknown => decode('chunked', 0, [Buffer.from(text, 'latin1')])

describe('a chunked body', () => {
  test('decodes to the original bytes, wherever it is split and with any bytes after it', () => {
    const extension = fc.constantFrom('', ';a', ' ;a="b c"', '  ')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 70 }), extension), { maxLength: 6 }),
        fc.constantFrom('', 't: x\r\n', 'a: b\r\nc: d\r\n'),
        fc.string({ maxLength: 5 }),
        pieceLengths,
        (parts, trailers, rest, lengths) => {
          const body = Buffer.concat(parts.map(([data]) => data)).toString('latin1')
          const chunked = parts.map(
            ([data, extra]) => `${data.length.toString(16)}${extra}\r\n${Buffer.from(data).toString('latin1')}\r\n`,
          )
          const framed = `${chunked.join('')}0\r\n${trailers}\r\n`
          expect(decode('chunked', 0, cut(Buffer.from(framed + rest, 'latin1'), lengths))).toEqual({
            body,
            isComplete: true,
            taken: framed.length,
          })
        },
      ),
    )
  })

  test('of arbitrary bytes gives one result wherever it is split, and throws transport errors only', () => {
    const token = fc.constantFrom('0', '1', 'a', 'F', '\r', '\n', '\r\n', ';', ' ', 'x', '\0', '3\r\nabc\r\n', '0\r\n')
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), pieceLengths, (tokens, lengths) => {
        const bytes = Buffer.from(tokens.join(''), 'latin1')
        const whole = decode('chunked', 0, [Buffer.from(bytes)])
        expect(decode('chunked', 0, cut(bytes, lengths))).toEqual(whole)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['has no size', '\r\n'],
    ['has a size that is not hexadecimal', 'g\r\n'],
    ['has a negative size', '-1\r\n'],
    ['has a prefix before its size', '0x1\r\na\r\n'],
    ['ends its lines with LF alone', '1\na\n0\n\n'],
    ['ends its size with CR alone', '1\rxa'],
    ['has more data than its size', '1\r\nab'],
    ['has no CR after its data', '1\r\na\n0\r\n\r\n'],
    ['has a size no number can hold', '20000000000000\r\n'],
    ['has a size of 17 digits', '00000000000000001\r\na'],
    ['has an LF in its extension', '1;\n'],
    ['has an extension too long', `1;${'x'.repeat(chunkLineBytesMax + 1)}\r\n`],
    ['has an LF in its trailers', '0\r\nt\n\r\n'],
    ['has a lone CR at its end', '0\r\n\rx'],
    ['has trailers too long', `0\r\n${'t: x\r\n'.repeat(trailerBytesMax / 4)}`],
  ])('is refused when it %s', (_, text) => {
    expect(chunks(text)).toBe('malformed')
  })

  test('is passed on as views, not copies', () => {
    const bytes = Buffer.from('3\r\nabc\r\n')
    bodyDecoder('chunked', 0).push(bytes, 0, (piece) => expect(piece.buffer).toBe(bytes.buffer))
  })
})

describe('a body with a length', () => {
  test('ends there, wherever its bytes are split', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.nat({ max: 100 }), pieceLengths, (text, length, lengths) => {
        const bytes = Buffer.from(text, 'latin1')
        const taken = Math.min(length, bytes.length)
        expect(decode('length', length, cut(bytes, lengths))).toEqual({
          body: bytes.toString('latin1', 0, taken),
          isComplete: taken === length,
          taken,
        })
      }),
    )
  })
})

test('a body that ends with the connection is never complete', () => {
  expect(decode('connection', 0, [Buffer.from('a'), Buffer.from('b')])).toEqual({
    body: 'ab',
    isComplete: false,
    taken: 2,
  })
})
