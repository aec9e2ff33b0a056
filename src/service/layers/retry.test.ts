import { afterEach, describe, expect, jest, test } from 'bun:test'
import { failureEffects, type FailureClass, type FailureDetails } from '../failure.ts'
import { callOf, failureOf, rejection } from '../testing.ts'
import { retry } from './retry.ts'

afterEach(() => void jest.useRealTimers())

/** A service that fails with these, then answers; with the waits between its attempts. */
function subject(retries: number, failures: readonly unknown[], random = 0.5) {
  const left = [...failures]
  const waits: number[] = []
  let attempts = 0
  const service = retry<string, string>({
    retries,
    random: () => random,
    sleep: async (ms) => {
      waits.push(ms)
    },
  })(async () => {
    attempts += 1
    if (left.length > 0) throw left.shift()
    return 'hello'
  })
  return { service, waits, attempts: () => attempts }
}

describe('retry', () => {
  test('asks once when the first attempt is answered', async () => {
    const { service, attempts } = subject(5, [])
    expect(await service('', callOf())).toBe('hello')
    expect(attempts()).toBe(1)
  })

  test('waits 250 ms after a server error, doubling', async () => {
    const { service, waits } = subject(
      5,
      Array.from({ length: 5 }, () => failureOf('server_error')),
    )
    expect(await service('', callOf())).toBe('hello')
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000])
  })

  test.each([
    [0, 187.5],
    [1, 312.5],
  ] as const)('with a random number of %p waits %p ms', async (random, ms) => {
    const { service, waits } = subject(1, [failureOf('overloaded')], random)
    await service('', callOf())
    expect(waits).toEqual([ms])
  })

  test('gives up with the last failure after as many retries as it has', async () => {
    const last = failureOf('server_error')
    const { service, attempts } = subject(2, [failureOf('server_error'), failureOf('server_error'), last])
    expect(await rejection(service('', callOf()))).toBe(last)
    expect(attempts()).toBe(3)
  })

  const cases: readonly (readonly [FailureClass, FailureDetails, number | undefined])[] = [
    ['rate_limit', { retryAfterMs: 3_000 }, 3_000],
    ['rate_limit', { retryAfterMs: 0 }, 0],
    ['rate_limit', { retryAfterMs: 3_001 }, undefined],
    ['rate_limit', {}, undefined],
    ['overloaded', { retryAfterMs: 2_000 }, 2_000],
    ['overloaded', { retryAfterMs: 3_001 }, undefined],
    ['server_error', { retryAfterMs: 1 }, 1],
    ['server_error', { isFinal: true }, undefined],
  ]
  test.each(cases)('after %s with %j waits %p ms', async (failure, details, ms) => {
    const { service, waits, attempts } = subject(1, [failureOf(failure, details)])
    if (ms === undefined) {
      expect(await rejection(service('', callOf()))).toHaveProperty('failure', failure)
      expect(attempts()).toBe(1)
    } else {
      await service('', callOf())
      expect(waits).toEqual([ms])
    }
  })

  const hopeless = Object.keys(failureEffects)
    .filter((name): name is FailureClass => Object.hasOwn(failureEffects, name))
    .filter((name) => !['rate_limit', 'server_error', 'overloaded'].includes(name))
  test.each(hopeless)('does not ask again after %s', async (failure) => {
    const { service, attempts } = subject(5, [failureOf(failure, { retryAfterMs: 1 })])
    await rejection(service('', callOf()))
    expect(attempts()).toBe(1)
  })

  test('does not ask again after a mistake of ours', async () => {
    const { service, attempts } = subject(5, [new TypeError('ours')])
    expect(await rejection(service('', callOf()))).toBeInstanceOf(TypeError)
    expect(attempts()).toBe(1)
  })

  test('does not ask again when the caller has left', async () => {
    const { service, attempts } = subject(5, [failureOf('server_error')])
    await rejection(service('', callOf(AbortSignal.abort(new Error('gone')))))
    expect(attempts()).toBe(1)
  })

  test('ends its wait when the caller leaves', async () => {
    jest.useFakeTimers()
    const controller = new AbortController()
    const gone = new Error('gone')
    let attempts = 0
    const service = retry<string, string>({ retries: 5, random: () => 0.5 })(async () => {
      attempts += 1
      throw failureOf('server_error')
    })
    const failing = rejection(service('', callOf(controller.signal)))
    await Promise.resolve()
    controller.abort(gone)
    expect(await failing).toBe(gone)
    expect(attempts).toBe(1)
    expect(jest.getTimerCount()).toBe(0)
  })
})
