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

  test('is exceeded only by a body that is alone, and is empty when all are over', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(60), fc.boolean()), { maxLength: 60 }), (steps) => {
      const budget = bodyBudget(() => 100)
      const shares = Array.from({ length: 6 }, () => budget.share()), held = shares.map(() => 0)
      for (const [at, bytes, ends] of steps) {
        const [share, own = 0] = [shares[at], held[at]], others = budget.held - own
        const mayTake = others === 0 || budget.held + bytes <= 100
        if (mayTake) {
          share?.take(bytes)
          held[at] = own + bytes
        } else expect(() => share?.take(bytes)).toThrow()
        expect(budget.held).toBe(held.reduce((sum, each) => sum + each, 0))
        if (ends) {
          share?.release()
          shares[at] = budget.share()
          held[at] = 0
        }
      }
      for (const share of shares) share.release()
      expect(budget.held).toBe(0)
    }))
  })
})
