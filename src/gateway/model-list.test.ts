import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import type { OfferedModel } from '../formats/model.ts'
import { learnedModels, type LearnedModels, type ModelListCache } from './model-list.ts'
import { offered } from './testing.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

type Answer = readonly string[] | Error

interface Subject {
  readonly list: LearnedModels
  readonly names: () => readonly string[] | undefined
  readonly fetches: () => number
  readonly failures: readonly unknown[]
  readonly written: readonly (readonly string[])[]
  readonly signals: readonly AbortSignal[]
}

/** A list that is asked for with these answers, one after the other, the last again and again. */
function subject(answers: readonly Answer[], cached?: readonly string[], cache: Partial<ModelListCache> = {}): Subject {
  const left = [...answers]
  let fetches = 0
  const failures: unknown[] = []
  const written: (readonly string[])[] = []
  const signals: AbortSignal[] = []
  const list = learnedModels({
    async fetchModels(signal) {
      fetches += 1
      signals.push(signal)
      const answer = left.length > 1 ? left.shift() : left[0]
      if (answer instanceof Error) throw answer
      return (answer ?? []).map((name) => offered(name))
    },
    cache: {
      read: async () => cached?.map((name) => offered(name)),
      write: async (models: readonly OfferedModel[]) => {
        written.push(models.map(({ name }) => name))
      },
      ...cache,
    },
    onFailure: (error) => failures.push(error),
  })
  return {
    list,
    names: () => list.current()?.map(({ name }) => name),
    fetches: () => fetches,
    failures,
    written,
    signals,
  }
}

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms)
  await settle()
}

describe('a fetched list of models', () => {
  test('is unknown until the first fetch', async () => {
    const { list, names } = subject([['a', 'b']])
    expect(names()).toBeUndefined()
    expect(list.pending).toBeInstanceOf(Promise)
    const before = list.version
    await list.pending
    expect(names()).toEqual(['a', 'b'])
    expect(list.pending).toBeUndefined()
    expect(list.version).not.toBe(before)
  })

  test('starts with the cached list, and is fetched nevertheless', async () => {
    const { list, names, fetches } = subject([['new']], ['old'])
    await list.pending
    await settle()
    expect(fetches()).toBe(1)
    expect(names()).toEqual(['new'])
  })

  test('with a cached list does not wait for the fetch', async () => {
    let answer = (_models: readonly OfferedModel[]): void => undefined
    const list = learnedModels({
      fetchModels: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
      cache: { read: async () => [offered('old')], write: async () => undefined },
      onFailure: () => undefined,
    })
    await list.pending
    expect(list.pending).toBeUndefined()
    expect(list.current()).toEqual([offered('old')])
    const before = list.version
    answer([offered('new')])
    await settle()
    expect(list.current()).toEqual([offered('new')])
    expect(list.version).not.toBe(before)
  })

  test('is written to the cache', async () => {
    const { list, written } = subject([['a']])
    await list.pending
    expect(written).toEqual([['a']])
  })

  test('is fetched every 10 minutes', async () => {
    const { list, names, fetches } = subject([['a'], ['b']])
    await list.pending
    await pass(10 * 60_000 - 1)
    expect(fetches()).toBe(1)
    await pass(1)
    expect(fetches()).toBe(2)
    expect(names()).toEqual(['b'])
  })

  test('is fetched again 2 s after a failure, doubling to 5 minutes', async () => {
    const { list, fetches, failures } = subject([new Error('down')])
    await list.pending
    const waits = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]
    for (const [position, ms] of waits.entries()) {
      await pass(ms - 1)
      expect(fetches()).toBe(position + 1)
      await pass(1)
      expect(fetches()).toBe(position + 2)
    }
    expect(failures).toHaveLength(waits.length + 1)
  })

  test('has the reason of the last failure until a success', async () => {
    const { list } = subject([new Error('GET /models answered 401'), ['a']])
    await list.pending
    expect(list.failure?.message).toBe('GET /models answered 401')
    await pass(2_000)
    expect(list.failure).toBeUndefined()
  })

  test('retries after 2 s again after a success', async () => {
    const { list, fetches } = subject([new Error('down'), new Error('down'), ['a'], new Error('down')])
    await list.pending
    await pass(2_000)
    await pass(4_000)
    await pass(10 * 60_000)
    expect(fetches()).toBe(4)
    await pass(2_000)
    expect(fetches()).toBe(5)
  })

  test('is no longer pending after a failed first fetch, and stays unknown', async () => {
    const { list, names, failures } = subject([new Error('down')])
    await list.pending
    expect(list.pending).toBeUndefined()
    expect(names()).toBeUndefined()
    expect(failures).toHaveLength(1)
  })

  test('keeps the last list when a fetch fails', async () => {
    const { list, names } = subject([['a'], new Error('down')])
    await list.pending
    const before = list.version
    await pass(10 * 60_000)
    expect(names()).toEqual(['a'])
    expect(list.version).toBe(before)
  })

  test('may be empty, which is not unknown', async () => {
    const { list, names } = subject([[]])
    await list.pending
    expect(names()).toEqual([])
  })
})

describe('a list that is closed', () => {
  test('is not fetched again', async () => {
    const { list, fetches } = subject([['a']])
    await list.pending
    list.close()
    await pass(3_600_000)
    expect(fetches()).toBe(1)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('aborts its fetch without a failure', async () => {
    const failures: unknown[] = []
    let signal: AbortSignal | undefined
    const list = learnedModels({
      fetchModels: (given) =>
        new Promise((_resolve, reject) => {
          signal = given
          given.addEventListener('abort', () => reject(new Error('aborted')))
        }),
      cache: { read: async () => undefined, write: async () => undefined },
      onFailure: (error) => failures.push(error),
    })
    await settle()
    list.close()
    await settle()
    expect(signal?.aborted).toBe(true)
    expect(failures).toEqual([])
    expect(jest.getTimerCount()).toBe(0)
  })

  test('ignores a list that arrives late', async () => {
    let answer = (_models: readonly OfferedModel[]): void => undefined
    const list = learnedModels({
      fetchModels: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
      cache: { read: async () => undefined, write: async () => undefined },
      onFailure: () => undefined,
    })
    await settle()
    list.close()
    answer([offered('late')])
    await settle()
    expect(list.current()).toBeUndefined()
    expect(jest.getTimerCount()).toBe(0)
  })
})
