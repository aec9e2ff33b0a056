import { describe, expect, test } from 'bun:test'
import { eventLoopTurns, sliceBytes } from './turns.ts'

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Asks for a slice as often as it is given one. */
function greedy(turns: ReturnType<typeof eventLoopTurns>, done: () => void): void {
  const granted = (): void => {
    done()
    greedy(turns, done)
  }
  while (turns.take(sliceBytes, granted)) done()
}

describe('turns of the event loop', () => {
  test('are had at once by those who need little, turn after turn', async () => {
    const turns = eventLoopTurns()
    for (let turn = 0; turn < 50; turn++) {
      for (let index = 0; index < 20; index++)
        expect(
          turns.take(200, () => {
            throw new Error('nobody waits')
          }),
        ).toBe(true)
      await nextTurn()
    }
  })

  test('are shared evenly by those who never have enough, a few slices in each', async () => {
    const turns = eventLoopTurns()
    const slices = Array.from({ length: 10 }, () => 0)
    for (const index of slices.keys())
      greedy(turns, () => {
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

  test('go to thousands in the order in which they asked', async () => {
    const turns = eventLoopTurns()
    const order: number[] = []
    for (let index = 0; index < 5_000; index++)
      if (turns.take(sliceBytes, () => void order.push(index))) order.push(index)
    while (order.length < 5_000) await nextTurn()
    expect(order).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
  })
})
