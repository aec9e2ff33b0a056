import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  doneEvent,
  EventTooLarge,
  eventStreamReader,
  formatEvent,
  formatEvents,
  keepAliveEvent,
} from './event-stream.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

interface Result {
  readonly events: readonly (readonly [string, string])[]
  readonly isTooLarge: boolean
}

/** Reads a stream of these pieces. Each is overwritten afterwards, as a transport may reuse its buffer. */
function read(pieces: readonly Uint8Array[], eventBytesMax?: number): Result {
  const reader = eventStreamReader(eventBytesMax === undefined ? {} : { eventBytesMax })
  const events: (readonly [string, string])[] = []
  try {
    for (const piece of pieces) {
      const bytes = piece.slice()
      for (const { event, data } of reader.push(bytes)) events.push([event, decode(data)])
      bytes.fill(0x2a)
    }
    for (const { event, data } of reader.end()) events.push([event, decode(data)])
  } catch (error) {
    if (!(error instanceof EventTooLarge)) throw error
    return { events, isTooLarge: true }
  }
  return { events, isTooLarge: false }
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (one, other) => one - other,
  )
  return sorted.slice(1).map((end, index) => bytes.slice(sorted[index], end))
}

const datas = (text: string) => read([encode(text)]).events.map(([, data]) => data)

describe('the event stream reader', () => {
  test.each([
    ['data: a\n\ndata: b\n\n', ['a', 'b']],
    ['data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['data: a\r\rdata: b\r\r', ['a', 'b']],
    ['data: a\n\r\ndata: b\r\n\ndata: c\r\n\rdata: d\n\n', ['a', 'b', 'c', 'd']],
    ['data:a\n\n', ['a']],
    ['data:  a \n\n', [' a ']],
    ['data\n\n', ['']],
    ['data:\n\n', ['']],
    ['data:\ndata:\n\n', ['\n']],
    ['data: a\ndata: b\ndata:c\n\n', ['a\nb\nc']],
    ['data: a\n: between\ndata: b\n\n', ['a\nb']],
    ['\ufeffdata: a\n\n', ['a']],
    ['\ufeff\ufeffdata: a\n\ndata: b\n\n', ['b']],
    ['\n\ufeffdata: a\n\n', []],
    [': hello\n\n:\n\ndata: a\n\n', ['a']],
    ['id: 1\nretry: 5\nfoo: bar\nfoo\ndata: a\n\n', ['a']],
    ['datax: a\n\nDATA: a\n\n data: a\n\n', []],
    ['event: ping\n\n', []],
    ['data: a', ['a']],
    ['data: a\n', ['a']],
    ['data: a\ndata', ['a\n']],
    ['data: a\r', ['a']],
    ['event: x', []],
    ['', []],
    ['\n\n\r\r\n', []],
    ['data: é€🙂\n\n', ['é€🙂']],
    ['data: a:b: c\n\n', ['a:b: c']],
    [':data: a\n\n', []],
  ])('reads %j as %j', (text, expected) => {
    expect(datas(text)).toEqual(expected)
  })

  test('applies an event field to its own event only', () => {
    expect(
      read([encode('event: error\ndata: a\n\ndata: b\n\nevent: gone\n\ndata: c\n\nevent:x\nevent: y z\ndata: d\n\n')])
        .events,
    ).toEqual([
      ['error', 'a'],
      ['', 'b'],
      ['', 'c'],
      ['y z', 'd'],
    ])
  })

  const piece = fc.oneof(
    fc.constantFrom(
      'data: ',
      'data:',
      'data',
      'event: ',
      'id: 1',
      ':',
      '\n',
      '\n',
      '\n\n',
      '\r',
      '\r\n',
      '\ufeff',
      ' ',
      '{"a":"é🙂"}',
      'x',
      'data: y\n\n',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )

  test('reads the same events wherever the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.integer({ min: 1, max: 60 }),
        (texts, places, most) => {
          const bytes = encode(texts.join(''))
          for (const limit of [undefined, most]) {
            const whole = read([bytes], limit)
            expect(read(cut(bytes, places), limit)).toEqual(whole)
            expect(
              read(
                Array.from(bytes, (byte) => Uint8Array.of(byte)),
                limit,
              ),
            ).toEqual(whole)
          }
        },
      ),
      { numRuns: 800 },
    )
  })

  test('reads any bytes at all', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 })), (pieces) => {
        read(pieces)
      }),
    )
  })

  test('returns an event that arrived whole as a view of the bytes', () => {
    const bytes = encode('data: {"a":1}\n\n')
    const [event] = eventStreamReader().push(bytes)
    expect(event?.data.buffer).toBe(bytes.buffer)
  })

  test.each([
    ['one line', (size: number) => `data: ${'x'.repeat(size)}\n\n`],
    ['several lines', (size: number) => `data: x\ndata: ${'x'.repeat(size - 2)}\n\n`],
    ['no end', (size: number) => `data:${'x'.repeat(size)}`],
  ])('takes an event of eventBytesMax bytes and not one more, on %s', (_, text) => {
    expect(read([encode(text(100))], 100)).toMatchObject({ isTooLarge: false, events: { length: 1 } })
    expect(read([encode(text(101))], 100)).toEqual({ isTooLarge: true, events: [] })
  })

  test('bounds a first line that begins with a byte order mark, a comment too, wherever it is cut', () => {
    const bytes = encode(`\ufeff:${'x'.repeat(200)}\n\ndata: a\n\n`)
    expect(read([bytes], 100)).toEqual({ isTooLarge: true, events: [] })
    expect(read(cut(bytes, [50]), 100)).toEqual({ isTooLarge: true, events: [] })
  })

  test('returns the events before one that is too large', () => {
    expect(read([encode(`data: a\n\ndata: ${'x'.repeat(200)}\n\ndata: b\n\n`)], 100)).toEqual({
      isTooLarge: true,
      events: [['', 'a']],
    })
  })

  test('keeps the framing of an event that arrived alone and as it would be written', () => {
    const bytes = encode('data: a\n\n')
    const [alone] = eventStreamReader().push(bytes)
    expect(alone?.framed).toBe(bytes)
    expect(decode(alone?.data ?? bytes)).toBe('a')
    expect(formatEvents(alone === undefined ? [] : [alone])).toBe(bytes)
    for (const [text, ...before] of [
      ['data:a\n\n'],
      ['data: a\r\n\n'],
      ['data: a\rb\n\n'],
      ['data: a\n\ndata: b\n\n'],
      ['data: a\ndata: b\n\n'],
      ['data: a\n\n', 'event: x\n'],
      ['data: a\n\n', 'data: b\n'],
      ['data: a\n\n', 'da'],
      ['data: a\n\n', ':\r'],
    ] as const) {
      const reader = eventStreamReader()
      for (const each of before) reader.push(encode(each))
      const split = eventStreamReader()
      const single = [...before, text].flatMap((each) => [...each]).flatMap((each) => split.push(encode(each)))
      const events = reader.push(encode(text))
      const bare = (all: typeof events) => all.map(({ event, data }) => ({ event, data }))
      expect(bare(events)).toEqual(bare(single))
      for (const each of events) if (each.framed !== undefined) expect(each.framed).toEqual(formatEvent(each.data))
    }
  })

  test('keeps the framing of each of several events, and of their names', () => {
    const texts = ['event: a.b\ndata: 1\n\n', 'event: a.b\ndata: 2\n\n', 'data: 3\n\n', 'event: c\ndata: 4\n\n']
    const events = eventStreamReader().push(encode(`${texts.join('')}data: half`))
    expect(events.map(({ framed }) => framed && decode(framed))).toEqual(texts)
    expect(events.map(({ event, data }) => [event, decode(data)])).toEqual([
      ['a.b', '1'],
      ['a.b', '2'],
      ['', '3'],
      ['c', '4'],
    ])
    expect(decode(formatEvents(events))).toBe(texts.join(''))
    const written = events.map(({ event, data }) => ({ event: event === '' ? undefined : event, data }))
    expect(decode(formatEvents(written))).toBe(texts.join(''))
  })

  test('reads 256 KiB in single bytes, and floods of comments, in linear time', () => {
    const reader = eventStreamReader()
    const bytes = encode(`data: ${'x'.repeat(256 * 1024)}\n\n`)
    const events = Array.from(bytes, (_, index) => reader.push(bytes.subarray(index, index + 1))).flat()
    expect(events.map(({ data }) => data.length)).toEqual([256 * 1024])
    const flood = encode(`:${'x'.repeat(65_535)}`)
    for (let count = 0; count < 50; count++) expect(reader.push(flood)).toEqual([])
    expect(reader.push(encode('\ndata: a\n\n'))).toHaveLength(1)
    const endings = encode('\r'.repeat(500_000))
    expect(reader.push(endings)).toEqual([])
  })
})

describe('formatEvents', () => {
  test('frames one or several, as the reader reads them', () => {
    expect(decode(formatEvent(encode('{"a":1}')))).toBe('data: {"a":1}\n\n')
    expect(decode(formatEvents([{ data: encode('1') }, { data: encode('') }, { data: encode('é') }]))).toBe(
      'data: 1\n\ndata: é\n\n',
    )
    expect(datas(decode(formatEvents([{ data: encode('1') }, { data: encode('é') }])))).toEqual(['1', 'é'])
    const named = ['ping', 'aé🙂b', ''].map((event) => ({ event, data: encode('1') }))
    expect(decode(formatEvents(named))).toBe('event: ping\ndata: 1\n\nevent: aé🙂b\ndata: 1\n\nevent: \ndata: 1\n\n')
    expect(decode(formatEvents([]))).toBe('')
  })

  test('writes the names of events that have one', () => {
    const named = [{ event: 'a.b', data: encode('1') }, { event: 'omitted', data: encode('') }, { data: encode('2') }]
    expect(decode(formatEvents(named))).toBe('event: a.b\ndata: 1\n\ndata: 2\n\n')
    expect([doneEvent, keepAliveEvent].map(decode)).toEqual(['data: [DONE]\n\n', ': keep-alive\n\n'])
  })
})
