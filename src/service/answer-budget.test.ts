import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { answerBudget, unlimitedAnswerBudget, type AnswerReservation } from './answer-budget.ts'

const mebibyte = 1024 * 1024

function reserved(reservation: AnswerReservation, bytes: number): AnswerReservation {
  expect(reservation.reserve(bytes)).toBe(true)
  return reservation
}

describe('the answer budget', () => {
  test('counts the bytes of each answer beyond its first MiB', () => {
    const budget = answerBudget(() => 2 * mebibyte)
    for (let count = 0; count < 100; count += 1) reserved(budget.reservation(), mebibyte)
    reserved(reserved(budget.reservation(), mebibyte), mebibyte)
    const last = reserved(budget.reservation(), 2 * mebibyte)
    expect(budget.reservation().reserve(mebibyte + 1)).toBe(false)
    expect(budget.reservation().reserve(mebibyte)).toBe(true)
    expect(last.reserve(1)).toBe(false)
    reserved(budget.reservation(), 2 * mebibyte)
  })

  test('gets the bytes of a released answer back, once', () => {
    const budget = answerBudget(() => 2 * mebibyte)
    const first = reserved(budget.reservation(), 3 * mebibyte)
    const second = budget.reservation()
    expect(second.reserve(2 * mebibyte)).toBe(false)
    first.release()
    first.release()
    reserved(second, 3 * mebibyte)
    expect(first.reserve(2 * mebibyte)).toBe(false)
  })

  test('admits an answer of any size while no other counts', () => {
    const budget = answerBudget(() => 1)
    const only = reserved(reserved(budget.reservation(), 20 * mebibyte), 20 * mebibyte)
    expect(budget.reservation().reserve(2 * mebibyte)).toBe(false)
    only.release()
    expect(budget.reservation().reserve(2 * mebibyte)).toBe(true)
  })

  test('follows a change of its size', () => {
    let bytesMax = 1
    const budget = answerBudget(() => bytesMax)
    reserved(budget.reservation(), 2 * mebibyte)
    const second = budget.reservation()
    expect(second.reserve(2 * mebibyte)).toBe(false)
    bytesMax = 2 * mebibyte
    expect(second.reserve(2 * mebibyte)).toBe(true)
  })

  test('that is unlimited refuses nothing', () => {
    for (let count = 0; count < 3; count += 1) reserved(unlimitedAnswerBudget.reservation(), Number.MAX_SAFE_INTEGER)
  })

  test('is never exceeded by more than one answer, and is empty when all are released', () => {
    const step = fc.record({ answer: fc.nat(3), bytes: fc.option(fc.nat(4 * mebibyte)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const bytesMax = 5 * mebibyte
        const budget = answerBudget(() => bytesMax)
        const answers = Array.from({ length: 4 }, () => ({ reservation: budget.reservation(), bytes: 0 }))
        for (const { answer, bytes } of steps) {
          const one = answers[answer]
          if (one === undefined) continue
          if (bytes === null) {
            one.reservation.release()
            one.bytes = 0
          } else one.bytes = one.reservation.reserve(bytes) ? one.bytes + bytes : 0
          const counted = answers.map((each) => Math.max(0, each.bytes - mebibyte)).filter((each) => each > 0)
          expect(counted.length <= 1 || counted.reduce((sum, each) => sum + each, 0) <= bytesMax).toBe(true)
        }
        for (const { reservation } of answers) reservation.release()
        reserved(budget.reservation(), bytesMax + mebibyte)
        expect(budget.reservation().reserve(mebibyte + 1)).toBe(false)
      }),
    )
  })
})
