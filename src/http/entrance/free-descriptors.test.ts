import { describe, expect, test } from 'bun:test'
import { freeDescriptors, requestsWithin, reservedDescriptors, type DescriptorUse } from './free-descriptors.ts'

/** A process whose descriptors and clock the test sets. A count takes `countMs`. */
function subject(use: DescriptorUse | undefined, countMs = 0) {
  const state = { use, time: 0, counts: 0 }
  const connections = { active: 0, idle: 0 }
  let drops = 0
  const openRequests = { count: 0 }
  const { hasDescriptors, lacksDescriptors } = freeDescriptors({
    count() {
      state.counts += 1
      state.time += countMs
      return state.use
    },
    upstreams: {
      connections,
      dropIdle() {
        drops += 1
      },
    },
    openRequests,
    now: () => state.time,
  })
  return { state, connections, openRequests, hasDescriptors, lacksDescriptors, drops: () => drops }
}

/** Number of calls that return true, out of `calls`. */
function admitted(hasDescriptors: () => boolean, calls: number): number {
  return Array.from({ length: calls }, hasDescriptors).filter(Boolean).length
}

describe('freeDescriptors', () => {
  test('is counted once for many requests at a time: two descriptors each, beside the reserve', () => {
    const { hasDescriptors, state } = subject({ max: 1_000, open: 900 })
    expect(reservedDescriptors(1_000)).toBe(62)
    // The admitted requests have not opened connections yet at the next count, so the test sets them.
    state.use = { max: 1_000, open: 900 }
    expect(hasDescriptors()).toBe(true)
    expect(state.counts).toBe(1)
    expect(admitted(hasDescriptors, 18)).toBe(18)
    expect(state.counts).toBe(1)
    state.use = { max: 1_000, open: 938 }
    expect(hasDescriptors()).toBe(false)
  })

  test('leaves descriptors for the connections that open requests need', () => {
    const { hasDescriptors, openRequests } = subject({ max: 1_000, open: 900 })
    openRequests.count = 38
    expect(hasDescriptors()).toBe(false)
    openRequests.count = 37
    expect(hasDescriptors()).toBe(true)
  })

  test('closes idle connections to upstreams when descriptors run out, not before', () => {
    const { hasDescriptors, connections, drops, state } = subject({ max: 1_000, open: 960 })
    expect([hasDescriptors(), drops()]).toEqual([false, 0])
    connections.idle = 30
    expect([hasDescriptors(), drops()]).toEqual([true, 1])
    state.use = { max: 1_000, open: 100 }
    state.time += 1_000
    expect([hasDescriptors(), drops()]).toEqual([true, 1])
  })

  test('counts at most five times a second while descriptors remain', () => {
    const { hasDescriptors, state } = subject({ max: 20_000, open: 100 })
    for (; state.time < 1_000; state.time += 0.1) hasDescriptors()
    expect(state.counts).toBeLessThanOrEqual(6)
  })

  test('is back as soon as descriptors are free', () => {
    const { hasDescriptors, state } = subject({ max: 1_000, open: 1_000 })
    expect(hasDescriptors()).toBe(false)
    state.use = { max: 1_000, open: 100 }
    expect(hasDescriptors()).toBe(true)
  })

  test('spends at most a twentieth of the time on slow counts', () => {
    const { hasDescriptors, state } = subject({ max: 1_000, open: 1_000 }, 5)
    for (; state.time < 10_000; state.time += 1) hasDescriptors()
    expect(state.counts * 5).toBeLessThan(10_000 / 20 + 10)
  })

  test('lacks descriptors only if the last count found too few', () => {
    const { hasDescriptors, lacksDescriptors, state } = subject({ max: 1_000, open: 934 }, 5)
    expect([admitted(hasDescriptors, 5), state.counts, lacksDescriptors()]).toEqual([2, 1, false])
    state.use = { max: 1_000, open: 938 }
    state.time += 5 * 20
    expect([hasDescriptors(), state.counts, lacksDescriptors()]).toEqual([false, 2, true])
    state.use = undefined
    state.time += 5 * 20
    expect([hasDescriptors(), state.counts, lacksDescriptors()]).toEqual([true, 3, false])
  })

  test('is unlimited on systems without a count', () => {
    const { hasDescriptors } = subject(undefined)
    expect(admitted(hasDescriptors, 10_000)).toBe(10_000)
  })
})

test.each([
  [64, 28],
  [1_024, 480],
  [20_000, 9_968],
  [4, 1],
])('with %p descriptors, %p requests may be open', (max, requests) => {
  expect(requestsWithin(max)).toBe(requests)
})
