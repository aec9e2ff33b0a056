import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rateLimit } from './rate-limit.ts'

function limited(perMinute: number, clientsMost?: number) {
  const clock = { ms: 1_800_000_000_000 }
  return { clock, wait: rateLimit({ perMinute, now: () => clock.ms, ...(clientsMost === undefined ? {} : { clientsMost }) }) }
}

function passed(wait: (client: string) => number | undefined, client: string, requests: number): number {
  return Array.from({ length: requests }, () => wait(client)).filter((seconds) => seconds === undefined).length
}

describe('a rate limit', () => {
  test('lets the first minute\'s worth pass at once, and no more', () => {
    const { wait } = limited(120)
    expect(passed(wait, 'a', 500)).toBe(120)
    expect(wait('a')).toBe(1)
  })

  test('lets others pass meanwhile', () => {
    const { wait } = limited(120)
    passed(wait, 'a', 100_000)
    expect(wait('b')).toBeUndefined()
  })

  test('gives one back every half second, and says so', () => {
    const { clock, wait } = limited(120)
    passed(wait, 'a', 120)
    clock.ms += 499
    expect(wait('a')).toBe(1)
    clock.ms += 1
    expect(wait('a')).toBeUndefined()
    expect(wait('a')).toBe(1)
  })

  test('lets pass after the wait it names', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(fc.nat(5_000), { maxLength: 30 }), (perMinute, pauses) => {
      const { clock, wait } = limited(perMinute)
      passed(wait, 'a', perMinute)
      for (const pause of pauses) {
        clock.ms += pause
        const seconds = wait('a')
        if (seconds === undefined) continue
        expect(seconds).toBeGreaterThanOrEqual(1)
        clock.ms += seconds * 1000
        expect(wait('a')).toBeUndefined()
      }
    }))
  })

  test('never lets more pass than its minutes are worth', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.nat(3_000), { minLength: 1, maxLength: 200 }), (perMinute, pauses) => {
      const { clock, wait } = limited(perMinute)
      const start = clock.ms
      const count = pauses.filter((pause) => {
        clock.ms += pause
        return wait('a') === undefined
      }).length
      expect(count).toBeLessThanOrEqual(perMinute + ((clock.ms - start) * perMinute) / 60_000)
    }))
  })

  test('locks nobody out when the clock is set back or far forward', () => {
    const { clock, wait } = limited(60)
    passed(wait, 'a', 60)
    clock.ms -= 365 * 86_400_000
    expect(wait('a')).toBe(1)
    clock.ms += 1_000
    expect(wait('a')).toBeUndefined()
    clock.ms += 365 * 86_400_000
    expect(passed(wait, 'a', 100)).toBe(60)
  })

  test('of 0 lets everything pass', () => {
    expect(passed(limited(0).wait, 'a', 10_000)).toBe(10_000)
  })

  test('remembers a bounded number of clients: those that came last', () => {
    const { wait } = limited(1, 3)
    for (const client of ['a', 'b', 'c', 'a', 'd']) wait(client)
    expect(['c', 'a', 'd'].map(wait)).toEqual([60, 60, 60])
    expect(wait('b')).toBeUndefined()
  })
})
