import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { watchLiveness } from './spawn-worker.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    jest.advanceTimersByTime(1_000)
    await Promise.resolve()
    await Promise.resolve()
  }
}

test('a process that answers is not hung, however late', async () => {
  let hung = 0
  const waiting: (() => void)[] = []
  const stop = watchLiveness({
    everyMs: 5_000,
    ping: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
      }),
    onHung: () => {
      hung++
    },
  })
  for (let round = 0; round < 10; round++) {
    await pass(14)
    for (const answer of waiting.splice(0)) answer()
    await pass(1)
  }
  stop()
  expect(hung).toBe(0)
})

test('a process that does not answer for some 20 s is hung, reported once', async () => {
  let hung = 0
  const stop = watchLiveness({
    everyMs: 5_000,
    ping: () => new Promise(() => undefined),
    onHung: () => {
      hung++
    },
  })
  await pass(24)
  expect(hung).toBe(0)
  await pass(60)
  expect(hung).toBe(1)
  stop()
})

test('no pings follow once it is stopped', async () => {
  let pings = 0
  const stop = watchLiveness({
    everyMs: 5_000,
    ping: async () => {
      pings++
    },
    onHung: () => undefined,
  })
  await pass(11)
  stop()
  await pass(60)
  expect(pings).toBe(2)
})
