import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyBudget } from './body-budget.ts'

describe('a budget of bodies', () => {
  test('is held until it is given back, once', () => {
    const budget = bodyBudget(() => 100)
    const share = budget.share()
    share.take(30)
    share.take(40)
    expect(budget.held).toBe(70)
    share.release()
    share.release()
    expect(budget.held).toBe(0)
  })

  test('refuses with 503 and Retry-After what is beyond it, and holds what it held', () => {
    const budget = bodyBudget(() => 100)
    budget.share().take(60)
    const second = budget.share()
    expect(() => second.take(41)).toThrow(expect.objectContaining({ status: 503, code: 'overloaded', headers: expect.objectContaining({ 'retry-after': '1' }) }))
    expect(budget.held).toBe(60)
    second.take(40)
    expect(budget.held).toBe(100)
  })

  test('takes a body that is alone, however large, at once or as it grows', () => {
    const budget = bodyBudget(() => 100)
    const share = budget.share()
    share.take(90)
    share.take(90)
    expect(budget.held).toBe(180)
    expect(() => budget.share().take(1)).toThrow()
  })

  test('takes nothing for a request that is over', () => {
    const budget = bodyBudget(() => 100)
    const share = budget.share()
    share.release()
    share.take(50)
    expect(budget.held).toBe(0)
  })

  test('follows a change of the limit', () => {
    let most = 10
    const budget = bodyBudget(() => most)
    budget.share().take(10)
    expect(() => budget.share().take(10)).toThrow()
    most = 20
    budget.share().take(10)
    expect(budget.held).toBe(20)
  })

  test('is never exceeded by more than one body, and is empty when all are over', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(60), fc.boolean()), { maxLength: 60 }), (steps) => {
      const budget = bodyBudget(() => 100)
      const shares = Array.from({ length: 6 }, () => budget.share())
      for (const [at, bytes, ends] of steps) {
        const alone = budget.held
        try {
          shares[at]?.take(bytes)
          if (budget.held > 100) expect(alone === 0 || bytes <= 60).toBe(true)
        } catch {
          expect(budget.held).toBe(alone)
        }
        if (ends) {
          shares[at]?.release()
          shares[at] = budget.share()
        }
      }
      for (const share of shares) share.release()
      expect(budget.held).toBe(0)
    }))
  })
})
