import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LearnedSurpluses } from './surpluses.ts'

const served = { provider: 'a', model: 'm' }

function noted(...bills: readonly (readonly [billed: number, expected: number])[]) {
  const surpluses = new LearnedSurpluses()
  for (const [billed, expected] of bills) surpluses.of(served, 'text').note({ billed, expected })
  return surpluses
}

describe('the surplus of a model', () => {
  test('is not known before an answer, nor for other content, models and providers', () => {
    const surpluses = noted([100, 100])
    expect(surpluses.of(served, 'text')).toMatchObject({ nanoUsd: 0, isKnown: true, isSteady: true })
    expect(surpluses.of(served, 'media').isKnown).toBe(false)
    expect(surpluses.of({ ...served, model: 'n' }, 'text').isKnown).toBe(false)
    expect(surpluses.of({ ...served, provider: 'b' }, 'text').isKnown).toBe(false)
  })

  test('is the largest of late, at least 0', () => {
    expect(noted([90, 100], [130, 100], [110, 100]).of(served, 'text').nanoUsd).toBe(30)
    expect(noted([90, 100]).of(served, 'text').nanoUsd).toBe(0)
  })

  test('is forgotten after 64 to 128 further answers', () => {
    const usual = [100, 100] as const
    const after = (count: number) => noted([900, 100], ...Array.from({ length: count }, () => usual))
    expect(after(100).of(served, 'text').nanoUsd).toBe(800)
    expect(after(128).of(served, 'text').nanoUsd).toBe(0)
  })

  test('is not steady after an unexpected bill, until sixteen answers had none', () => {
    const bill = [500, 100] as const
    const after = (count: number) => noted(bill, ...Array.from({ length: count }, () => bill)).of(served, 'text')
    expect(after(0).isSteady).toBe(false)
    expect(after(15).isSteady).toBe(false)
    expect(after(16).isSteady).toBe(true)
    expect(noted([100, 100], [126, 100]).of(served, 'text').isSteady).toBe(false)
    expect(noted([100, 100], [124, 100]).of(served, 'text').isSteady).toBe(true)
  })

  test('covers each of the last 64 bills, of any amounts', () => {
    const bill = fc.tuple(fc.nat(1e9), fc.nat(1e6))
    fc.assert(
      fc.property(fc.array(bill, { minLength: 1, maxLength: 300 }), (bills) => {
        const surplus = noted(...bills).of(served, 'text').nanoUsd
        for (const [billed, expected] of bills.slice(-64)) expect(expected + surplus).toBeGreaterThanOrEqual(billed)
      }),
    )
  })

  test('begins anew after 3,000 of them', () => {
    const surpluses = noted([1, 1])
    for (let model = 0; model < 3_000; model += 1)
      surpluses.of({ provider: 'b', model: String(model) }, 'text').note({ billed: 1, expected: 1 })
    expect(surpluses.of({ provider: 'b', model: '2999' }, 'text').isKnown).toBe(true)
    expect(surpluses.of(served, 'text').isKnown).toBe(false)
  })
})
