import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EventTooLarge, readEvents, type PageEvent } from './event-stream.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** A response whose body arrives in these chunks. */
function answerOf(pieces: readonly Uint8Array<ArrayBuffer>[], onCancel: () => void = () => undefined): Response {
  const left = [...pieces]
  return new Response(
    new ReadableStream(
      {
        pull(controller) {
          const piece = left.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        },
        cancel: onCancel,
      },
      { highWaterMark: 0 },
    ),
  )
}

async function eventsOf(...texts: readonly string[]): Promise<readonly PageEvent[]> {
  return Array.fromAsync(readEvents(answerOf(texts.map(bytesOf))))
}

const message = (data: string): PageEvent => ({ event: 'message', data })

describe('readEvents', () => {
  test('gives one event per blank line', async () => {
    expect(await eventsOf('data: one\n\ndata: two\n\n')).toEqual([message('one'), message('two')])
  })

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('takes %s as the end of a line', async (_, end) => {
    expect(await eventsOf(['event: error', 'data: a', 'data: b', '', 'data: c', '', ''].join(end))).toEqual([
      { event: 'error', data: 'a\nb' },
      message('c'),
    ])
  })

  test('takes a CRLF that is cut in two as one end', async () => {
    expect(await eventsOf('data: a\r', '\ndata: b\r', '', '\n\r\n')).toEqual([message('a\nb')])
  })

  test('ignores a byte order mark, comments, and fields it does not know', async () => {
    expect(await eventsOf('\ufeffdata: a\n: keep-alive\n\n:\n\nid: 7\nretry: 10\nwhatever\n\n')).toEqual([message('a')])
  })

  test('removes one space after the colon, and no more', async () => {
    expect(await eventsOf('data:  a\ndata:b\ndata\n\n')).toEqual([message(' a\nb\n')])
  })

  test('gives nothing for an event without data, and forgets its name', async () => {
    expect(await eventsOf('event: error\n\ndata: a\n\n')).toEqual([message('a')])
  })

  test('gives the last event without its blank line, or its line end', async () => {
    expect(await eventsOf('data: a\n')).toEqual([message('a')])
    expect(await eventsOf('data: a')).toEqual([message('a')])
  })

  test('gives nothing for an answer without a body', async () => {
    expect(await Array.fromAsync(readEvents(new Response(null)))).toEqual([])
  })

  test('cancels the response when its reader stops', async () => {
    let isCancelled = false
    const answer = answerOf([bytesOf('data: a\n\n'), bytesOf('data: b\n\n')], () => {
      isCancelled = true
    })
    for await (const { data } of readEvents(answer)) if (data === 'a') break
    expect(isCancelled).toBe(true)
  })

  test.each([
    ['a line that never ends', 'x'.repeat(1024 * 1024 + 1)],
    ['an event of many lines', `data: ${'x'.repeat(999)}\n`.repeat(1_100)],
  ])('refuses %s', async (_, text) => {
    await expect(eventsOf('data: a\n\n', text)).rejects.toThrow(EventTooLarge)
  })

  test('passes on what reading throws', async () => {
    const answer = new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) }))
    await expect(Array.fromAsync(readEvents(answer))).rejects.toThrow('cut')
  })

  test('gives the same events however the bytes are cut', async () => {
    const line = fc.constantFrom(
      'data: a',
      'data:',
      'data: äöü 😀',
      'event: error',
      ': comment',
      'id: 1',
      '',
      '',
      '\ufeffdata: x',
    )
    const end = fc.constantFrom('\n', '\r\n', '\r')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, end), { maxLength: 12 }),
        fc.array(fc.nat(5), { maxLength: 40 }),
        async (lines, cuts) => {
          const whole = bytesOf(lines.map((pair) => pair.join('')).join(''))
          const pieces: Uint8Array<ArrayBuffer>[] = []
          let at = 0
          for (const size of cuts) pieces.push(whole.slice(at, (at += size)))
          pieces.push(whole.slice(at))
          expect(await Array.fromAsync(readEvents(answerOf(pieces)))).toEqual(
            await Array.fromAsync(readEvents(answerOf([whole]))),
          )
        },
      ),
      { numRuns: 300 },
    )
  })
})
