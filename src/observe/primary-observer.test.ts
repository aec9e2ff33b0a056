import { expect, test } from 'bun:test'
import { sharedRuns } from './primary-observer.ts'

function subject() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = sharedRuns(() => {
    const made = Promise.withResolvers<void>()
    runs.push(made)
    return made.promise
  })
  return { run, runs }
}

test('the first call starts a run', () => {
  const { run, runs } = subject()
  void run()
  expect(runs).toHaveLength(1)
})

test('all calls during a run share the next one, and runs do not overlap', async () => {
  const { run, runs } = subject()
  const first = run()
  const others = [run(), run(), run()]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await first
  await Promise.resolve()
  expect(runs).toHaveLength(2)
  const late = run()
  runs[1]?.resolve()
  await Promise.all(others)
  await Promise.resolve()
  expect(runs).toHaveLength(3)
  runs[2]?.resolve()
  await late
})

test('a call resolves only with a run that started after it', async () => {
  const { run, runs } = subject()
  const order: string[] = []
  const first = run().then(() => order.push('first'))
  const second = run().then(() => order.push('second'))
  runs[0]?.resolve()
  await first
  expect(order).toEqual(['first'])
  runs[1]?.resolve()
  await second
  void run()
  expect(runs).toHaveLength(3)
})
