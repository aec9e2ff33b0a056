import { afterEach, describe, expect, jest, test } from 'bun:test'
import { Cancelled } from '../formats/reply.ts'
import { fakeBody, transportError, type BodyStep } from '../protocols/testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { byteStreamReply } from './byte-stream-reply.ts'

afterEach(() => void jest.useRealTimers())

const idleMs = 1_000

function subject(steps: readonly BodyStep[], hangs = false, bytesMax = 100) {
  const body = fakeBody(steps, { hangs })
  const reply = byteStreamReply(body, { contentType: 'audio/wav', bytesMax, idleMs, hidden: (error) => error })
  const ends: unknown[] = []
  reply.onEnd((failure) => ends.push(failure))
  return { body, reply, ends }
}

/** The bytes of all reads, and the failure. */
async function readAll({ reply }: ReturnType<typeof subject>) {
  let text = ''
  try {
    for (let parts = await reply.read(); parts !== undefined; parts = await reply.read())
      for (const { data } of parts) text += new TextDecoder().decode(data)
    return { text, failure: undefined }
  } catch (failure) {
    return { text, failure }
  }
}

describe('a stream of bytes', () => {
  test('passes, and commits with its first bytes', async () => {
    const given = subject(['RI', ' ', 'FF'])
    const [first] = (await given.reply.read()) ?? []
    expect(first).toMatchObject({ isMeaningful: true, isBeyondText: true, text: '' })
    expect(await readAll(given)).toEqual({ text: ' FF', failure: undefined })
    expect(given.ends).toEqual([undefined])
  })

  const failures: readonly (readonly [string, readonly BodyStep[], string, string])[] = [
    ['nothing', [], '', 'empty'],
    ['a connection lost before its first bytes', [transportError('short_body')], '', 'malformed'],
    ['a connection lost after them', ['RIFF', transportError('short_body')], 'RIFF', 'cut'],
    ['lack of memory', ['RIFF', transportError('resources')], 'RIFF', 'resources'],
    ['too many bytes', ['RIFF', 'x'.repeat(97)], 'RIFF', 'too_large'],
  ]
  test.each(failures)('that is %s fails', async (_, steps, text, failure) => {
    const given = subject(steps)
    const read = await readAll(given)
    expect(read).toMatchObject({ text, failure: { failure } })
    expect(given.ends).toEqual([read.failure])
    expect(given.body.isCancelled).toBe(true)
    await expect(given.reply.read()).rejects.toBe(read.failure)
  })

  test('that falls silent is a cut; time without a reader does not count', async () => {
    jest.useFakeTimers()
    const given = subject(['RIFF', 'more'], true)
    await given.reply.read()
    jest.advanceTimersByTime(5 * idleMs)
    expect(await given.reply.read()).toHaveLength(1)
    const silent = given.reply.read().catch((error: unknown) => error)
    await Promise.resolve()
    jest.advanceTimersByTime(2 * idleMs + 10)
    jest.advanceTimersByTime(10)
    const failure = await silent
    expect(failure).toBeInstanceOf(UpstreamFailure)
    expect(failure).toMatchObject({ failure: 'cut', timedOut: true })
  })

  test('that is cancelled ends, and is no failure', async () => {
    const given = subject(['RIFF'], true)
    await given.reply.read()
    const waiting = given.reply.read()
    given.reply.cancel()
    expect(await waiting).toBeUndefined()
    expect(given.body.isCancelled).toBe(true)
    expect(given.ends).toEqual([expect.any(Cancelled)])
  })
})
