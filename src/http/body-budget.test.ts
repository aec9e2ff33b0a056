import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyBudget } from './body-budget.ts'
import { uploadsUnderWay } from './uploads.ts'

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
    expect(() => second.take(41)).toThrow(
      expect.objectContaining({
        status: 503,
        code: 'overloaded',
        headers: expect.objectContaining({ 'retry-after': '1' }),
      }),
    )
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

  test('has again what is given back', () => {
    const budget = bodyBudget(() => 100)
    const share = budget.share()
    share.take(80)
    share.giveBack(30)
    expect(budget.held).toBe(50)
    share.release()
    share.giveBack(10)
    expect(budget.held).toBe(0)
  })

  /** A budget of 100 bytes, of which senders that stall hold so many each. */
  function hoarded(count: number, bytes: number) {
    const state = { time: 0, ended: 0 }
    const budget = bodyBudget(
      () => 100,
      uploadsUnderWay(() => state.time),
    )
    for (let number = 0; number < count; number += 1) {
      const share = budget.share()
      share.take(bytes)
      share.begin({
        arrived: () => bytes,
        end() {
          state.ended += 1
          share.release()
        },
      })
    }
    state.time = 2_000
    return { budget, state }
  }

  test('ends bodies that come slowly for one that needs their room, and no more of them than it needs', () => {
    const { budget, state } = hoarded(10, 10)
    budget.share().take(25)
    expect([state.ended, budget.held]).toEqual([3, 95])
    budget.share().take(5)
    expect(state.ended).toBe(3)
  })

  test('ends nobody for one that is refused all the same', () => {
    const { budget, state } = hoarded(5, 10)
    budget.share().take(50)
    expect(() => budget.share().take(51)).toThrow(expect.objectContaining({ status: 503 }))
    expect([state.ended, budget.held]).toEqual([0, 100])
    budget.share().take(50)
    expect([state.ended, budget.held]).toEqual([5, 100])
  })

  test('ends all others for a body larger than the budget', () => {
    const { budget, state } = hoarded(10, 10)
    budget.share().take(1_000)
    expect([state.ended, budget.held]).toEqual([10, 1_000])
  })

  test('ends nobody who has sent all, nor anybody while there is room', () => {
    const { budget, state } = hoarded(5, 10)
    const whole = budget.share()
    whole.take(50)
    whole.begin({
      arrived: () => 50,
      end() {
        throw new Error('ended')
      },
    })()
    expect(state.ended).toBe(0)
    expect(() => budget.share().take(60)).toThrow()
    expect([state.ended, budget.held]).toEqual([0, 100])
    budget.share().take(50)
    expect([state.ended, budget.held]).toEqual([5, 100])
  })

  test('ends nobody for its own sake: it is refused, or others that come slowly give way', () => {
    const { budget, state } = hoarded(1, 20)
    budget.share().take(40)
    state.time = 0
    const share = budget.share()
    share.take(40)
    share.begin({
      arrived: () => 40,
      end() {
        throw new Error('ended')
      },
    })
    state.time = 10_000
    expect(() => share.take(21)).toThrow(expect.objectContaining({ status: 503 }))
    expect([state.ended, budget.held]).toEqual([0, 100])
    share.take(20)
    expect([state.ended, budget.held]).toEqual([1, 100])
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
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(60), fc.boolean()), { maxLength: 60 }), (steps) => {
        const budget = bodyBudget(() => 100)
        const shares = Array.from({ length: 6 }, () => budget.share()),
          held = shares.map(() => 0)
        for (const [at, bytes, ends] of steps) {
          const [share, own = 0] = [shares[at], held[at]],
            others = budget.held - own
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
      }),
    )
  })
})
