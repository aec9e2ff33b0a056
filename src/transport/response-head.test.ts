import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  keepAliveMs,
  parseResponseHead,
  responseHeadReader,
  type ReadHead,
  type ResponseHead,
} from './response-head.ts'
import { cut } from './testing.ts'
import { TransportError } from './transport.ts'

/** Lengths of pieces into which bytes may be cut. */
const pieceLengths = fc.array(fc.nat({ max: 40 }), { maxLength: 60 })

/** The first head in the pieces and all bytes after it, or the error. */
function readAll(pieces: readonly Buffer[]): unknown {
  const reader = responseHeadReader()
  let read: ReadHead | undefined
  const rest: Buffer[] = []
  try {
    for (const piece of pieces) {
      if (read !== undefined) rest.push(piece)
      else {
        read = reader.push(piece)
        if (read !== undefined) rest.push(read.bytes.subarray(read.end))
      }
    }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    return error.kind
  }
  return read === undefined
    ? 'more'
    : { ...read.head, headers: [...read.head.headers], rest: Buffer.concat(rest).toString('latin1') }
}

const line = fc.constantFrom(
  'a: b',
  'A: c',
  'content-length: 3',
  'transfer-encoding: chunked',
  'connection: close',
  'x',
  ' folded',
  'n\0l: x',
  'y: \xff',
  'z:',
)
const status = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.0 500 x',
  'HTTP/1.1 100 Continue',
  'HTTP/1.1 204 ',
  'HTTP/1.1 20 OK',
  'HTTP/2 200',
  '',
)
const head = fc
  .tuple(status, fc.array(line, { maxLength: 4 }))
  .map(([first, lines]) => `${[first, ...lines].join('\r\n')}\r\n\r\n`)
const heads = fc
  .tuple(fc.array(head, { maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 20 }))
  .map(([several, rest]) => several.join('') + rest)

/** A head without its blank line. */
function parse(text: string): ResponseHead {
  return parseResponseHead(Buffer.from(`${text}\r\n\r\n`, 'latin1'), 0, text.length)
}

/** The headers by a reading that keeps all of them. */
function headersOf(text: string): ReadonlyMap<string, string> {
  const all = new Map<string, string>()
  for (const line of text.split('\r\n').slice(1)) {
    const [, name = '', value = ''] = /^([^:]*):[\t ]*(.*?)[\t ]*$/s.exec(line) ?? []
    const before = all.get(name.toLowerCase())
    all.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`)
  }
  return all
}

describe('the head of a response', () => {
  test('finds headers in any order and case by their names in lower case', () => {
    const name = fc.constantFrom(
      'Content-Type',
      'content-encoding',
      'CONNECTION',
      'Keep-Alive',
      'keep_alive',
      'x-request-id',
      'Retry-After',
      'connectioN',
      'Content-Typed',
      'Content_Type',
    )
    const value = fc.constantFrom(
      '',
      ' ',
      'a',
      ' a, b ',
      '\tclose\t ',
      'x:y',
      'text/event-stream; charset=utf-8',
      '\xe9',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (fields) => {
        const text = ['HTTP/1.1 200 OK', ...fields.map(([field, is]) => `${field}:${is}`)].join('\r\n')
        const { headers } = parse(text)
        const expected = headersOf(text)
        for (const [field] of fields) expect(headers.get(field.toLowerCase())).toBe(expected.get(field.toLowerCase()))
        expect(headers.get('date')).toBeUndefined()
        expect(headers.get('transfer-encoding')).toBeUndefined()
        expect([...headers]).toEqual([...expected])
      }),
    )
  })

  test('is the same wherever its bytes are split', () => {
    fc.assert(
      fc.property(heads, pieceLengths, (text, lengths) => {
        const bytes = Buffer.from(text, 'latin1')
        const whole = readAll([bytes])
        expect(readAll(cut(bytes, lengths))).toEqual(whole)
        expect(readAll(cut(bytes, Array<number>(bytes.length).fill(1)))).toEqual(whole)
      }),
      { numRuns: 300 },
    )
  })

  test('of arbitrary bytes is parsed, or rejected with a transport error', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (bytes) => void readAll([Buffer.from(`HTTP/1.1 200 OK\r\n`), Buffer.from(bytes), Buffer.from('\r\n\r\n')]),
      ),
    )
  })

  test('may follow 20 informational ones each time', () => {
    const reader = responseHeadReader()
    const bytes = Buffer.from(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)}HTTP/1.1 200 OK\r\n\r\n`)
    for (let index = 0; index < 3; index++) expect(reader.push(bytes)?.head.status).toBe(200)
  })

  test('is rejected as soon as it cannot be HTTP', () => {
    expect(readAll([Buffer.from('HTT')])).toBe('more')
    expect(readAll([Buffer.from('HTT'), Buffer.from('Q')])).toBe('malformed')
  })

  test('of 64 KiB is read byte by byte in linear time, and one byte more is rejected', () => {
    const frame = 'HTTP/1.1 200 OK\r\nx: \r\n\r\n'
    const bytes = Buffer.from(frame.replace('x: ', `x: ${'y'.repeat(64 * 1024 - frame.length)}`))
    expect(readAll(cut(bytes, Array<number>(bytes.length).fill(1)))).toMatchObject({ status: 200 })
    expect(readAll([Buffer.from(bytes.toString().replace('x: ', 'x: y'))])).toBe('malformed')
    expect(readAll([Buffer.from(frame.slice(0, -4)), Buffer.alloc(64 * 1024, 'y')])).toBe('malformed')
  })

  test('has 1,000 headers at most', () => {
    expect(parse(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1_000)}`.slice(0, -2)).headers.get('a')?.length).toBe(2_998)
    expect(() => parse(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1_001)}`.slice(0, -2))).toThrow(TransportError)
  })

  test.each([
    'HTTP/1.1  200 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 099 x',
    'HTTP/1.1 2000 x',
    'http/1.1 200 OK',
    'HTTP/1.2 200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 200 O\nK',
    'HTTP/1.1 200 O\rK',
    'HTTP/1.1 200 OK\r\nno colon',
    'HTTP/1.1 200 OK\r\n: x',
    'HTTP/1.1 200 OK\r\na: b\nc: d',
    'HTTP/1.1 200 OK\r\na\tb: c',
    'HTTP/1.1 200 OK\r\n a: c',
    'HTTP/1.1 200 OK\r\na: \x01',
    'HTTP/1.1 200 OK\r\ncontent-length: ',
    'HTTP/1.1 200 OK\r\ncontent-length: 1, 2',
    'HTTP/1.1 200 OK\r\ncontent-length: 1,',
    'HTTP/1.1 200 OK\r\ncontent-length: +1',
    'HTTP/1.1 200 OK\r\ncontent-length: 0x1',
    'HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: identity',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked',
    'HTTP/1.1 200 OK\r\ntransfer-encoding:',
  ])('is refused when it is %j', (text) => {
    expect(() => parse(text)).toThrow(TransportError)
  })
})

describe('the keep-alive hint', () => {
  test.each([
    ['timeout=5', 5_000],
    ['max=100, timeout=20', 20_000],
    ['Timeout = "7"', 7_000],
    ['max=100', undefined],
    ['mytimeout=5', undefined],
    ['timeout=x', undefined],
  ])('%s', (value, ms) => {
    expect(keepAliveMs(new Map([['keep-alive', value]]))).toBe(ms)
  })
})
