import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { failover } from './failover.ts'
import type { FailureClass } from './failure.ts'
import { healthBook } from './health/health.ts'
import { observed } from './layers/observed.ts'
import { retry } from './layers/retry.ts'
import { stack } from './service.ts'
import { callOf, failureOf, fakeClock } from './testing.ts'

interface Outage {
  readonly retries: number
  readonly failure: FailureClass
  readonly outageMs: number
  readonly requestMs: number
  /** 0 to 1, for the jitter of breakers. */
  readonly random: () => number
}

/**
 * Sends one request after the other while the first of two providers is down, on a fake clock.
 *
 * @returns milliseconds from its recovery to its first answer
 */
async function usedAgainMs({ retries, failure, outageMs, requestMs, random }: Outage): Promise<number> {
  const clock = fakeClock()
  const health = healthBook(clock.now, random).of('first', 'm')
  const returnsAt = clock.now() + outageMs
  const first = {
    name: 'first',
    unavailable: health.unavailable,
    ask: stack<string, string>(
      async () => {
        if (clock.now() < returnsAt) throw failureOf(failure)
        return 'first'
      },
      observed({
        health,
        now: clock.now,
        onEnd: (_reply, listener) => listener(undefined),
      }),
      retry({ retries, onRetry: health.retrying, sleep: async () => undefined }),
    ),
  }
  const second = { name: 'second', unavailable: () => undefined, ask: async () => 'second' }
  for (;;) {
    const call = callOf()
    const { reply } = await failover<typeof first | typeof second, string>([first, second]).next(
      ({ ask }) => ask('', call),
      call,
    )
    if (reply === 'first') return clock.now() - returnsAt
    clock.pass(requestMs)
  }
}

describe('a provider that was down for 60 s', () => {
  test.each([0, 1])('is used again within 20 s of its recovery under traffic, retries: %p', async (retries) => {
    for (let round = 0; round <= 10; round += 1) {
      const outage = {
        retries,
        failure: 'server_error',
        outageMs: 60_000,
        requestMs: 200,
        random: () => round / 10,
      } as const
      expect(await usedAgainMs(outage)).toBeLessThan(20_000)
    }
  })
})

test('a provider is used again within 20 s of its recovery, after any failure and any outage', async () => {
  const outages = fc.record({
    retries: fc.integer({ min: 0, max: 5 }),
    failure: fc.constantFrom<FailureClass[]>('connect', 'dns', 'reset', 'timeout', 'server_error', 'overloaded'),
    outageMs: fc.integer({ min: 0, max: 600_000 }),
    requestMs: fc.integer({ min: 50, max: 1_000 }),
    random: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  })
  await fc.assert(
    fc.asyncProperty(outages, async ({ random, ...outage }) => {
      expect(await usedAgainMs({ ...outage, random: () => random.next().value })).toBeLessThan(20_000)
    }),
    { numRuns: 50 },
  )
})
