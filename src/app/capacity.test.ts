import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { totalmem } from 'node:os'
import { requestsWithin } from '../http/entrance/free-descriptors.ts'
import { capacityOf, defaultBodyBudget, descriptorsMax, descriptorUse } from './capacity.ts'

const mebibyte = 1024 * 1024

function capacity(limits: { readonly maxConcurrent?: number; readonly bodyBudgetBytes?: number }, workers = 1) {
  return capacityOf({
    limits: { bodyBytes: 1, deadlineMs: 1, ...limits },
    upstreams: { connections: { active: 0, idle: 0 }, dropIdle: () => undefined },
    openRequests: { count: 0 },
    workers,
  })
}

describe.skipIf(process.platform !== 'linux')('the descriptors of this process', () => {
  test('are counted', () => {
    const descriptors = descriptorsMax() ?? 0
    expect(descriptors).toBeGreaterThan(8)
    // The folder itself is open while it is read.
    expect(Math.abs((descriptorUse(descriptors)?.open ?? 0) - readdirSync('/proc/self/fd').length)).toBeLessThanOrEqual(
      1,
    )
  })

  test('limit requests where nothing is configured', () => {
    expect(capacity({}).requestsMax()).toBe(requestsWithin(descriptorsMax() ?? 0))
    expect(capacity({ maxConcurrent: 3 }).requestsMax()).toBe(3)
    expect(capacity({}).hasDescriptors()).toBe(true)
  })
})

test('the use of descriptors is unknown without their limit', () => {
  expect(descriptorUse(undefined)).toBeUndefined()
})

describe('the budget of bodies', () => {
  test.each([
    [100 * mebibyte, 25 * mebibyte],
    [4096 * mebibyte, 512 * mebibyte],
  ])('of a machine with %p bytes of memory is %p', (memory, budget) => {
    expect(defaultBodyBudget(memory)).toBe(budget)
  })

  test('is divided among the workers where it is not configured', () => {
    const { bodyBudget } = capacity({}, 2)
    bodyBudget.reservation().reserve(1)
    expect(() => bodyBudget.reservation().reserve(defaultBodyBudget(totalmem()) / 2)).toThrow()
    expect(() => bodyBudget.reservation().reserve(1)).not.toThrow()
  })

  test('is also the size of the budget of large answers', () => {
    const { answerBudget, bodyBudget } = capacity({ bodyBudgetBytes: 10 })
    bodyBudget.reservation().reserve(10)
    expect(answerBudget.reservation().reserve(mebibyte + 6)).toBe(true)
    expect([
      answerBudget.reservation().reserve(mebibyte + 5),
      answerBudget.reservation().reserve(mebibyte + 4),
    ]).toEqual([false, true])
    const halved = capacity({}, 2).answerBudget
    halved.reservation().reserve(mebibyte + 1)
    expect(halved.reservation().reserve(mebibyte + defaultBodyBudget(totalmem()) / 2)).toBe(false)
  })

  test('is as configured, now and after a change', () => {
    const { bodyBudget, replaceLimits } = capacity({ bodyBudgetBytes: 10 })
    bodyBudget.reservation().reserve(6)
    expect(() => bodyBudget.reservation().reserve(5)).toThrow()
    replaceLimits({ bodyBytes: 1, deadlineMs: 1, bodyBudgetBytes: 11 })
    expect(() => bodyBudget.reservation().reserve(5)).not.toThrow()
  })
})
