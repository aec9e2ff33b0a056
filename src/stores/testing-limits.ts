import { describe, expect, test } from 'bun:test'
import type { Limit, LimitOptions, Stores } from './store.ts'
import { oddTexts, unusedName } from './testing.ts'

/** Stores, and a way to have time pass for their limits. For tests. */
export interface TimedStores {
  readonly stores: Stores
  /** @param ms negative: the clock is set back */
  elapse(limit: string, ms: number): Promise<void>
}

/**
 * Tests that limits of every kind of store must pass, with a tolerance of a second. For tests.
 *
 * @param make opens stores, which are closed at the end of the test
 */
export function limitContract(kind: string, make: () => Promise<TimedStores>): void {
  type Elapse = (ms: number) => Promise<void>

  async function limited(
    options: LimitOptions,
    examine: (limit: Limit, elapse: Elapse, again: (options: LimitOptions) => Limit) => Promise<void>,
  ): Promise<void> {
    const { stores, elapse } = await make(),
      name = unusedName()
    try {
      await examine(
        stores.limit(name, options),
        (ms) => elapse(name, ms),
        (others) => stores.limit(name, others),
      )
    } finally {
      await stores.close()
    }
  }

  async function passes(limit: Limit, client: string, times: number): Promise<number> {
    const waits = await Promise.all(Array.from({ length: times }, () => limit.take(client)))
    return waits.filter((seconds) => seconds === undefined).length
  }

  async function secondsOf(limit: Limit, client: string): Promise<number> {
    return (await limit.take(client)) ?? 0
  }

  describe(`${kind}: a limit`, () => {
    test("lets a minute's worth pass at once and no more, each client for itself", () =>
      limited({ perMinute: 3 }, async (limit) => {
        expect([await passes(limit, 'a', 50), await passes(limit, 'b', 2), await passes(limit, 'b', 2)]).toEqual([
          3, 2, 1,
        ])
      }))

    test('says how long to wait, and then allows', () =>
      limited({ perMinute: 2 }, async (limit, elapse) => {
        await passes(limit, 'a', 2)
        expect(await secondsOf(limit, 'a')).toBeWithin(25, 31)
        await elapse(20_000)
        expect(await secondsOf(limit, 'a')).toBeWithin(1, 11)
        await elapse(10_000)
        expect([await passes(limit, 'a', 2), (await secondsOf(limit, 'a')) > 25]).toEqual([1, true])
      }))

    test("saves up a minute's worth and no more", () =>
      limited({ perMinute: 3 }, async (limit, elapse) => {
        await passes(limit, 'a', 3)
        await elapse(3_600_000)
        expect(await passes(limit, 'a', 50)).toBe(3)
      }))

    test('locks no client out when the clock is set back or far forward', () =>
      limited({ perMinute: 2 }, async (limit, elapse) => {
        await passes(limit, 'a', 2)
        await elapse(-365 * 24 * 3_600_000)
        expect(await secondsOf(limit, 'a')).toBeWithin(1, 31)
        await elapse(30_000)
        expect(await passes(limit, 'a', 1)).toBe(1)
        await elapse(365 * 24 * 3_600_000)
        expect(await passes(limit, 'a', 50)).toBe(2)
      }))

    test('of 0 allows everything', () =>
      limited({ perMinute: 0 }, async (limit) => {
        expect(await passes(limit, 'a', 100)).toBe(100)
      }))

    test('counts a bounded number of clients', () =>
      limited({ perMinute: 1, clientsMax: 3 }, async (limit, elapse) => {
        for (const client of ['a', 'b', 'c', 'd']) {
          await limit.take(client)
          await elapse(1_000)
        }
        expect([
          await passes(limit, 'd', 1),
          await passes(limit, 'c', 1),
          await passes(limit, 'b', 1),
          await passes(limit, 'a', 1),
        ]).toEqual([0, 0, 0, 1])
      }))

    test('keeps its counts under changed options', () =>
      limited({ perMinute: 2 }, async (limit, _elapse, again) => {
        await passes(limit, 'a', 2)
        expect([
          await passes(again({ perMinute: 2 }), 'a', 1),
          await passes(again({ perMinute: 1 }), 'a', 1),
          await passes(again({ perMinute: 2 }), 'b', 9),
        ]).toEqual([0, 0, 2])
      }))

    test('accepts any text as a client', () =>
      limited({ perMinute: 1 }, async (limit) => {
        for (const client of oddTexts) expect([await passes(limit, client, 2), client]).toEqual([1, client])
      }))
  })
}
