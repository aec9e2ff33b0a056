import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyBudget } from './body-budget.ts'
import { uploadsUnderWay } from './slow-uploads.ts'

describe('the body budget', () => {
  test('is reserved until it is released, once', () => {
    const budget = bodyBudget(() => 100)
    const reservation = budget.reservation()
    reservation.reserve(30)
    reservation.reserve(40)
    expect(budget.reserved).toBe(70)
    reservation.release()
    reservation.release()
    expect(budget.reserved).toBe(0)
  })

  test('refuses a reservation beyond it with 503 and Retry-After, and keeps the others', () => {
    const budget = bodyBudget(() => 100)
    budget.reservation().reserve(60)
    const second = budget.reservation()
    expect(() => second.reserve(41)).toThrow(
      expect.objectContaining({
        status: 503,
        code: 'overloaded',
        headers: expect.objectContaining({ 'retry-after': '1' }),
      }),
    )
    expect(budget.reserved).toBe(60)
    second.reserve(40)
    expect(budget.reserved).toBe(100)
  })

  test('admits a body of any size while it is the only one, at once or as it grows', () => {
    const budget = bodyBudget(() => 100)
    const reservation = budget.reservation()
    reservation.reserve(90)
    reservation.reserve(90)
    expect(budget.reserved).toBe(180)
    expect(() => budget.reservation().reserve(1)).toThrow()
  })

  test('reserves nothing after the release', () => {
    const budget = bodyBudget(() => 100)
    const reservation = budget.reservation()
    reservation.release()
    reservation.reserve(50)
    expect(budget.reserved).toBe(0)
  })

  test('gets reduced bytes back', () => {
    const budget = bodyBudget(() => 100)
    const reservation = budget.reservation()
    reservation.reserve(80)
    reservation.reduce(30)
    expect(budget.reserved).toBe(50)
    reservation.release()
    reservation.reduce(10)
    expect(budget.reserved).toBe(0)
  })

  /** A budget of 100 bytes with stalled uploads of the given sizes. */
  function hoarded(count: number, bytes: number) {
    const state = { time: 0, ended: 0 }
    const budget = bodyBudget(
      () => 100,
      uploadsUnderWay(() => state.time),
    )
    for (let number = 0; number < count; number += 1) {
      const reservation = budget.reservation()
      reservation.reserve(bytes)
      reservation.begin({
        arrived: () => bytes,
        end() {
          state.ended += 1
          reservation.release()
        },
      })
    }
    state.time = 2_000
    return { budget, state }
  }

  test('ends slow uploads for one that needs their bytes, and no more than necessary', () => {
    const { budget, state } = hoarded(10, 10)
    budget.reservation().reserve(25)
    expect([state.ended, budget.reserved]).toEqual([3, 95])
    budget.reservation().reserve(5)
    expect(state.ended).toBe(3)
  })

  test('ends no upload for one that is refused all the same', () => {
    const { budget, state } = hoarded(5, 10)
    budget.reservation().reserve(50)
    expect(() => budget.reservation().reserve(51)).toThrow(expect.objectContaining({ status: 503 }))
    expect([state.ended, budget.reserved]).toEqual([0, 100])
    budget.reservation().reserve(50)
    expect([state.ended, budget.reserved]).toEqual([5, 100])
  })

  test('ends all others for a body larger than the budget', () => {
    const { budget, state } = hoarded(10, 10)
    budget.reservation().reserve(1_000)
    expect([state.ended, budget.reserved]).toEqual([10, 1_000])
  })

  test('ends no complete upload, and none while bytes remain', () => {
    const { budget, state } = hoarded(5, 10)
    const whole = budget.reservation()
    whole.reserve(50)
    whole
      .begin({
        arrived: () => 50,
        end() {
          throw new Error('ended')
        },
      })
      .over()
    expect(state.ended).toBe(0)
    expect(() => budget.reservation().reserve(60)).toThrow()
    expect([state.ended, budget.reserved]).toEqual([0, 100])
    budget.reservation().reserve(50)
    expect([state.ended, budget.reserved]).toEqual([5, 100])
  })

  test('never ends the upload that needs the bytes: it is refused, or slow others are ended', () => {
    const { budget, state } = hoarded(1, 20)
    budget.reservation().reserve(40)
    state.time = 0
    const reservation = budget.reservation()
    reservation.reserve(40)
    reservation.begin({
      arrived: () => 40,
      end() {
        throw new Error('ended')
      },
    })
    state.time = 10_000
    expect(() => reservation.reserve(21)).toThrow(expect.objectContaining({ status: 503 }))
    expect([state.ended, budget.reserved]).toEqual([0, 100])
    reservation.reserve(20)
    expect([state.ended, budget.reserved]).toEqual([1, 100])
  })

  test('follows a change of the limit', () => {
    let bytesMax = 10
    const budget = bodyBudget(() => bytesMax)
    budget.reservation().reserve(10)
    expect(() => budget.reservation().reserve(10)).toThrow()
    bytesMax = 20
    budget.reservation().reserve(10)
    expect(budget.reserved).toBe(20)
  })

  test('is exceeded only by a single body, and is empty when all are released', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(60), fc.boolean()), { maxLength: 60 }), (steps) => {
        const budget = bodyBudget(() => 100)
        const reservations = Array.from({ length: 6 }, () => budget.reservation()),
          held = reservations.map(() => 0)
        for (const [at, bytes, ends] of steps) {
          const [reservation, own = 0] = [reservations[at], held[at]],
            others = budget.reserved - own
          const mayTake = others === 0 || budget.reserved + bytes <= 100
          if (mayTake) {
            reservation?.reserve(bytes)
            held[at] = own + bytes
          } else expect(() => reservation?.reserve(bytes)).toThrow()
          expect(budget.reserved).toBe(held.reduce((sum, each) => sum + each, 0))
          if (ends) {
            reservation?.release()
            reservations[at] = budget.reservation()
            held[at] = 0
          }
        }
        for (const reservation of reservations) reservation.release()
        expect(budget.reserved).toBe(0)
      }),
    )
  })
})
