import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { failureEffects, type FailureClass } from '../failure.ts'
import { failureOf, fakeClock } from '../testing.ts'
import { healthState, type HealthState } from './health-state.ts'

/** The middle of the range of jitter. */
const noJitter = () => 0.5

function subject(random: () => number = noJitter) {
  const clock = fakeClock()
  return { clock, health: healthState(clock.now, random) }
}

function fail(health: HealthState, times: number, failure: FailureClass = 'server_error', retryAfterMs?: number): void {
  for (let time = 0; time < times; time += 1) {
    health.failed(failureOf(failure, retryAfterMs === undefined ? {} : { retryAfterMs }), health.begin())
  }
}

function succeed(health: HealthState, times = 1): void {
  for (let time = 0; time < times; time += 1) {
    health.begin()
    health.succeeded()
  }
}

describe('the state of health', () => {
  test('starts closed and available', () => {
    const { health } = subject()
    expect(health.unavailable()).toBeUndefined()
    expect(health.isOpen).toBe(false)
    expect(health.begin()).toBe(false)
  })

  test('stays closed after four consecutive failures', () => {
    const { health } = subject()
    fail(health, 4)
    expect(health.isOpen).toBe(false)
    expect(health.unavailable()).toBeUndefined()
  })

  test('opens at the fifth consecutive failure', () => {
    const { health } = subject()
    fail(health, 5)
    expect(health.isOpen).toBe(true)
    expect(health.unavailable()).toEqual({ reason: 'open', remainingMs: 5_000 })
  })

  test('counts from zero after a success', () => {
    const { health } = subject()
    fail(health, 4)
    succeed(health)
    fail(health, 4)
    expect(health.isOpen).toBe(false)
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })

  test('counts consecutive failures at any distance in time', () => {
    const { health, clock } = subject()
    for (let time = 0; time < 5; time += 1) {
      fail(health, 1)
      clock.pass(3_600_000)
    }
    expect(health.isOpen).toBe(true)
  })

  const classes = Object.keys(failureEffects).filter((name): name is FailureClass =>
    Object.hasOwn(failureEffects, name),
  )
  test.each(classes)('%s counts towards the breaker by the table of effects', (failure) => {
    const { health } = subject()
    fail(health, 5, failure)
    expect(health.isOpen).toBe(failureEffects[failure].breaker)
  })

  test('ignores failures that do not count, within a series of others', () => {
    const { health } = subject()
    fail(health, 4)
    fail(health, 1, 'bad_request')
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })
})

describe('a circuit breaker within 30 s', () => {
  /** Failures and successes mixed, so that no five failures are consecutive. */
  function mixed(health: HealthState, failures: number, successes: number): void {
    let left = successes
    for (let count = 0; count < failures; count += 1) {
      if (count % 4 === 0 && left > 0) {
        left -= 1
        succeed(health)
      }
      fail(health, 1)
    }
    // Trailing successes would end the series; the cases below put them first.
    if (left > 0) throw new Error(`${left} successes are left over`)
  }

  test('opens at half of twenty', () => {
    const { health } = subject()
    succeed(health, 7)
    mixed(health, 9, 3)
    expect(health.isOpen).toBe(false)
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })

  test('does not open below twenty', () => {
    const { health } = subject()
    mixed(health, 15, 4)
    expect(health.isOpen).toBe(false)
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })

  test('does not open below a half', () => {
    const { health } = subject()
    succeed(health, 20)
    mixed(health, 16, 4)
    expect(health.isOpen).toBe(false)
  })

  test('forgets attempts older than 30 s', () => {
    const { health, clock } = subject()
    mixed(health, 15, 4)
    succeed(health)
    clock.pass(30_001)
    fail(health, 1)
    expect(health.isOpen).toBe(false)
  })

  test('remembers attempts younger than 29 s', () => {
    const { health, clock } = subject()
    mixed(health, 15, 4)
    succeed(health)
    clock.pass(28_900)
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })

  test('slides: each second that passes drops the oldest', () => {
    const { health, clock } = subject()
    for (let second = 0; second < 60; second += 1) {
      fail(health, 1)
      succeed(health, 2)
      clock.pass(1_000)
    }
    expect(health.isOpen).toBe(false)
  })

  test('forgets the window when it closes', () => {
    const { health, clock } = subject()
    succeed(health, 7)
    mixed(health, 10, 3)
    expect(health.isOpen).toBe(true)
    clock.pass(5_000)
    succeed(health)
    fail(health, 4)
    expect(health.isOpen).toBe(false)
  })
})

describe('an open circuit breaker', () => {
  test('is open for 5 s, doubling to 15 s with every failed probe', () => {
    const { health, clock } = subject()
    fail(health, 5)
    const waits: (number | undefined)[] = []
    for (let round = 0; round < 7; round += 1) {
      const remainingMs = health.unavailable()?.remainingMs ?? 0
      waits.push(remainingMs)
      clock.pass(remainingMs - 1)
      expect(health.unavailable()).toEqual({ reason: 'open', remainingMs: 1 })
      clock.pass(1)
      expect(health.unavailable()).toBeUndefined()
      fail(health, 1)
    }
    expect(waits).toEqual([5_000, 10_000, 15_000, 15_000, 15_000, 15_000, 15_000])
  })

  test('probes an upstream within 20 s of its recovery, after any outage', () => {
    const arrivals = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 100, maxLength: 200 })
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 300_000 }),
        arrivals,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }),
        (awayMs, gaps, randoms) => {
          let draws = 0,
            arrival = 0
          const { health, clock } = subject(() => randoms[draws++ % randoms.length] ?? 0.5)
          const returnsAt = clock.now() + awayMs
          for (;;) {
            clock.pass(gaps[arrival++ % gaps.length] ?? 1)
            if (health.unavailable() !== undefined) continue
            if (clock.now() >= returnsAt) break
            fail(health, 1)
          }
          expect(clock.now() - returnsAt).toBeLessThanOrEqual(20_000)
        },
      ),
    )
  })

  const jitters: readonly (readonly [number, number])[] = [
    [0, 4_000],
    [0.25, 4_500],
    [0.5, 5_000],
    [1, 6_000],
  ]
  test.each(jitters)('with a random number of %p stays open for %p ms', (random, ms) => {
    const { health } = subject(() => random)
    fail(health, 5)
    expect(health.unavailable()?.remainingMs).toBeCloseTo(ms, 6)
  })

  test('lets exactly one probe through', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    expect(health.unavailable()).toBeUndefined()
    expect(health.begin()).toBe(true)
    expect(health.unavailable()?.reason).toBe('open')
    expect(health.begin()).toBe(false)
    clock.pass(3_600_000)
    expect(health.unavailable()?.reason).toBe('open')
    expect(health.begin()).toBe(false)
  })

  test('makes no attempt a probe before its time', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(4_999)
    expect(health.begin()).toBe(false)
  })

  test('closes when its probe succeeds, and starts again with 5 s', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    fail(health, 1)
    clock.pass(10_000)
    succeed(health)
    expect(health.isOpen).toBe(false)
    expect(health.unavailable()).toBeUndefined()
    fail(health, 4)
    expect(health.isOpen).toBe(false)
    fail(health, 1)
    expect(health.unavailable()?.remainingMs).toBe(5_000)
  })

  test('closes when its probe starts to answer', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    health.begin()
    health.answered()
    expect(health.isOpen).toBe(false)
    expect(health.unavailable()).toBeUndefined()
  })

  test('allows another probe after an abandoned one', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    const isProbe = health.begin()
    health.abandoned(isProbe)
    expect(health.isOpen).toBe(true)
    expect(health.unavailable()).toBeUndefined()
    expect(health.begin()).toBe(true)
  })

  test('waits for its probe when another attempt is abandoned', () => {
    const { health, clock } = subject()
    fail(health, 5)
    const isProbe = health.begin()
    clock.pass(5_000)
    health.begin()
    health.abandoned(isProbe)
    expect(health.unavailable()?.reason).toBe('open')
  })

  test('allows another probe after one that failed because of its request', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    fail(health, 1, 'bad_request')
    expect(health.isOpen).toBe(true)
    expect(health.unavailable()).toBeUndefined()
    expect(health.begin()).toBe(true)
  })

  test('does not stay open longer when older attempts fail', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(2_000)
    fail(health, 3)
    expect(health.unavailable()).toEqual({ reason: 'open', remainingMs: 3_000 })
  })

  test('closes when an older attempt succeeds', () => {
    const { health } = subject()
    fail(health, 5)
    health.succeeded()
    expect(health.isOpen).toBe(false)
  })

  test('stays open when a stream from before the failures completes', () => {
    const { health, clock } = subject()
    health.answered()
    clock.pass(1_000)
    fail(health, 5)
    health.succeeded(true)
    expect(health.isOpen).toBe(true)
  })
})

describe('old streams', () => {
  test('do not end a series of newer failures', () => {
    const { health, clock } = subject()
    health.answered()
    for (let time = 0; time < 5; time += 1) {
      clock.pass(1_000)
      fail(health, 1)
      health.succeeded(true)
    }
    expect(health.isOpen).toBe(true)
  })

  test('end it when a newer attempt has started to answer', () => {
    const { health, clock } = subject()
    for (let time = 0; time < 20; time += 1) {
      clock.pass(1_000)
      fail(health, 1)
      clock.pass(100)
      health.answered()
      clock.pass(1_000)
      health.succeeded(true)
    }
    expect(health.isOpen).toBe(false)
  })

  test('of which nine of ten succeed keep the breaker closed, at any concurrency', () => {
    const { health, clock } = subject()
    const lastMs = 10_000,
      everyMs = 100
    for (let number = 0; number < 1_000; number += 1) {
      clock.pass(everyMs)
      if (number % 10 === 9) fail(health, 1)
      else health.answered()
      const ending = number - lastMs / everyMs
      if (ending >= 0 && ending % 10 !== 9) health.succeeded(true)
      // Before, the first streams have not ended.
      if (number > (2 * lastMs) / everyMs) expect(health.isOpen).toBe(false)
    }
  })

  test.each([
    ['credential', 'cool_down'],
    ['rate_limit', undefined],
  ] as const)('after three of %s leave %p: they end a cool-down only of rate limits', (failure, reason) => {
    const { health, clock } = subject()
    health.answered()
    clock.pass(1_000)
    fail(health, 3, failure)
    health.succeeded(true)
    expect(health.unavailable()?.reason).toBe(reason)
  })

  test('with occasional cuts keep the breaker closed, also without new attempts', () => {
    const { health, clock } = subject()
    health.answered()
    for (let number = 0; number < 100; number += 1) {
      clock.pass(100)
      if (number % 10 === 9) health.failed(failureOf('cut'), false, true)
      else health.succeeded(true)
    }
    expect(health.isOpen).toBe(false)
  })

  test.each([
    [25, false],
    [10, true],
  ])('count for the ratio: %d of them', (ends, opens) => {
    const { health, clock } = subject()
    health.answered()
    clock.pass(1_000)
    fail(health, 4)
    for (let time = 0; time < ends; time += 1) health.succeeded(true)
    let hasOpened = false
    for (let round = 0; round < 5; round += 1) {
      health.succeeded()
      fail(health, 4)
      hasOpened ||= health.isOpen
    }
    expect(hasOpened).toBe(opens)
  })
})

describe('a cool-down', () => {
  const lasting = Object.entries(failureEffects).flatMap(([name, { coolDownMs }]) =>
    coolDownMs > 0 ? [[name, coolDownMs] as const] : [],
  )

  test('has the durations of failover.md', () => {
    expect(Object.fromEntries(lasting)).toEqual({
      tls: 30_000,
      redirect: 60_000,
      credential: 60_000,
      quota: 300_000,
      model_gone: 300_000,
      other_model: 300_000,
    })
  })

  function isClass(name: string): name is FailureClass {
    return Object.hasOwn(failureEffects, name)
  }

  test.each(lasting)('starts at the third consecutive %s and lasts %p ms', (name, ms) => {
    if (!isClass(name)) throw new Error(name)
    const { health, clock } = subject()
    fail(health, 2, name)
    expect(health.unavailable()).toBeUndefined()
    fail(health, 1, name)
    expect(health.unavailable()).toEqual({ reason: 'cool_down', remainingMs: ms })
    clock.pass(ms)
    expect(health.unavailable()).toBeUndefined()
  })

  test('does not start with another class in between', () => {
    const { health } = subject()
    fail(health, 2, 'credential')
    fail(health, 1, 'quota')
    fail(health, 2, 'credential')
    expect(health.unavailable()).toBeUndefined()
  })

  test('does not start with a success in between', () => {
    const { health } = subject()
    fail(health, 2, 'model_gone')
    succeed(health)
    fail(health, 2, 'model_gone')
    expect(health.unavailable()).toBeUndefined()
  })

  test('starts again with each further failure', () => {
    const { health, clock } = subject()
    fail(health, 3, 'credential')
    clock.pass(60_000)
    fail(health, 1, 'credential')
    expect(health.unavailable()).toEqual({ reason: 'cool_down', remainingMs: 60_000 })
  })

  test('ends with a success', () => {
    const { health } = subject()
    fail(health, 3, 'credential')
    succeed(health)
    expect(health.unavailable()).toBeUndefined()
  })

  test.each(['bad_request', 'context_length', 'content_policy', 'conflict', 'resources'] as const)(
    'is never started by %s',
    (failure) => {
      const { health } = subject()
      fail(health, 10, failure)
      expect(health.unavailable()).toBeUndefined()
    },
  )

  test('after rate limits without Retry-After is 5 s from the third, doubling to 60 s (failover.md row 18)', () => {
    const { health, clock } = subject()
    fail(health, 2, 'rate_limit')
    expect(health.unavailable()).toBeUndefined()
    const waits: (number | undefined)[] = []
    for (let round = 0; round < 6; round += 1) {
      fail(health, 1, 'rate_limit')
      const remainingMs = health.unavailable()?.remainingMs ?? 0
      waits.push(remainingMs)
      clock.pass(remainingMs)
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })

  test('after rate limits starts again with 5 s after a success', () => {
    const { health, clock } = subject()
    fail(health, 5, 'rate_limit')
    clock.pass(60_000)
    succeed(health)
    fail(health, 3, 'rate_limit')
    expect(health.unavailable()?.remainingMs).toBe(5_000)
  })
})

describe('Retry-After', () => {
  test.each(['rate_limit', 'overloaded'] as const)('after %s is obeyed at once', (failure) => {
    const { health, clock } = subject()
    fail(health, 1, failure, 7_000)
    expect(health.unavailable()).toEqual({ reason: 'retry_after', remainingMs: 7_000 })
    clock.pass(6_999)
    expect(health.unavailable()?.reason).toBe('retry_after')
    clock.pass(1)
    expect(health.unavailable()).toBeUndefined()
  })

  test('is never shortened by a later, shorter one', () => {
    const { health } = subject()
    fail(health, 1, 'rate_limit', 30_000)
    fail(health, 1, 'rate_limit', 1_000)
    expect(health.unavailable()?.remainingMs).toBe(30_000)
  })

  test('comes before an open breaker', () => {
    const { health, clock } = subject()
    fail(health, 5, 'overloaded', 20_000)
    expect(health.unavailable()).toEqual({ reason: 'retry_after', remainingMs: 20_000 })
    clock.pass(20_000)
    expect(health.isOpen).toBe(true)
    expect(health.begin()).toBe(true)
  })

  test('before a retry applies to other requests at once, and is no failure', () => {
    const { health } = subject()
    for (let time = 0; time < 5; time += 1) health.retrying(failureOf('overloaded', { retryAfterMs: 2_000 }))
    expect(health.unavailable()).toEqual({ reason: 'retry_after', remainingMs: 2_000 })
    expect(health.isOpen).toBe(false)
  })

  test('of 0 has no effect', () => {
    const { health } = subject()
    fail(health, 1, 'rate_limit', 0)
    expect(health.unavailable()).toBeUndefined()
  })
})
