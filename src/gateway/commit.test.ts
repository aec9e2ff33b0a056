import { describe, expect, test } from 'bun:test'
import { emptyPart, hiddenThought } from '../formats/part.ts'
import type { Reply } from '../formats/reply.ts'
import { callOf, failureOf, rejection } from '../service/testing.ts'
import { commit } from './commit.ts'
import {
  parts,
  cutFailure,
  fakeStream,
  readAll,
  requestOf,
  silentStream,
  wholeReply,
  type FakeStream,
  type StreamStep,
} from './testing.ts'

const request = requestOf({ stream: true })

async function hold(reply: Reply) {
  return commit(async () => reply)(request, callOf())
}

async function held(stream: FakeStream) {
  const reply = await hold(stream)
  if (reply.kind !== 'stream') throw new Error('not a stream')
  return reply
}

const meaningful: readonly (readonly [string, StreamStep])[] = [
  ['text', parts.text('Hel')],
  ['a tool call', parts.toolCall()],
  ['reasoning', parts.reasoning('They ask')],
  ['a refusal', parts.refusal('I cannot')],
  ['a second choice', parts.secondChoice('Hi')],
  ['a finish_reason', parts.finish('length')],
]

describe('a stream is held back until it commits', () => {
  test.each(meaningful)('that is %s, and not read any further', async (_name, step) => {
    const stream = fakeStream(parts.role(), step, parts.text('more'))
    await held(stream)
    expect(stream.reads).toBe(2)
    expect(stream.isCancelled).toBe(false)
  })

  test.each(meaningful)('that is %s, and then delivered from its beginning', async (_name, step) => {
    const { parts: read } = await readAll(
      await held(fakeStream(parts.role(), [parts.role(), parts.usage()], step, parts.text('more'), parts.finish())),
    )
    expect(read).toHaveLength(6)
    expect(read[0]).toEqual(parts.role())
    expect(read[5]).toEqual(parts.finish())
  })

  test('past parts with a role only, which do not commit', async () => {
    const failure = failureOf('server_error')
    expect(await rejection(held(fakeStream(parts.role(), parts.role(), failure)))).toBe(failure)
  })

  const hiddenPart = (bytes = 1) => emptyPart(hiddenThought, new Uint8Array(bytes))

  test('past reasoning that the caller does not see', async () => {
    const failure = failureOf('server_error')
    expect(await rejection(held(fakeStream(parts.role(), hiddenPart(), failure)))).toBe(failure)
    const { parts: read } = await readAll(await held(fakeStream(hiddenPart(), parts.text('Hel'))))
    expect(read).toHaveLength(2)
  })

  test('or until 256 KiB of such reasoning', async () => {
    const stream = fakeStream(hiddenPart(200 * 1024), hiddenPart(60 * 1024), parts.text('Hel'))
    await held(stream)
    expect(stream.reads).toBe(2)
  })

  test('past usage, which does not commit', async () => {
    expect(await rejection(held(fakeStream(parts.usage(), cutFailure())))).toHaveProperty('failure', 'cut')
  })

  test('and fails its reader, not the attempt, after it', async () => {
    const failure = cutFailure()
    const { parts: read, error } = await readAll(await held(fakeStream(parts.text('Hel'), failure)))
    expect(read).toHaveLength(1)
    expect(error).toBe(failure)
  })

  test.each([[[]], [[parts.role()]], [[parts.role(), parts.usage()]]] as const)(
    'and is empty when it ends before (%#)',
    async (steps) => {
      const stream = fakeStream(...steps)
      expect(await rejection(held(stream))).toMatchObject({ failure: 'empty', status: 200 })
      expect(stream.isCancelled).toBe(true)
    },
  )

  test('and its upstream is released when it fails before', async () => {
    const stream = fakeStream(parts.role(), failureOf('malformed'))
    await rejection(held(stream))
    expect(stream.isCancelled).toBe(true)
  })

  test('for at most 64 events', async () => {
    const roles = (count: number) => Array.from({ length: count }, () => parts.role())
    expect((await held(fakeStream(...roles(63), parts.text('late')))).kind).toBe('stream')
    const stream = fakeStream(...roles(65), parts.text('too late'))
    expect(await rejection(held(stream))).toMatchObject({ failure: 'malformed', status: 200 })
    expect(stream.isCancelled).toBe(true)
    expect(stream.reads).toBe(65)
  })

  test('for at most 64 events that come all at once too', async () => {
    const roles = Array.from({ length: 65 }, () => parts.role())
    expect(await rejection(held(fakeStream(roles, parts.text('too late'))))).toHaveProperty('failure', 'malformed')
  })

  test('for at most 256 KiB', async () => {
    const padded = { ...parts.role(), data: new Uint8Array(100 * 1024).fill(0x20) }
    expect((await held(fakeStream(padded, padded, parts.text('late')))).kind).toBe('stream')
    expect(await rejection(held(fakeStream(padded, padded, padded, parts.text('too late'))))).toHaveProperty(
      'failure',
      'malformed',
    )
  })

  test('and no longer when the call is aborted', async () => {
    const controller = new AbortController()
    const stream = silentStream()
    const failing = rejection(commit(async () => stream)(request, callOf(controller.signal)))
    await Promise.resolve()
    controller.abort(new Error('gone'))
    expect(await failing).toBeInstanceOf(Error)
    expect(stream.isCancelled).toBe(true)
  })

  test("and is then independent of its call: an abort of the call's first phase does not end it", async () => {
    const controller = new AbortController()
    const stream = fakeStream(parts.text('Hel'), parts.text('lo'))
    await commit(async () => stream)(request, callOf(controller.signal))
    controller.abort(new Error('over'))
    expect(stream.isCancelled).toBe(false)
  })

  test('and is cancelled when its reader cancels', async () => {
    const stream = fakeStream(parts.text('Hel'), parts.text('lo'))
    const reply = await held(stream)
    reply.cancel()
    expect(stream.isCancelled).toBe(true)
  })
})

describe('a stream that was held back is empty', () => {
  const cases: readonly (readonly [string, readonly StreamStep[], boolean])[] = [
    ['when it has finished with stop and said nothing', [parts.role(), parts.finish('stop')], true],
    ['but not when it has finished for its length (failover.md row 28)', [parts.role(), parts.finish('length')], false],
    [
      'but not when its content was filtered (failover.md row 28)',
      [parts.role(), parts.finish('content_filter')],
      false,
    ],
    ['but not with text', [parts.text('Hi'), parts.finish('stop')], false],
    ['but not with text in the same read', [[parts.text('Hi'), parts.finish('stop')]], false],
    ['but not with a tool call', [[parts.toolCall(), parts.finish('stop')]], false],
    ['but not with reasoning', [[parts.reasoning('They ask'), parts.finish('stop')]], false],
  ]
  test.each(cases)('%s', async (_name, steps, isEmpty) => {
    expect((await held(fakeStream(...steps))).isEmpty).toBe(isEmpty)
  })

  test('and is delivered to its end even after a cancel', async () => {
    const reply = await held(fakeStream(parts.role(), parts.finish('stop'), parts.usage()))
    reply.cancel()
    const { parts: read, error } = await readAll(reply)
    expect(read).toEqual([parts.role(), parts.finish('stop'), parts.usage()])
    expect(error).toBeUndefined()
  })
})

describe('a stream that shows progress', () => {
  const progress = { ...parts.role(), isProgress: true as const }

  test('says so with each part from there on, and may have any number of them', async () => {
    let count = 0
    const steps = [parts.role(), progress, ...Array.from({ length: 100 }, parts.role), parts.text('Hi')]
    const call = { ...callOf(), onProgress: () => void count++ }
    await commit(async () => fakeStream(...steps))(request, call)
    expect(count).toBe(101)
  })
})

describe('a whole answer', () => {
  test('passes at once', async () => {
    const whole = wholeReply('hello')
    expect(await hold(whole)).toBe(whole)
  })
})
