import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newCounter, type CounterKind, type CounterSpec } from './counter.ts'

function spec(kind: CounterKind, most: number, perMs = 60_000): CounterSpec {
  return { key: `${kind} ${most}`, kind, most, perMs: kind === 'at_once' ? 0 : perMs, text: '', subject: 'everyone' }
}

describe('a rate', () => {
  test('gives its whole amount at once, then evenly', () => {
    const counter = newCounter(spec('requests', 60))
    for (let left = 60; left > 0; left -= 1) {
      expect([counter.remaining(5), counter.waitMs(1, 5)]).toEqual([left, 0])
      counter.take(1, 5)
    }
    expect([counter.remaining(5), counter.waitMs(1, 5), counter.resetMs(5)]).toEqual([0, 1_000, 60_000])
    expect([counter.waitMs(1, 1_004), counter.waitMs(1, 1_005), counter.remaining(1_005)]).toEqual([1, 0, 1])
    expect([counter.resetMs(60_005), counter.remaining(1e9)]).toEqual([0, 60])
  })

  test('of 0 gives nothing, ever', () => {
    const counter = newCounter(spec('tokens', 0))
    expect([counter.waitMs(0, 0), counter.waitMs(1, 1e12), counter.remaining(0)]).toEqual([Infinity, Infinity, 0])
  })

  test('may owe: a debt delays the next request, and cancels nothing', () => {
    const counter = newCounter(spec('tokens', 6_000))
    expect(counter.waitMs(9_000, 0)).toBe(0)
    counter.take(9_000, 0)
    expect([counter.remaining(0), counter.waitMs(0, 0), counter.waitMs(1, 30_000)]).toEqual([0, 30_000, 10])
    counter.giveBack(9_000)
    expect([counter.remaining(0), counter.waitMs(6_000, 0)]).toEqual([6_000, 0])
  })

  test('never gives more than its amount and what came back since, at any times', () => {
    const step = fc.record({ ms: fc.integer({ min: 0, max: 5_000 }), amount: fc.integer({ min: 1, max: 30 }) })
    fc.assert(
      fc.property(fc.integer({ min: 30, max: 1_000 }), fc.array(step, { maxLength: 300 }), (most, steps) => {
        const counter = newCounter(spec('requests', most))
        let now = 1e9
        const start = now
        let given = 0
        for (const { ms, amount } of steps) {
          now += ms
          const wait = counter.waitMs(amount, now)
          expect(wait === 0).toBe(counter.remaining(now) >= amount)
          if (wait > 0) {
            expect(counter.waitMs(amount, now + wait + 0.001)).toBe(0)
            continue
          }
          counter.take(amount, now)
          given += amount
          expect(given).toBeLessThanOrEqual(most + ((now - start) * most) / 60_000 + 0.001)
        }
      }),
      { numRuns: 300 },
    )
  })
})

test('slots are taken and given back', () => {
  const counter = newCounter(spec('at_once', 2))
  counter.take(1, 0)
  counter.take(1, 0)
  expect([counter.waitMs(1, 0), counter.remaining(0)]).toEqual([1_000, 0])
  counter.giveBack(1)
  expect([counter.waitMs(1, 0), counter.remaining(0)]).toEqual([0, 1])
  expect(newCounter(spec('at_once', 0)).waitMs(1, 0)).toBe(Infinity)
})
