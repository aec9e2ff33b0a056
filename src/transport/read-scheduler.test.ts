import { describe, expect, test } from 'bun:test'
import { readScheduler, readBytesMax } from './read-scheduler.ts'

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Requests slices without end. */
function greedy(scheduler: ReturnType<typeof readScheduler>, done: () => void): void {
  const granted = (): void => {
    done()
    greedy(scheduler, done)
  }
  while (scheduler.take(readBytesMax, granted)) done()
}

describe('the read scheduler', () => {
  test('grants small requests at once, turn after turn', async () => {
    const scheduler = readScheduler()
    for (let turn = 0; turn < 50; turn++) {
      for (let index = 0; index < 20; index++)
        expect(
          scheduler.take(200, () => {
            throw new Error('never granted later')
          }),
        ).toBe(true)
      await nextTurn()
    }
  })

  test('shares turns evenly between endless readers, a few slices in each', async () => {
    const scheduler = readScheduler()
    const slices = Array.from({ length: 10 }, () => 0)
    for (const index of slices.keys())
      greedy(scheduler, () => {
        slices[index] = (slices[index] ?? 0) + 1
      })
    let before = slices.reduce((sum, count) => sum + count)
    for (let turn = 0; turn < 100; turn++) {
      await nextTurn()
      const now = slices.reduce((sum, count) => sum + count)
      expect(now - before).toBeWithin(1, 6)
      before = now
    }
    expect(Math.max(...slices) - Math.min(...slices)).toBeLessThanOrEqual(5)
  })

  test('grants thousands of requests in their order', async () => {
    const scheduler = readScheduler()
    const order: number[] = []
    for (let index = 0; index < 5_000; index++)
      if (scheduler.take(readBytesMax, () => void order.push(index))) order.push(index)
    while (order.length < 5_000) await nextTurn()
    expect(order).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
  })
})
