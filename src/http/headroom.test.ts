import { describe, expect, test } from 'bun:test'
import { headroom, requestsWithin, reservedDescriptors, type DescriptorUse } from './headroom.ts'

/** A process whose descriptors a test sets, with a clock of its own. A look takes `lookMs`. */
function subject(use: DescriptorUse | undefined, lookMs = 0) {
  const state = { use, time: 0, looks: 0 }
  const connections = { active: 0, idle: 0 }
  let drops = 0
  const underWay = { count: 0 }
  const { hasRoom, lacksDescriptors } = headroom({
    look() {
      state.looks += 1
      state.time += lookMs
      return state.use
    },
    upstreams: {
      connections,
      dropIdle() {
        drops += 1
      },
    },
    underWay,
    now: () => state.time,
  })
  return { state, connections, underWay, hasRoom, lacksDescriptors, drops: () => drops }
}

/** How many of `most` questions in a row are answered with yes. */
function letIn(hasRoom: () => boolean, most: number): number {
  return Array.from({ length: most }, hasRoom).filter(Boolean).length
}

describe('headroom', () => {
  test('is for requests of two descriptors each, beside the reserve, when many come at once', () => {
    const { hasRoom, state } = subject({ most: 1_000, open: 900 })
    expect(reservedDescriptors(1_000)).toBe(62)
    // What was let in has not opened anything yet when it is looked at again: what is open must be told.
    state.use = { most: 1_000, open: 900 }
    expect(hasRoom()).toBe(true)
    expect(state.looks).toBe(1)
    expect(letIn(hasRoom, 18)).toBe(18)
    expect(state.looks).toBe(1)
    state.use = { most: 1_000, open: 938 }
    expect(hasRoom()).toBe(false)
  })

  test('does not count on descriptors that requests under way are about to open', () => {
    const { hasRoom, underWay } = subject({ most: 1_000, open: 900 })
    underWay.count = 38
    expect(hasRoom()).toBe(false)
    underWay.count = 37
    expect(hasRoom()).toBe(true)
  })

  test('is made of idle connections to upstreams, when it runs short and not before', () => {
    const { hasRoom, connections, drops, state } = subject({ most: 1_000, open: 960 })
    expect([hasRoom(), drops()]).toEqual([false, 0])
    connections.idle = 30
    expect([hasRoom(), drops()]).toEqual([true, 1])
    state.use = { most: 1_000, open: 100 }
    state.time += 1_000
    expect([hasRoom(), drops()]).toEqual([true, 1])
  })

  test('looks at most five times a second while there is room', () => {
    const { hasRoom, state } = subject({ most: 20_000, open: 100 })
    for (; state.time < 1_000; state.time += 0.1) hasRoom()
    expect(state.looks).toBeLessThanOrEqual(6)
  })

  test('is back as soon as descriptors are', () => {
    const { hasRoom, state } = subject({ most: 1_000, open: 1_000 })
    expect(hasRoom()).toBe(false)
    state.use = { most: 1_000, open: 100 }
    expect(hasRoom()).toBe(true)
  })

  test('spends at most a twentieth of its time on looking where that is slow', () => {
    const { hasRoom, state } = subject({ most: 1_000, open: 1_000 }, 5)
    for (; state.time < 10_000; state.time += 1) hasRoom()
    expect(state.looks * 5).toBeLessThan(10_000 / 20 + 10)
  })

  test('lacks descriptors only where the last look found too few, not while there is no time to look', () => {
    const { hasRoom, lacksDescriptors, state } = subject({ most: 1_000, open: 934 }, 5)
    expect([letIn(hasRoom, 5), state.looks, lacksDescriptors()]).toEqual([2, 1, false])
    state.use = { most: 1_000, open: 938 }
    state.time += 5 * 20
    expect([hasRoom(), state.looks, lacksDescriptors()]).toEqual([false, 2, true])
    state.use = undefined
    state.time += 5 * 20
    expect([hasRoom(), state.looks, lacksDescriptors()]).toEqual([true, 3, false])
  })

  test('is not known, and so not denied, where the system does not tell', () => {
    const { hasRoom } = subject(undefined)
    expect(letIn(hasRoom, 10_000)).toBe(10_000)
  })
})

test.each([
  [64, 28],
  [1_024, 480],
  [20_000, 9_968],
  [4, 1],
])('of %p descriptors, %p requests may be under way', (most, requests) => {
  expect(requestsWithin(most)).toBe(requests)
})
