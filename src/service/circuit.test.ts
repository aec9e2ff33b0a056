import { describe, expect, test } from 'bun:test'
import { circuit, type Circuit } from './circuit.ts'
import { failureEffects, type FailureClass } from './failure.ts'
import { failureOf, fakeClock } from './testing.ts'

/** The middle of the jitter: no jitter at all. */
const noJitter = () => 0.5

function subject(random: () => number = noJitter) {
  const clock = fakeClock()
  return { clock, health: circuit(clock.now, random) }
}

function fail(health: Circuit, times: number, failure: FailureClass = 'server_error', retryAfterMs?: number): void {
  for (let time = 0; time < times; time += 1) {
    health.failed(failureOf(failure, retryAfterMs === undefined ? {} : { retryAfterMs }), health.begin())
  }
}

function succeed(health: Circuit, times = 1): void {
  for (let time = 0; time < times; time += 1) {
    health.begin()
    health.succeeded()
  }
}

describe('a circuit', () => {
  test('begins closed and available', () => {
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

  test('begins to count anew after a success', () => {
    const { health } = subject()
    fail(health, 4)
    succeed(health)
    fail(health, 4)
    expect(health.isOpen).toBe(false)
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })

  test('counts consecutive failures however long they are apart', () => {
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
  test.each(classes)('%s counts towards the breaker as its table says', (failure) => {
    const { health } = subject()
    fail(health, 5, failure)
    expect(health.isOpen).toBe(failureEffects[failure].breaker)
  })

  test('does not take failures that do not count for the end of a row of failures', () => {
    const { health } = subject()
    fail(health, 4)
    fail(health, 1, 'bad_request')
    fail(health, 1)
    expect(health.isOpen).toBe(true)
  })
})

describe('a circuit within 30 s', () => {
  /** Failures and successes mixed, so that no five failures stand in a row. */
  function mixed(health: Circuit, failures: number, successes: number): void {
    let left = successes
    for (let count = 0; count < failures; count += 1) {
      if (count % 4 === 0 && left > 0) {
        left -= 1
        succeed(health)
      }
      fail(health, 1)
    }
    // Trailing successes would close the question; they go first in the cases below.
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

  test('forgets what is older than 30 s', () => {
    const { health, clock } = subject()
    mixed(health, 15, 4)
    succeed(health)
    clock.pass(30_001)
    fail(health, 1)
    expect(health.isOpen).toBe(false)
  })

  test('remembers what is younger than 29 s', () => {
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

describe('an open circuit', () => {
  test('is open for 5 s, doubling to 60 s with every failed probe', () => {
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
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
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

  test('takes no attempt for a probe before its time', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(4_999)
    expect(health.begin()).toBe(false)
  })

  test('closes when its probe succeeds, and begins anew with 5 s', () => {
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

  test('closes when its probe begins to answer', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    health.begin()
    health.answered()
    expect(health.isOpen).toBe(false)
    expect(health.unavailable()).toBeUndefined()
  })

  test('gives the place of an abandoned probe to the next', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    const isProbe = health.begin()
    health.abandoned(isProbe)
    expect(health.isOpen).toBe(true)
    expect(health.unavailable()).toBeUndefined()
    expect(health.begin()).toBe(true)
  })

  test('keeps the place when somebody else than the probe is abandoned', () => {
    const { health, clock } = subject()
    fail(health, 5)
    const isProbe = health.begin()
    clock.pass(5_000)
    health.begin()
    health.abandoned(isProbe)
    expect(health.unavailable()?.reason).toBe('open')
  })

  test('gives the place of a probe to the next when it fails without fault of the upstream', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(5_000)
    fail(health, 1, 'bad_request')
    expect(health.isOpen).toBe(true)
    expect(health.unavailable()).toBeUndefined()
    expect(health.begin()).toBe(true)
  })

  test('does not stay open for longer because attempts that began before fail', () => {
    const { health, clock } = subject()
    fail(health, 5)
    clock.pass(2_000)
    fail(health, 3)
    expect(health.unavailable()).toEqual({ reason: 'open', remainingMs: 3_000 })
  })

  test('closes when an attempt that began before succeeds', () => {
    const { health } = subject()
    fail(health, 5)
    health.succeeded()
    expect(health.isOpen).toBe(false)
  })

  test('stays open when what had begun to answer before the failures ends well', () => {
    const { health, clock } = subject()
    health.answered()
    clock.pass(1_000)
    fail(health, 5)
    health.succeeded(false)
    expect(health.isOpen).toBe(true)
  })
})

describe('streams that began to answer long ago', () => {
  test('do not end a row of failures that came since', () => {
    const { health, clock } = subject()
    health.answered()
    for (let time = 0; time < 5; time += 1) {
      clock.pass(1_000)
      fail(health, 1)
      health.succeeded(false)
    }
    expect(health.isOpen).toBe(true)
  })

  test('end it when something has begun to answer since', () => {
    const { health, clock } = subject()
    for (let time = 0; time < 20; time += 1) {
      clock.pass(1_000)
      fail(health, 1)
      clock.pass(100)
      health.answered()
      clock.pass(1_000)
      health.succeeded(false)
    }
    expect(health.isOpen).toBe(false)
  })

  test('of which nine of ten go well are no trouble, however many run at once', () => {
    const { health, clock } = subject()
    const lastMs = 10_000,
      everyMs = 100
    for (let number = 0; number < 1_000; number += 1) {
      clock.pass(everyMs)
      if (number % 10 === 9) fail(health, 1)
      else health.answered()
      const ending = number - lastMs / everyMs
      if (ending >= 0 && ending % 10 !== 9) health.succeeded(false)
      // The first have not ended before ten failures.
      if (number > (2 * lastMs) / everyMs) expect(health.isOpen).toBe(false)
    }
  })

  test.each([
    ['credential', 'cool_down'],
    ['rate_limit', undefined],
  ] as const)(
    'after three of %s leave it at %p: only where they have made room they end a cool-down',
    (failure, reason) => {
      const { health, clock } = subject()
      health.answered()
      clock.pass(1_000)
      fail(health, 3, failure)
      health.succeeded(false)
      expect(health.unavailable()?.reason).toBe(reason)
    },
  )

  test('of which one is cut now and then are no trouble either, though nothing begins any more', () => {
    const { health, clock } = subject()
    health.answered()
    for (let number = 0; number < 100; number += 1) {
      clock.pass(100)
      if (number % 10 === 9) health.failed(failureOf('cut'), false, false)
      else health.succeeded(false)
    }
    expect(health.isOpen).toBe(false)
  })

  test.each([
    [25, false],
    [10, true],
  ])('count among the twenty all the same: %d of them', (ends, opens) => {
    const { health, clock } = subject()
    health.answered()
    clock.pass(1_000)
    fail(health, 4)
    for (let time = 0; time < ends; time += 1) health.succeeded(false)
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

  test('is what the contract says (failover.md, table)', () => {
    expect(Object.fromEntries(lasting)).toEqual({
      tls: 30_000,
      redirect: 60_000,
      credential: 60_000,
      quota: 300_000,
      model_gone: 300_000,
    })
  })

  function isClass(name: string): name is FailureClass {
    return Object.hasOwn(failureEffects, name)
  }

  test.each(lasting)('begins at the third consecutive %s and lasts %p ms', (name, ms) => {
    if (!isClass(name)) throw new Error(name)
    const { health, clock } = subject()
    fail(health, 2, name)
    expect(health.unavailable()).toBeUndefined()
    fail(health, 1, name)
    expect(health.unavailable()).toEqual({ reason: 'cool_down', remainingMs: ms })
    clock.pass(ms)
    expect(health.unavailable()).toBeUndefined()
  })

  test('does not begin when another class comes between', () => {
    const { health } = subject()
    fail(health, 2, 'credential')
    fail(health, 1, 'quota')
    fail(health, 2, 'credential')
    expect(health.unavailable()).toBeUndefined()
  })

  test('does not begin when a success comes between', () => {
    const { health } = subject()
    fail(health, 2, 'model_gone')
    succeed(health)
    fail(health, 2, 'model_gone')
    expect(health.unavailable()).toBeUndefined()
  })

  test('begins again with each further failure', () => {
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
    'never comes of %s',
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

  test('after rate limits begins anew with 5 s when something was answered', () => {
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

  test('is told before an open breaker', () => {
    const { health, clock } = subject()
    fail(health, 5, 'overloaded', 20_000)
    expect(health.unavailable()).toEqual({ reason: 'retry_after', remainingMs: 20_000 })
    clock.pass(20_000)
    expect(health.isOpen).toBe(true)
    expect(health.begin()).toBe(true)
  })

  test('of 0 holds nobody off', () => {
    const { health } = subject()
    fail(health, 1, 'rate_limit', 0)
    expect(health.unavailable()).toBeUndefined()
  })
})
