import { describe, expect, test } from 'bun:test'
import { WireError } from '../wire/error.ts'
import { turns } from './turns.ts'

/** A task that ends when it is told to, and how many such are under way. */
function tasks() {
  const started: number[] = []
  const ends: PromiseWithResolvers<number>[] = []
  return {
    started,
    task(index: number): () => Promise<number> {
      ends[index] = Promise.withResolvers<number>()
      return () => {
        started.push(index)
        return ends[index]?.promise ?? Promise.resolve(-1)
      }
    },
    end: (index: number) => ends[index]?.resolve(index),
    fail: (index: number) => ends[index]?.reject(new Error(`task ${index}`)),
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('turns', () => {
  test('are taken by so many at once, the others first come first served', async () => {
    const { task, started, end } = tasks()
    const inTurn = turns({ atOnce: 2, waitingMost: 10 })
    const all = [0, 1, 2, 3].map((index) => inTurn(task(index)))
    await settled()
    expect(started).toEqual([0, 1])
    end(1)
    await settled()
    expect(started).toEqual([0, 1, 2])
    const late = inTurn(task(4))
    end(0)
    await settled()
    expect(started).toEqual([0, 1, 2, 3])
    for (const index of [2, 3, 4]) end(index)
    expect(await Promise.all([...all, late])).toEqual([0, 1, 2, 3, 4])
  })

  test('go on after one that failed', async () => {
    const { task, end, fail } = tasks()
    const inTurn = turns({ atOnce: 1, waitingMost: 1 })
    const failed = inTurn(task(0)).catch((error: unknown) => String(error))
    const second = inTurn(task(1))
    fail(0)
    expect(await failed).toBe('Error: task 0')
    end(1)
    expect(await second).toBe(1)
    const third = inTurn(task(2))
    end(2)
    expect(await third).toBe(2)
  })

  test('are refused when too many wait, and not for good', async () => {
    const { task, end } = tasks()
    const inTurn = turns({ atOnce: 1, waitingMost: 1 })
    const first = inTurn(task(0)),
      second = inTurn(task(1))
    const refused = await inTurn(task(2)).catch((error: unknown) => error)
    expect(refused instanceof WireError ? [refused.status, refused.code, refused.headers] : refused).toEqual([
      503,
      'overloaded',
      { 'retry-after': '1' },
    ])
    for (const index of [0, 1]) end(index)
    expect(await Promise.all([first, second])).toEqual([0, 1])
    const third = inTurn(task(3))
    end(3)
    expect(await third).toBe(3)
  })
})
