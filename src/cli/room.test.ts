import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { totalmem } from 'node:os'
import { requestsWithin } from '../http/headroom.ts'
import { descriptorsMost, descriptorUse } from './descriptors.ts'
import { defaultBodyBudget, roomFor } from './room.ts'

const mebibyte = 1024 * 1024

function room(limits: { readonly maxConcurrent?: number; readonly bodyBudgetBytes?: number }, workers = 1) {
  return roomFor({
    limits: () => ({ bodyBytes: 1, deadlineMs: 1, ...limits }),
    upstreams: { connections: { active: 0, idle: 0 }, dropIdle: () => undefined },
    underWay: { count: 0 },
    workers,
  })
}

describe.skipIf(process.platform !== 'linux')('the descriptors of this process', () => {
  test('are those that are listed', () => {
    const most = descriptorsMost() ?? 0
    expect(most).toBeGreaterThan(8)
    // The folder itself is open while it is read.
    expect(Math.abs((descriptorUse(most)?.open ?? 0) - readdirSync('/proc/self/fd').length)).toBeLessThanOrEqual(1)
  })

  test('say how many requests there may be where nobody else does', () => {
    expect(room({}).requestsMost()).toBe(requestsWithin(descriptorsMost() ?? 0))
    expect(room({ maxConcurrent: 3 }).requestsMost()).toBe(3)
    expect(room({}).hasRoom()).toBe(true)
  })
})

test('descriptors are not known where the system does not tell their limit', () => {
  expect(descriptorUse(undefined)).toBeUndefined()
})

describe('the budget of bodies', () => {
  test.each([
    [100 * mebibyte, 25 * mebibyte],
    [4096 * mebibyte, 512 * mebibyte],
  ])('of a machine with %p bytes of memory is %p', (memory, budget) => {
    expect(defaultBodyBudget(memory)).toBe(budget)
  })

  test('is shared by the workers where nobody has set it', () => {
    const { bodyBudget } = room({}, 2)
    bodyBudget.share().take(1)
    expect(() => bodyBudget.share().take(defaultBodyBudget(totalmem()) / 2)).toThrow()
    expect(() => bodyBudget.share().take(1)).not.toThrow()
  })

  test('is that of large answers too, apart from bodies', () => {
    const { answerRoom, bodyBudget } = room({ bodyBudgetBytes: 10 })
    bodyBudget.share().take(10)
    expect(answerRoom.share().hold(mebibyte + 6)).toBe(true)
    expect([answerRoom.share().hold(mebibyte + 5), answerRoom.share().hold(mebibyte + 4)]).toEqual([false, true])
    const halved = room({}, 2).answerRoom
    halved.share().hold(mebibyte + 1)
    expect(halved.share().hold(mebibyte + defaultBodyBudget(totalmem()) / 2)).toBe(false)
  })

  test('is what the owner says', () => {
    const { bodyBudget } = room({ bodyBudgetBytes: 10 })
    bodyBudget.share().take(6)
    expect(() => bodyBudget.share().take(5)).toThrow()
  })
})
