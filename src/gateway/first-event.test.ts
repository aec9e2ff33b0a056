import { describe, expect, test } from 'bun:test'
import type { ChatReply } from '../protocols/protocol.ts'
import { callOf, rejection } from '../service/testing.ts'
import { firstEvent } from './first-event.ts'
import {
  chunks,
  cutFailure,
  fakeStream,
  failureOf,
  readAll,
  requestOf,
  silentStream,
  wholeReply,
  type FakeStream,
  type StreamStep,
} from './testing.ts'

const request = requestOf({ stream: true })

async function hold(reply: ChatReply) {
  return firstEvent(async () => reply)(request, callOf())
}

async function held(stream: FakeStream) {
  const reply = await hold(stream)
  if (reply.kind !== 'stream') throw new Error('not a stream')
  return reply
}

const meaningful: readonly (readonly [string, StreamStep])[] = [
  ['text', chunks.text('Hel')],
  ['a tool call', chunks.toolCall()],
  ['reasoning', chunks.reasoning('They ask')],
  ['a refusal', chunks.refusal('I cannot')],
  ['a second choice', chunks.secondChoice('Hi')],
  ['a finish_reason', chunks.finish('length')],
]

describe('a stream is held back until its first event', () => {
  test.each(meaningful)('that is %s, and not read any further', async (_name, step) => {
    const stream = fakeStream(chunks.role(), step, chunks.text('more'))
    await held(stream)
    expect(stream.reads).toBe(2)
    expect(stream.isCancelled).toBe(false)
  })

  test.each(meaningful)('that is %s, and then told from the beginning, nothing lost', async (_name, step) => {
    const { chunks: read } = await readAll(
      await held(
        fakeStream(chunks.role(), [chunks.role(), chunks.usage()], step, chunks.text('more'), chunks.finish()),
      ),
    )
    expect(read).toHaveLength(6)
    expect(read[0]).toEqual(chunks.role())
    expect(read[5]).toEqual(chunks.finish())
  })

  test('past chunks that only say who speaks, which do not commit', async () => {
    const failure = failureOf('server_error')
    expect(await rejection(held(fakeStream(chunks.role(), chunks.role(), failure)))).toBe(failure)
  })

  test('past usage, which does not commit', async () => {
    expect(await rejection(held(fakeStream(chunks.usage(), cutFailure())))).toHaveProperty('failure', 'cut')
  })

  test('and what fails after it fails the reading, not the attempt', async () => {
    const failure = cutFailure()
    const { chunks: read, error } = await readAll(await held(fakeStream(chunks.text('Hel'), failure)))
    expect(read).toHaveLength(1)
    expect(error).toBe(failure)
  })

  test.each([[[]], [[chunks.role()]], [[chunks.role(), chunks.usage()]]] as const)(
    'and is empty when it ends before (%#)',
    async (steps) => {
      const stream = fakeStream(...steps)
      expect(await rejection(held(stream))).toMatchObject({ failure: 'empty', status: 200 })
      expect(stream.isCancelled).toBe(true)
    },
  )

  test('and its upstream is let go when it fails before', async () => {
    const stream = fakeStream(chunks.role(), failureOf('malformed'))
    await rejection(held(stream))
    expect(stream.isCancelled).toBe(true)
  })

  test('for at most 64 events', async () => {
    const roles = (count: number) => Array.from({ length: count }, () => chunks.role())
    expect((await held(fakeStream(...roles(63), chunks.text('late')))).kind).toBe('stream')
    const stream = fakeStream(...roles(65), chunks.text('too late'))
    expect(await rejection(held(stream))).toMatchObject({ failure: 'malformed', status: 200 })
    expect(stream.isCancelled).toBe(true)
    expect(stream.reads).toBe(65)
  })

  test('for at most 64 events that come all at once too', async () => {
    const roles = Array.from({ length: 65 }, () => chunks.role())
    expect(await rejection(held(fakeStream(roles, chunks.text('too late'))))).toHaveProperty('failure', 'malformed')
  })

  test('for at most 256 KiB', async () => {
    const padded = { ...chunks.role(), data: new Uint8Array(100 * 1024).fill(0x20) }
    expect((await held(fakeStream(padded, padded, chunks.text('late')))).kind).toBe('stream')
    expect(await rejection(held(fakeStream(padded, padded, padded, chunks.text('too late'))))).toHaveProperty(
      'failure',
      'malformed',
    )
  })

  test('and no longer when the call is aborted', async () => {
    const controller = new AbortController()
    const stream = silentStream()
    const failing = rejection(firstEvent(async () => stream)(request, callOf(controller.signal)))
    await Promise.resolve()
    controller.abort(new Error('gone'))
    expect(await failing).toBeInstanceOf(Error)
    expect(stream.isCancelled).toBe(true)
  })

  test("and then belongs to its reader: an abort of the call's first phase does not end it", async () => {
    const controller = new AbortController()
    const stream = fakeStream(chunks.text('Hel'), chunks.text('lo'))
    await firstEvent(async () => stream)(request, callOf(controller.signal))
    controller.abort(new Error('over'))
    expect(stream.isCancelled).toBe(false)
  })

  test('and is cancelled when its reader cancels', async () => {
    const stream = fakeStream(chunks.text('Hel'), chunks.text('lo'))
    const reply = await held(stream)
    reply.cancel()
    expect(stream.isCancelled).toBe(true)
  })
})

describe('a stream that was held back is empty', () => {
  const cases: readonly (readonly [string, readonly StreamStep[], boolean])[] = [
    ['when it has finished with stop and said nothing', [chunks.role(), chunks.finish('stop')], true],
    [
      'but not when it has finished for its length (failover.md row 28)',
      [chunks.role(), chunks.finish('length')],
      false,
    ],
    [
      'but not when its content was filtered (failover.md row 28)',
      [chunks.role(), chunks.finish('content_filter')],
      false,
    ],
    ['but not with text', [chunks.text('Hi'), chunks.finish('stop')], false],
    ['but not with text in the same read', [[chunks.text('Hi'), chunks.finish('stop')]], false],
    ['but not with a tool call', [[chunks.toolCall(), chunks.finish('stop')]], false],
    ['but not with reasoning', [[chunks.reasoning('They ask'), chunks.finish('stop')]], false],
  ]
  test.each(cases)('%s', async (_name, steps, isEmpty) => {
    expect((await held(fakeStream(...steps))).isEmpty).toBe(isEmpty)
  })

  test('and can still be delivered after it was let go', async () => {
    const reply = await held(fakeStream(chunks.role(), chunks.finish('stop')))
    reply.cancel()
    const { chunks: read, error } = await readAll(reply)
    expect(read).toEqual([chunks.role(), chunks.finish('stop')])
    expect(error).toBeUndefined()
  })
})

describe('a whole answer', () => {
  test('passes unheld', async () => {
    const whole = wholeReply('hello')
    expect(await hold(whole)).toBe(whole)
  })
})
