import { afterEach, describe, expect, jest, test } from 'bun:test'
import { failureEffects, type FailureClass, type FailureDetails } from '../failure.ts'
import { callOf, failureOf, rejection } from '../testing.ts'
import { retry } from './retry.ts'

afterEach(() => void jest.useRealTimers())

/** A service that fails with these failures and then answers; `waits` are those between its attempts. */
function subject(retries: number, failures: readonly unknown[], random = 0.5) {
  const left = [...failures]
  const waits: number[] = []
  const retried: unknown[] = []
  let attempts = 0
  const service = retry<string, string>({
    retries,
    random: () => random,
    sleep: async (ms) => {
      waits.push(ms)
    },
    onRetry: (failure) => {
      retried.push(failure)
    },
  })(async () => {
    attempts += 1
    if (left.length > 0) throw left.shift()
    return 'hello'
  })
  return { service, waits, retried, attempts: () => attempts }
}

describe('retry', () => {
  test('makes one attempt when it is answered', async () => {
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

  test('throws the last failure after its last retry', async () => {
    const last = failureOf('server_error')
    const { service, attempts } = subject(2, [failureOf('server_error'), failureOf('server_error'), last])
    expect(await rejection(service('', callOf()))).toBe(last)
    expect(attempts()).toBe(3)
  })

  test('makes one attempt when the request is a probe (failover.md "Breaker")', async () => {
    const { service, attempts } = subject(5, [failureOf('server_error')])
    expect(await rejection(service('', { ...callOf(), isProbe: true }))).toHaveProperty('failure', 'server_error')
    expect(attempts()).toBe(1)
  })

  test('reports the failures that it retries, not the last one', async () => {
    const failures = [
      failureOf('rate_limit', { retryAfterMs: 900 }),
      failureOf('overloaded'),
      failureOf('server_error'),
    ]
    const { service, retried } = subject(2, failures)
    await rejection(service('', callOf()))
    expect(retried).toEqual(failures.slice(0, 2))
  })

  test('doubles its waits also with a short Retry-After (failover.md row 18)', async () => {
    const { service, waits } = subject(
      5,
      [0, 1, 700, 1_200, 0].map((retryAfterMs, index) =>
        failureOf(index % 2 === 0 ? 'rate_limit' : 'overloaded', { retryAfterMs }),
      ),
    )
    await service('', callOf())
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000])
  })

  const cases: readonly (readonly [FailureClass, FailureDetails, number | undefined])[] = [
    ['rate_limit', { retryAfterMs: 3_000 }, 3_000],
    ['rate_limit', { retryAfterMs: 0 }, 250],
    ['rate_limit', { retryAfterMs: 251 }, 251],
    ['rate_limit', { retryAfterMs: 3_001 }, undefined],
    ['rate_limit', {}, undefined],
    ['overloaded', { retryAfterMs: 2_000 }, 2_000],
    ['overloaded', { retryAfterMs: 3_001 }, undefined],
    ['overloaded', { retryAfterMs: 0 }, 250],
    ['server_error', { retryAfterMs: 1 }, 250],
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
  test.each(hopeless)('does not retry after %s', async (failure) => {
    const { service, attempts } = subject(5, [failureOf(failure, { retryAfterMs: 1 })])
    await rejection(service('', callOf()))
    expect(attempts()).toBe(1)
  })

  test('does not retry after an internal error', async () => {
    const { service, attempts } = subject(5, [new TypeError('ours')])
    expect(await rejection(service('', callOf()))).toBeInstanceOf(TypeError)
    expect(attempts()).toBe(1)
  })

  test('does not retry when the caller has left', async () => {
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
