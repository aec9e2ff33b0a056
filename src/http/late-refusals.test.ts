import { expect, test } from 'bun:test'
import { lateRefusals } from './late-refusals.ts'

function subject(options: Partial<Parameters<typeof lateRefusals>[0]> = {}) {
  const clock = { ms: 5_000 }
  const delayOf = lateRefusals({ delayMs: 1, clock: () => clock.ms, ...options })
  const lateOf = (client: string, count: number) =>
    Array.from({ length: count }, () => delayOf(client)).filter((delay) => delay !== undefined)
  return { clock, lateOf }
}

test('the answers to a client that is refused more than 60 times a minute come late', async () => {
  const { clock, lateOf } = subject()
  expect(lateOf('a', 60)).toHaveLength(0)
  const late = lateOf('a', 2)
  expect(late).toHaveLength(2)
  expect(lateOf('b', 1)).toHaveLength(0)
  await Promise.all(late)
  clock.ms += 2_000
  expect(lateOf('a', 3)).toHaveLength(1)
  clock.ms += 60_000
  expect(lateOf('a', 61)).toHaveLength(1)
})

test('a limited number of answers waits, and a limited number of clients is remembered', async () => {
  const { lateOf } = subject({ waitingMax: 3, perMinute: 1, clientsMax: 2 })
  const late = lateOf('a', 10)
  expect(late).toHaveLength(3)
  await Promise.all(late)
  expect(lateOf('a', 1)).toHaveLength(1)
  for (const other of ['b', 'c']) expect(lateOf(other, 1)).toHaveLength(0)
  expect(lateOf('a', 1)).toHaveLength(0)
})

test('none comes late without a delay', () => {
  expect(subject({ delayMs: 0 }).lateOf('a', 100)).toHaveLength(0)
})
