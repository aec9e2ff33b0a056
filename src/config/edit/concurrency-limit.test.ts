import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { concurrencyLimit } from './concurrency-limit.ts'

/** Tasks that the test ends, and those that have started. */
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

describe('a concurrency limit', () => {
  test('runs a number of tasks at once, the others in order of arrival', async () => {
    const { task, started, end } = tasks()
    const runLimited = concurrencyLimit({ concurrentMax: 2, waitingMax: 10 })
    const all = [0, 1, 2, 3].map((index) => runLimited(task(index)))
    await settled()
    expect(started).toEqual([0, 1])
    end(1)
    await settled()
    expect(started).toEqual([0, 1, 2])
    const late = runLimited(task(4))
    end(0)
    await settled()
    expect(started).toEqual([0, 1, 2, 3])
    for (const index of [2, 3, 4]) end(index)
    expect(await Promise.all([...all, late])).toEqual([0, 1, 2, 3, 4])
  })

  test('goes on after a task that failed', async () => {
    const { task, end, fail } = tasks()
    const runLimited = concurrencyLimit({ concurrentMax: 1, waitingMax: 1 })
    const failed = runLimited(task(0)).catch((error: unknown) => String(error))
    const second = runLimited(task(1))
    fail(0)
    expect(await failed).toBe('Error: task 0')
    end(1)
    expect(await second).toBe(1)
    const third = runLimited(task(2))
    end(2)
    expect(await third).toBe(2)
  })

  test('rejects tasks while too many wait', async () => {
    const { task, end } = tasks()
    const runLimited = concurrencyLimit({ concurrentMax: 1, waitingMax: 1 })
    const first = runLimited(task(0)),
      second = runLimited(task(1))
    const refused = await runLimited(task(2)).catch((error: unknown) => error)
    expect(refused instanceof WireError ? [refused.status, refused.code, refused.headers] : refused).toEqual([
      503,
      'overloaded',
      { 'retry-after': '1' },
    ])
    for (const index of [0, 1]) end(index)
    expect(await Promise.all([first, second])).toEqual([0, 1])
    const third = runLimited(task(3))
    end(3)
    expect(await third).toBe(3)
  })
})
