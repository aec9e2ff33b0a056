import { describe, expect, test } from 'bun:test'
import { parts, cutFailure, fakeStream, readAll, wholeReply } from '../gateway/testing.ts'
import { Cancelled, onEnd, watchable, type PartStream, type StreamReply } from './reply.ts'

function watched(stream: PartStream): { readonly reply: StreamReply; readonly ends: readonly unknown[] } {
  const ends: unknown[] = []
  const reply = watchable(stream)
  onEnd(reply, (failure) => ends.push(failure))
  return { reply, ends }
}

describe('the end of a reply', () => {
  test('of a whole one is reported at once', () => {
    const ends: unknown[] = []
    const whole = wholeReply('hello')
    onEnd(whole, (failure) => ends.push(failure))
    expect(ends).toEqual([undefined])
  })

  test('of a stream is reported when it was read, not before', async () => {
    const { reply, ends } = watched(fakeStream(parts.text('Hi'), parts.finish()))
    await reply.read()
    await reply.read()
    expect(ends).toEqual([])
    expect(await reply.read()).toBeUndefined()
    expect(ends).toEqual([undefined])
  })

  test('is reported at once to a listener that comes after it', async () => {
    const cut = cutFailure()
    const seen: unknown[] = []
    for (const reply of [fakeStream(parts.finish(), parts.usage()), fakeStream(cut)].map(watchable)) {
      await readAll(reply)
      onEnd(reply, (failure, usage) => seen.push([failure, usage?.totalTokens]))
      reply.cancel()
    }
    expect(seen).toEqual([
      [undefined, 7],
      [cut, undefined],
    ])
  })

  test('is reported with the failure of a stream, which its reader gets too', async () => {
    const cut = cutFailure()
    const { reply, ends } = watched(fakeStream(parts.text('Hi'), cut))
    expect((await readAll(reply)).error).toBe(cut)
    expect(ends).toEqual([cut])
  })

  test('is reported as Cancelled when the stream was cancelled', () => {
    const stream = fakeStream(parts.text('Hi'))
    const { reply, ends } = watched(stream)
    reply.cancel()
    expect(ends).toHaveLength(1)
    expect(ends[0]).toBeInstanceOf(Cancelled)
    expect(stream.isCancelled).toBe(true)
  })

  test('is reported once, and nothing after it', async () => {
    const { reply, ends } = watched(fakeStream(parts.finish()))
    await readAll(reply)
    await reply.read()
    reply.cancel()
    reply.cancel()
    expect(ends).toEqual([undefined])
  })

  test('keeps the facts of the stream', () => {
    expect(watchable({ ...fakeStream(), isEmpty: true }).isEmpty).toBe(true)
  })
})
