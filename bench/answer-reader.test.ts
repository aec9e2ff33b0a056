import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { answerReader } from './answer-reader.ts'

/** Calls of a listener, in order. */
function read(pieces: readonly string[]): readonly string[] {
  const calls: string[] = []
  const reader = answerReader({
    onHead: (status) => calls.push(`head ${status}`),
    onEvent: (event) => calls.push(`event ${event}`),
    onEnd: () => calls.push('end'),
  })
  for (const piece of pieces) reader.take(Buffer.from(piece, 'latin1'))
  return calls
}

const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nB;x=y\r\ndata: b\n\nda\r\n' +
  '7\r\nta: c\n\n\r\n0\r\n\r\n'
const chunkedCalls = ['head 200', 'event data: a', 'event data: b', 'event data: c', 'end']
const counted = 'HTTP/1.1 429 No\r\nContent-Length: 2\r\n\r\nhi'
const empty = 'HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n'
const untilClose = 'HTTP/1.0 200 OK\r\n\r\ndata: a\n\ndata: b\n\n'

describe('answerReader', () => {
  test.each([
    { name: 'a chunked body', text: chunked, calls: chunkedCalls },
    { name: 'a counted body', text: counted, calls: ['head 429', 'end'] },
    { name: 'an empty body', text: empty, calls: ['head 204', 'end'] },
    { name: 'a body without a length', text: untilClose, calls: ['head 200', 'event data: a', 'event data: b'] },
    {
      name: 'answer after answer',
      text: counted + chunked + empty,
      calls: ['head 429', 'end', ...chunkedCalls, 'head 204', 'end'],
    },
  ])('reads $name', ({ text, calls }) => {
    expect(read([text])).toEqual(calls)
  })

  test('reads the same answer from any pieces', () => {
    const text = chunked + counted + chunked
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length]
        expect(read(places.slice(1).map((place, at) => text.slice(places[at], place)))).toEqual(read([text]))
      }),
    )
  })

  test.each(['nonsense\r\n\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'])(
    'refuses %p',
    (text) => {
      expect(() => read([text])).toThrow('not a')
    },
  )
})
