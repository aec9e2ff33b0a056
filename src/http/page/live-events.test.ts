import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { liveEvents } from './live-events.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const heartbeatMs = 15_000
const lifeMs = 900_000

/** Counts changes and subscribers. */
function subject({ stallMs = 30_000 } = {}) {
  let changes = 0
  let seen = 0
  let takes = 0
  const ends: boolean[] = []
  const listeners = new Set<() => void>()
  const events = liveEvents({
    async take() {
      takes += 1
      const news = changes - seen
      seen = changes
      return news === 0 && takes > 1 ? undefined : new TextEncoder().encode(`${news} new`)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    heartbeatMs,
    stallMs,
    lifeMs,
    onEnd({ hasClientLeft }) {
      ends.push(hasClientLeft)
    },
  })
  const reader = events.body.getReader()
  return {
    ...events,
    reader,
    takes: () => takes,
    ends: () => ends.length,
    /** Outcome at the end. */
    hasClientLeft: () => ends[0],
    listeners,
    change(count = 1) {
      changes += count
      for (const listener of listeners) listener()
    },
    changeUntold() {
      changes += 1
    },
    announceNothing() {
      for (const listener of listeners) listener()
    },
    async read(): Promise<string | undefined> {
      const { value } = await reader.read()
      return value === undefined ? undefined : new TextDecoder().decode(value)
    },
  }
}

/** Runs all pending microtasks and timers of 0 ms. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

describe('live events', () => {
  test('begin with the current state and continue with changes', async () => {
    const { read, change } = subject()
    expect(await read()).toBe('0 new')
    const next = read()
    await settle()
    change(3)
    expect(await next).toBe('3 new')
  })

  test('collect changes while the reader is not ready, without a call', async () => {
    const { read, change, takes } = subject()
    await read()
    for (let turn = 0; turn < 1_000; turn += 1) change()
    await settle()
    expect(takes()).toBe(1)
    expect(await read()).toBe('1000 new')
  })

  test('make events only after a notification', async () => {
    const { read, changeUntold, announceNothing } = subject()
    await read()
    changeUntold()
    const next = read()
    await settle()
    changeUntold()
    announceNothing()
    expect(await next).toBe('2 new')
  })

  test('send a comment after a time without changes', async () => {
    const { read } = subject()
    await read()
    const next = read()
    await settle()
    jest.advanceTimersByTime(heartbeatMs)
    expect(await next).toBe(': keep-alive\n\n')
  })

  test('send a comment in spite of notifications without changes', async () => {
    const { read, announceNothing } = subject()
    await read()
    const next = read()
    for (let ms = 0; ms <= heartbeatMs; ms += 250) {
      await settle()
      announceNothing()
      await settle()
      jest.advanceTimersByTime(250)
    }
    expect(await next).toBe(': keep-alive\n\n')
  })

  test('complete when they are ended, idle or with a reader that is not ready', async () => {
    const waiting = subject()
    await waiting.read()
    const next = waiting.read()
    await settle()
    waiting.end()
    expect(await next).toBeUndefined()

    const unread = subject()
    await unread.read()
    unread.end()
    expect(await unread.read()).toBeUndefined()
    expect([waiting.ends(), unread.ends()]).toEqual([1, 1])
  })

  test('complete at the end of their lifetime', async () => {
    const { read, ends } = subject()
    await read()
    for (let ms = heartbeatMs; ms < lifeMs; ms += heartbeatMs) {
      const comment = read()
      await settle()
      jest.advanceTimersByTime(heartbeatMs)
      expect(await comment).toBe(': keep-alive\n\n')
    }
    jest.advanceTimersByTime(heartbeatMs)
    expect([await read(), ends()]).toEqual([undefined, 1])
  })

  test('abort when the reader stalls', async () => {
    const { read, ends, reader } = subject()
    await read()
    await settle()
    jest.advanceTimersByTime(30_001)
    expect(ends()).toBe(1)
    expect(await reader.read().catch((error: unknown) => String(error))).toBe('Error: the client does not read')
  })

  test('abort when they are never read', () => {
    const { ends } = subject()
    jest.advanceTimersByTime(30_001)
    expect(ends()).toBe(1)
  })

  test('do not abort while the reader waits for changes', async () => {
    const { read, ends } = subject({ stallMs: 5_000 })
    await read()
    const next = read()
    await settle()
    jest.advanceTimersByTime(heartbeatMs)
    expect([await next, ends()]).toEqual([': keep-alive\n\n', 0])
  })

  test.each([
    ['the reader cancels', true, ({ reader }: ReturnType<typeof subject>) => reader.cancel()],
    ['the client leaves', true, ({ leave }: ReturnType<typeof subject>) => leave()],
    ['they are ended', false, ({ end }: ReturnType<typeof subject>) => end()],
  ])('leave no timer and no listener when %s, and tell once', async (_, hasClientLeft, stop) => {
    const made = subject()
    await made.read()
    const next = made.read().catch(() => undefined)
    await settle()
    await stop(made)
    made.end()
    made.leave()
    await next
    await settle()
    expect([jest.getTimerCount(), made.listeners.size, made.ends(), made.hasClientLeft()]).toEqual([
      0,
      0,
      1,
      hasClientLeft,
    ])
  })

  test('complete at once while an event is being made', async () => {
    const { body, end } = liveEvents({
      take: () => new Promise(() => undefined),
      subscribe: () => () => undefined,
      heartbeatMs,
      stallMs: 30_000,
      lifeMs,
      onEnd() {},
    })
    const read = body.getReader().read()
    await settle()
    end()
    expect([(await read).done, jest.getTimerCount()]).toEqual([true, 0])
  })

  /** Events that the test makes one by one. */
  function answered() {
    const answers: PromiseWithResolvers<Uint8Array | undefined>[] = []
    let wake = (): void => undefined
    const { body, end } = liveEvents({
      take() {
        const answer = Promise.withResolvers<Uint8Array | undefined>()
        answers.push(answer)
        return answer.promise
      },
      subscribe(listener) {
        wake = listener
        return () => undefined
      },
      heartbeatMs,
      stallMs: 30_000,
      lifeMs,
      onEnd() {},
    })
    return { answers, body, end, wake: () => wake() }
  }

  test('call again after changes during a call without a result', async () => {
    const { answers, body, end, wake } = answered()
    const read = body.getReader().read()
    await settle()
    wake()
    wake()
    await settle()
    expect(answers).toHaveLength(1)
    answers[0]?.resolve(undefined)
    await settle()
    expect(answers).toHaveLength(2)
    answers[1]?.resolve(new TextEncoder().encode('news'))
    expect(new TextDecoder().decode((await read).value)).toBe('news')
    end()
  })

  test('send a comment in spite of slow calls without results', async () => {
    const { answers, body, end, wake } = answered()
    const read = body.getReader().read()
    await settle()
    wake()
    jest.advanceTimersByTime(heartbeatMs)
    answers[0]?.resolve(undefined)
    expect(new TextDecoder().decode((await read).value)).toBe(': keep-alive\n\n')
    end()
  })

  test('abort when an event cannot be made', async () => {
    let ends = 0
    const { body } = liveEvents({
      async take() {
        throw new Error('ours')
      },
      subscribe: () => () => undefined,
      heartbeatMs,
      stallMs: 30_000,
      lifeMs,
      onEnd() {
        ends += 1
      },
    })
    expect(
      await body
        .getReader()
        .read()
        .catch(() => 'broken'),
    ).toBe('broken')
    expect([ends, jest.getTimerCount()]).toEqual([1, 0])
  })
})
