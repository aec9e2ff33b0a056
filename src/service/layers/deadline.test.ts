import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { UpstreamFailure } from '../failure.ts'
import type { Call, Layer } from '../service.ts'
import { sharedTimers } from '../shared-timers.ts'
import { callOf, failureOf, rejection } from '../testing.ts'
import { deadline } from './deadline.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** A service that rejects with the reason of the signal when it aborts. */
function untilAborted(_request: string, { signal }: Call): Promise<string> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the connection was dropped', { cause: signal.reason })), {
      once: true,
    })
  })
}

function limited(msOf: (request: string, call: Call) => number): Layer<string, string> {
  return deadline({ msOf, idleMs: 60_000, timers: sharedTimers() })
}

/** Checks that no timer starts again. */
function expectNoTimer(): void {
  jest.advanceTimersByTime(300_000)
  expect(jest.getTimerCount()).toBe(0)
}

describe('a deadline', () => {
  test('passes an answer in time, and leaves no timer', async () => {
    const service = limited(() => 1_000)(async (request) => `${request}!`)
    expect(await service('hello', callOf())).toBe('hello!')
    expectNoTimer()
  })

  test('of infinity never ends an attempt, also after progress, which shortens no long one', async () => {
    for (const ms of [Infinity, 400_000]) {
      const answer = Promise.withResolvers<string>()
      const service = limited((_request, { isLast }) => (isLast === true ? ms : 1_000))(async (_request, call) => {
        call.onProgress?.()
        return answer.promise
      })
      const reply = service('hello', { ...callOf(), isLast: true })
      jest.advanceTimersByTime(399_000)
      answer.resolve('late')
      expect(await reply).toBe('late')
      jest.advanceTimersByTime(500_000)
      expect(jest.getTimerCount()).toBe(0)
    }
  })

  test('passes a failure in time, and leaves no timer', async () => {
    const failure = failureOf('dns')
    const service = limited(() => 1_000)(async () => {
      throw failure
    })
    expect(await rejection(service('hello', callOf()))).toBe(failure)
    expectNoTimer()
  })

  test.each([
    [30_000, '30 s'],
    [1_500, '1500 ms'],
  ] as const)('of %p ms aborts the attempt and fails it as a timeout', async (ms, shown) => {
    let signal: Call['signal'] | undefined
    const service = limited(() => ms)((request, call) => {
      signal = call.signal
      return untilAborted(request, call)
    })
    const failing = rejection(service('hello', callOf()))
    jest.advanceTimersByTime(ms - 1)
    expect(signal?.aborted).toBe(false)
    jest.advanceTimersByTime(2)
    expect(signal?.aborted).toBe(true)
    const error = await failing
    expect(error).toBeInstanceOf(UpstreamFailure)
    expect(error).toMatchObject({
      failure: 'timeout',
      ambiguous: true,
      timedOut: true,
      isFinal: false,
      message: `no answer within ${shown}`,
    })
  })

  test('passes an answer that has arrived when its timer is late', async () => {
    const answer = Promise.withResolvers<string>()
    const answering = limited(() => 1_000)(() => answer.promise)('hello', callOf())
    jest.advanceTimersByTime(1_000)
    answer.resolve('hello!')
    expect(await answering).toBe('hello!')
    expectNoTimer()
  })

  test('depends on the request', async () => {
    const service = limited((request) => request.length * 100)(untilAborted)
    const failing = rejection(service('four', callOf()))
    jest.advanceTimersByTime(401)
    expect(await failing).toMatchObject({ message: 'no answer within 400 ms' })
  })

  test("aborts the attempt when the caller leaves, with the caller's reason", async () => {
    const controller = new AbortController()
    const gone = new Error('gone')
    const failing = rejection(limited(() => 1_000)(untilAborted)('hello', callOf(controller.signal)))
    controller.abort(gone)
    expect(await failing).toBe(gone)
    expectNoTimer()
  })

  test('begins an attempt aborted when the caller has left already', async () => {
    let wasAborted: boolean | undefined
    const service = limited(() => 1_000)(async (_request, { signal }) => {
      wasAborted = signal.aborted
      throw new Error('dropped')
    })
    const gone = new Error('gone')
    expect(await rejection(service('hello', callOf(AbortSignal.abort(gone))))).toBe(gone)
    expect(wasAborted).toBe(true)
  })

  test('passes the same trail on', async () => {
    const call = callOf()
    await limited(() => 1_000)(async (_request, { trail }) => {
      trail.push({ name: 'a', ms: 1 })
      return ''
    })('hello', call)
    expect(call.trail).toEqual([{ name: 'a', ms: 1 }])
  })

  test('does not end a stream after its start', async () => {
    let signal: Call['signal'] | undefined
    const service = limited(() => 1_000)(async (_request, call) => {
      signal = call.signal
      return ''
    })
    await service('hello', callOf())
    jest.advanceTimersByTime(10_000)
    expect(signal?.aborted).toBe(false)
  })
})

describe('a deadline of an upstream that shows progress', () => {
  test('begins anew with each, for 300 s in all', async () => {
    let progress = (): void => undefined
    const service = limited(() => 30_000)((request, call) => {
      progress = () => call.onProgress?.()
      return untilAborted(request, call)
    })
    let failed: unknown
    const failing = rejection(service('hello', callOf())).then((error) => (failed = error))
    jest.advanceTimersByTime(29_000)
    for (let waited = 0; waited < 5; waited++) {
      progress()
      jest.advanceTimersByTime(59_000)
      await Promise.resolve()
      expect(failed).toBeUndefined()
    }
    progress()
    jest.advanceTimersByTime(5_002)
    await failing
    expect(failed).toMatchObject({ failure: 'timeout' })
    expectNoTimer()
  })

  test('ends when it shows none any more', async () => {
    const service = limited(() => 30_000)((request, call) => {
      call.onProgress?.()
      return untilAborted(request, call)
    })
    const failing = rejection(service('hello', callOf()))
    jest.advanceTimersByTime(60_002)
    expect(await failing).toMatchObject({ message: 'no answer within 60 s' })
    expectNoTimer()
  })
})
