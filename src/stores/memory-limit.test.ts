import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryLimit } from './memory.ts'

type Wait = (client: string) => Promise<number | undefined>

function limited(perMinute: number, clientsMax?: number) {
  const clock = { ms: 1_800_000_000_000 }
  const limit = memoryLimit(
    new Map(),
    { perMinute, ...(clientsMax === undefined ? {} : { clientsMax }) },
    () => clock.ms,
  )
  return { clock, wait: (client: string) => limit.take(client) }
}

async function passed(wait: Wait, client: string, requests: number): Promise<number> {
  const waits = await Promise.all(Array.from({ length: requests }, () => wait(client)))
  return waits.filter((seconds) => seconds === undefined).length
}

describe('memory: a limit', () => {
  test("lets the first minute's worth pass at once, and no more", async () => {
    const { wait } = limited(120)
    expect(await passed(wait, 'a', 500)).toBe(120)
    expect(await wait('a')).toBe(1)
  })

  test('allows other clients meanwhile', async () => {
    const { wait } = limited(120)
    await passed(wait, 'a', 10_000)
    expect(await wait('b')).toBeUndefined()
  })

  test('refills a token every half second, and says so', async () => {
    const { clock, wait } = limited(120)
    await passed(wait, 'a', 120)
    clock.ms += 499
    expect(await wait('a')).toBe(1)
    clock.ms += 1
    expect(await wait('a')).toBeUndefined()
    expect(await wait('a')).toBe(1)
  })

  test('allows after the wait it names', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.nat(5_000), { maxLength: 30 }),
        async (perMinute, pauses) => {
          const { clock, wait } = limited(perMinute)
          await passed(wait, 'a', perMinute)
          for (const pause of pauses) {
            clock.ms += pause
            const seconds = await wait('a')
            if (seconds === undefined) continue
            expect(seconds).toBeGreaterThanOrEqual(1)
            clock.ms += seconds * 1000
            expect(await wait('a')).toBeUndefined()
          }
        },
      ),
    )
  })

  test('never allows more than its minutes are worth', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(3_000), { minLength: 1, maxLength: 200 }),
        async (perMinute, pauses) => {
          const { clock, wait } = limited(perMinute)
          const start = clock.ms
          let count = 0
          for (const pause of pauses) {
            clock.ms += pause
            if ((await wait('a')) === undefined) count++
          }
          expect(count).toBeLessThanOrEqual(perMinute + ((clock.ms - start) * perMinute) / 60_000)
        },
      ),
    )
  })

  test('locks no client out when the clock is set back or far forward', async () => {
    const { clock, wait } = limited(60)
    await passed(wait, 'a', 60)
    clock.ms -= 365 * 86_400_000
    expect(await wait('a')).toBe(1)
    clock.ms += 1_000
    expect(await wait('a')).toBeUndefined()
    clock.ms += 365 * 86_400_000
    expect(await passed(wait, 'a', 100)).toBe(60)
  })

  test('of 0 allows everything', async () => {
    expect(await passed(limited(0).wait, 'a', 10_000)).toBe(10_000)
  })

  test('remembers a bounded number of clients: the most recent ones', async () => {
    const { wait } = limited(1, 3)
    for (const client of ['a', 'b', 'c', 'a', 'd']) await wait(client)
    expect(await Promise.all(['c', 'a', 'd'].map(wait))).toEqual([60, 60, 60])
    expect(await wait('b')).toBeUndefined()
  })
})
