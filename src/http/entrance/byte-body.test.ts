import { afterEach, describe, expect, jest, test } from 'bun:test'
import type { Part } from '../../formats/part.ts'
import { answerParts } from '../testing.ts'
import { byteBody, type ByteBodyEnd } from './byte-body.ts'

afterEach(() => void jest.useRealTimers())

const stallMs = 1_000

/** Reads of the reply: parts, an error, or a wait without end. */
function subject(reads: readonly (string | Error)[], hangs = false) {
  const left = [...reads]
  const ends: (ByteBodyEnd | undefined)[] = []
  let isCancelled = false
  const piece = (text: string): Part => ({ ...answerParts.finish(), data: new TextEncoder().encode(text) })
  const body = byteBody({
    reply: {
      kind: 'stream',
      isEmpty: false,
      async read() {
        const next = left.shift()
        if (next instanceof Error) throw next
        if (next !== undefined) return [piece(next)]
        return hangs ? new Promise(() => undefined) : undefined
      },
      cancel: () => void (isCancelled = true),
    },
    stallMs,
    onEnd: (end) => ends.push(end),
  })
  return { ...body, ends, isCancelled: () => isCancelled }
}

describe('a body of bytes', () => {
  test('is read unchanged, and ends', async () => {
    const { body, ends } = subject(['ab', 'c'])
    expect(await new Response(body).text()).toBe('abc')
    expect(ends).toEqual([undefined])
  })

  test('is aborted by a failure, and ends once', async () => {
    const error = new Error('it failed')
    const { body, ends, isCancelled, fail, leave } = subject(['ab', error])
    await expect(new Response(body).text()).rejects.toThrow('it was cut')
    fail(new Error('another'))
    leave()
    expect([ends, isCancelled()]).toEqual([[{ kind: 'failed', error }], true])
  })

  test('is aborted while it waits', async () => {
    const { body, ends, fail } = subject([], true)
    const text = new Response(body).text()
    const error = new Error('its time is up')
    fail(error)
    await expect(text).rejects.toThrow()
    expect(ends).toEqual([{ kind: 'failed', error }])
  })

  test('ends when its client leaves, and cancels the reply', async () => {
    const { body, ends, isCancelled } = subject(['ab'], true)
    const reader = body.getReader()
    await reader.read()
    await reader.cancel()
    expect([ends, isCancelled()]).toEqual([[{ kind: 'left' }], true])
  })

  test('ends when its client does not read, but not while it waits for the reply', async () => {
    jest.useFakeTimers()
    const waiting = subject([], true)
    const reader = waiting.body.getReader()
    void reader.read().catch(() => undefined)
    jest.advanceTimersByTime(5 * stallMs)
    expect(waiting.ends).toEqual([])
    waiting.leave()

    const stalled = subject(['ab', 'c'])
    await stalled.body.getReader().read()
    jest.advanceTimersByTime(stallMs + 10)
    jest.advanceTimersByTime(10)
    expect([stalled.ends, stalled.isCancelled()]).toEqual([[{ kind: 'left' }], true])
  })
})
