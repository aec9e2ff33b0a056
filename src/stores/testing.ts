import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Store, StoreOptions, Stores } from './store.ts'

/** A wall clock that a test sets. For tests. */
export interface WallClock {
  /** Unix milliseconds. */
  time: number
  readonly now: () => number
}

/** A clock that stands in the year 2026. For tests. */
export function wallClock(): WallClock {
  const clock = { time: 1_790_000_000_000, now: () => clock.time }
  return clock
}

const minute = 60_000,
  hour = 60 * minute

/** Options that no test exceeds: ten minutes, 1,000 texts. For tests. */
export const ampleOptions: StoreOptions<string> = {
  ttlMs: 10 * minute,
  valuesMax: 1_000,
  valuesPerOwnerMax: 1_000,
  parse: (value) => (typeof value === 'string' ? value : undefined),
}

/** Texts that stores must keep apart. For tests. */
export const oddTexts = [
  '',
  ' ',
  'a b',
  'a',
  'A',
  '\n',
  '\r\n',
  '\0',
  '\t',
  '*',
  '"',
  '\\',
  '%00',
  "'",
  '0',
  '-1',
  'a:b',
  'a:',
  '{a}',
  '__proto__',
  'constructor',
  'toString',
  'é',
  'e\u0301',
  '🦊',
  '\u2028',
  '\ufffd',
  '\ud800',
  '\ud801',
  'x'.repeat(256),
  'x'.repeat(255),
  '🦊'.repeat(128),
]

let names = 0

/** A name that no other test of this process has. */
export function unusedName(): string {
  return `test-${process.pid}/${++names}`
}

/**
 * Tests that every kind of store must pass. For tests.
 *
 * @param make opens stores with the given clock, which are closed at the end of the test; their names are used once
 * @param size how many values one test stores, a multiple of 1,000, and how often others choose their steps
 */
export function storeContract(
  kind: string,
  make: (now: () => number) => Promise<Pick<Stores, 'open' | 'close'>>,
  { many = 20_000, numRuns = 100 } = {},
): void {
  async function within(
    options: Partial<StoreOptions<string>>,
    examine: (store: Store<string>, clock: WallClock) => Promise<void>,
  ): Promise<void> {
    const clock = wallClock(),
      stores = await make(clock.now)
    try {
      await examine(stores.open(unusedName(), { ...ampleOptions, ...options }), clock)
    } finally {
      await stores.close()
    }
  }

  describe(`${kind}: a value`, () => {
    test('is read any number of times, until it is deleted', () =>
      within({}, async (store) => {
        await store.set('key', 'value', 'owner')
        expect([await store.get('key'), await store.get('key'), await store.get('other')]).toEqual([
          'value',
          'value',
          undefined,
        ])
        await store.delete('key')
        await store.delete('other')
        expect(await store.get('key')).toBeUndefined()
      }))

    test('is taken once', () =>
      within({}, async (store) => {
        await store.set('key', 'value', 'owner')
        expect([await store.take('key'), await store.take('key'), await store.get('key')]).toEqual([
          'value',
          undefined,
          undefined,
        ])
      }))

    test('is taken by one of many concurrent callers', () =>
      within({}, async (store) => {
        await store.set('key', 'value', 'owner')
        const taken = await Promise.all(Array.from({ length: 50 }, () => store.take('key')))
        expect(taken.filter((value) => value !== undefined)).toEqual(['value'])
      }))

    test('is replaced by another under its key, also of another owner', () =>
      within({ valuesPerOwnerMax: 1 }, async (store) => {
        await store.set('key', 'first', 'one')
        await store.set('key', 'second', 'one')
        await store.set('key', 'third', 'other')
        await store.set('key of one', 'fourth', 'one')
        expect([await store.get('key'), await store.get('key of one')]).toEqual(['third', 'fourth'])
      }))

    test('comes back unchanged, with any content', async () => {
      const clock = wallClock(),
        stores = await make(clock.now)
      const store = stores.open<unknown>(unusedName(), { ...ampleOptions, parse: (value) => value })
      const json = fc
        .jsonValue({ stringUnit: 'binary', maxDepth: 2 })
        .map((value): unknown => JSON.parse(JSON.stringify(value)))
      await fc.assert(
        fc.asyncProperty(json, async (value) => {
          await store.set('key', { value }, 'owner')
          expect(await store.take('key')).toEqual({ value })
        }),
      )
      await stores.close()
    })
  })

  describe(`${kind}: keys and owners`, () => {
    test('may be any text, and stay distinct', () =>
      within({ valuesPerOwnerMax: 1 }, async (store) => {
        await Promise.all(oddTexts.map((text) => store.set(text, `value of ${text}`, text)))
        expect(await Promise.all(oddTexts.map((text) => store.get(text)))).toEqual(
          oddTexts.map((text) => `value of ${text}`),
        )
        await Promise.all(oddTexts.map((text) => store.set(`second ${text}`, 'of the same owner', text)))
        expect(await Promise.all(oddTexts.map((text) => store.get(text)))).toEqual(oddTexts.map(() => undefined))
        expect(await Promise.all(oddTexts.map((text) => store.take(`second ${text}`)))).toEqual(
          oddTexts.map(() => 'of the same owner'),
        )
      }))

    test('of one store are not those of another; the same name is the same store', async () => {
      const stores = await make(Date.now),
        name = unusedName()
      await stores.open(name, ampleOptions).set('key', 'value', 'owner')
      expect(await stores.open(name, ampleOptions).get('key')).toBe('value')
      for (const other of [`${name}/`, `${name}-`, unusedName()])
        expect(await stores.open(other, ampleOptions).get('key')).toBeUndefined()
      await stores.close()
    })
  })

  describe(`${kind}: all values of an owner`, () => {
    test('are taken oldest first, and no others', () =>
      within({ valuesPerOwnerMax: 2 }, async (store) => {
        for (const [key, owner] of ['ax', 'by', 'cx', 'dx', 'ez'])
          await store.set(key ?? '', `value of ${key}`, owner ?? '')
        expect(await store.takeAll('x')).toEqual(['value of c', 'value of d'])
        expect([await store.takeAll('x'), await store.takeAll('unknown')]).toEqual([[], []])
        expect(await Promise.all([...'abcde'].map((key) => store.get(key)))).toEqual([
          undefined,
          'value of b',
          undefined,
          undefined,
          'value of e',
        ])
        await store.set('f', 'new', 'x')
        expect(await store.takeAll('x')).toEqual(['new'])
      }))

    test('stay distinct, with any owner names', () =>
      within({}, async (store) => {
        await Promise.all(oddTexts.map((text) => store.set(text, `value of ${text}`, text)))
        for (const text of oddTexts) expect(await store.takeAll(text)).toEqual([`value of ${text}`])
      }))

    test('do not include expired values', () =>
      within({}, async (store, clock) => {
        await store.set('old', 'old', 'owner')
        clock.time += 6 * minute
        await store.set('young', 'young', 'owner')
        clock.time += 6 * minute
        expect(await store.takeAll('owner')).toEqual(['young'])
        expect(await store.get('young')).toBeUndefined()
      }))
  })

  describe(`${kind}: the list of values`, () => {
    test('has the newest first with their keys, and no more than were asked for', () =>
      within({}, async (store, clock) => {
        expect(await store.list(10)).toEqual([])
        await store.set('old', 'old', 'x')
        clock.time += 6 * minute
        for (const key of ['a', 'b', 'c', 'a']) await store.set(key, `value of ${key}`, 'x')
        await store.delete('b')
        clock.time += 6 * minute
        const newest = ['a', 'c'].map((key) => ({ key, value: `value of ${key}` }))
        expect([await store.list(10), await store.list(1)]).toEqual([newest, newest.slice(0, 1)])
      }))

    test('has keys of every form of text', () =>
      within({}, async (store) => {
        for (const text of oddTexts) await store.set(text, text, 'x')
        expect(await store.list(1_000)).toEqual(oddTexts.toReversed().map((text) => ({ key: text, value: text })))
      }))
  })

  describe(`${kind}: age`, () => {
    test.each([
      ['at its limit', 10 * minute, 'value'],
      ['a millisecond beyond', 10 * minute + 1, undefined],
      ['when the clock jumped by 25 hours', 25 * hour, undefined],
      ['when the clock was set back by five minutes', -5 * minute, 'value'],
      ['when it was set back by more', -5 * minute - 1, undefined],
      ['when it was set back by a year', -365 * 24 * hour, undefined],
    ])('%s', async (_when, ms, expected) => {
      for (const way of ['get', 'take'] as const)
        await within({}, async (store, clock) => {
          await store.set('key', 'value', 'owner')
          clock.time += ms
          expect(await store[way]('key')).toBe(expected)
        })
    })

    test('counts from the last time it was set', () =>
      within({}, async (store, clock) => {
        await store.set('key', 'first', 'owner')
        clock.time += 9 * minute
        await store.set('key', 'second', 'owner')
        clock.time += 9 * minute
        expect(await store.get('key')).toBe('second')
      }))
  })

  describe(`${kind}: bounds`, () => {
    async function keysOf(store: Store<string>, keys: readonly string[]): Promise<string> {
      const values = await Promise.all(keys.map((key) => store.get(key)))
      return keys.filter((_key, index) => values[index] !== undefined).join(' ')
    }

    async function fill(store: Store<string>, ...owned: readonly string[]): Promise<string> {
      for (const key of owned) await store.set(key, 'value', key.slice(0, 1))
      return await keysOf(store, owned)
    }

    test('evict the oldest value of the owner, and no value of others', () =>
      within({ valuesPerOwnerMax: 2 }, async (store) => {
        expect(await fill(store, 'a1', 'b1', 'a2', 'a3', 'a4')).toBe('b1 a3 a4')
      }))

    test('evict from the owner with the most values', () =>
      within({ valuesMax: 4 }, async (store) => {
        expect(await fill(store, 'a1', 'b1', 'b2', 'b3', 'c1', 'd1')).toBe('a1 b3 c1 d1')
      }))

    test('evict the oldest value among owners with as many', () =>
      within({ valuesMax: 4 }, async (store) => {
        expect(await fill(store, 'a1', 'b1', 'b2', 'a2', 'c1', 'c2', 'd1')).toBe('b2 a2 c2 d1')
      }))

    test('let an owner that stores again and again evict only their own values', () =>
      within({ valuesMax: 20 }, async (store) => {
        await store.set('mine', 'value', 'me')
        await Promise.all(Array.from({ length: 500 }, (_, index) => store.set(`crowd ${index}`, 'value', 'crowd')))
        expect(await keysOf(store, ['mine', ...Array.from({ length: 500 }, (_, index) => `crowd ${index}`)])).toBe(
          ['mine', ...Array.from({ length: 19 }, (_, index) => `crowd ${481 + index}`)].join(' '),
        )
      }))

    test('count taken and deleted values no longer', () =>
      within({ valuesMax: 2, valuesPerOwnerMax: 1 }, async (store) => {
        await fill(store, 'a1', 'b1')
        await store.take('a1')
        expect(await fill(store, 'b1', 'c1')).toBe('b1 c1')
        await store.delete('b1')
        expect(await fill(store, 'c1', 'a1')).toBe('c1 a1')
      }))

    test('of 0 keep nothing', async () => {
      for (const options of [{ valuesMax: 0 }, { valuesPerOwnerMax: 0 }])
        await within(options, async (store) => {
          expect(await fill(store, 'a1', 'b1')).toBe('')
        })
    })

    test(`hold for ${many} values`, () =>
      within({ valuesMax: many, valuesPerOwnerMax: 200 }, async (store) => {
        for (let round = 0; round < many + 400; round += 200) {
          await Promise.all(
            Array.from({ length: 200 }, (_, index) =>
              store.set(`${round + index}`, 'value', `${(round + index) % 150}`),
            ),
          )
        }
        expect(await Promise.all(['0', '399', '400', `${many + 399}`].map((key) => store.get(key)))).toEqual([
          undefined,
          undefined,
          'value',
          'value',
        ])
      }))
  })

  describe(`${kind}: any sequence of operations`, () => {
    const letter = (...letters: readonly string[]) => fc.constantFrom(...letters)

    test('the store agrees with a simple model', async () => {
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            kind: fc.constant('set' as const),
            key: letter(...'abcdefghijkl'),
            owner: letter(...'uvwxyz'),
          }),
        },
        fc.record({ kind: letter('take', 'delete'), key: letter(...'abcdefghijkl') }),
        fc.record({ kind: fc.constant('clock' as const), ms: fc.integer({ min: -1_000, max: 1_000 }) }),
      )
      const bounds = fc.record({
        valuesMax: fc.integer({ min: 1, max: 9 }),
        valuesPerOwnerMax: fc.integer({ min: 1, max: 5 }),
      })
      await fc.assert(
        fc.asyncProperty(bounds, fc.array(step, { maxLength: 60 }), (options, steps) =>
          within(options, async (store, clock) => {
            const model = boundedModel(options)
            for (const [index, each] of steps.entries()) {
              if ('ms' in each) clock.time += each.ms
              else if ('owner' in each) {
                model.set(each.key, String(index), each.owner)
                await store.set(each.key, String(index), each.owner)
              } else {
                expect(each.kind === 'take' ? await store.take(each.key) : await store.delete(each.key)).toBe(
                  each.kind === 'take' ? model.get(each.key) : undefined,
                )
                model.delete(each.key)
              }
            }
            const keys = [...'abcdefghijkl']
            expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys.map((key) => model.get(key)))
          }),
        ),
        { numRuns },
      )
    })

    test('nothing expired or from the future is read', async () => {
      const { ttlMs } = ampleOptions
      const step = fc.oneof(
        fc.record({ kind: letter('set', 'get', 'take'), key: letter('a', 'b', 'c') }),
        fc.record({
          kind: fc.constant('clock'),
          ms: fc.constantFrom(
            1,
            ttlMs - 1,
            ttlMs,
            ttlMs + 1,
            ttlMs / 2,
            25 * hour,
            -1,
            -ttlMs,
            -5 * minute,
            -5 * minute - 1,
          ),
        }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
          within({}, async (store, clock) => {
            const dates = new Map<string, { readonly createdAt: number; wasGone: boolean }>()
            for (const each of steps) {
              if ('ms' in each) clock.time += each.ms
              for (const date of dates.values())
                date.wasGone ||= clock.time - date.createdAt > ttlMs || date.createdAt - clock.time > 5 * minute
              if ('ms' in each) continue
              if (each.kind === 'set') {
                dates.set(each.key, { createdAt: clock.time, wasGone: false })
                await store.set(each.key, String(clock.time), 'owner')
                continue
              }
              const value = each.kind === 'get' ? await store.get(each.key) : await store.take(each.key)
              const date = dates.get(each.key)
              // A value that had expired and, with the clock set back, no longer has may be forgotten or not.
              const isThere =
                date !== undefined &&
                clock.time - date.createdAt <= ttlMs &&
                date.createdAt - clock.time <= 5 * minute &&
                !(date.wasGone && value === undefined)
              expect(value).toBe(isThere ? String(date.createdAt) : undefined)
              if (each.kind === 'take') dates.delete(each.key)
            }
          }),
        ),
        { numRuns },
      )
    })
  })
}

interface BoundedModel {
  get(key: string): string | undefined
  set(key: string, value: string, owner: string): void
  delete(key: string): void
}

/** The rules of {@link StoreOptions} about bounds, in the plainest way. */
function boundedModel({
  valuesMax,
  valuesPerOwnerMax,
}: {
  readonly valuesMax: number
  readonly valuesPerOwnerMax: number
}): BoundedModel {
  let entries: { readonly key: string; readonly value: string; readonly owner: string }[] = []
  const countOf = (owner: string): number => entries.filter((entry) => entry.owner === owner).length
  const remove = (key: string | undefined): void => {
    entries = entries.filter((entry) => entry.key !== key)
  }
  return {
    get: (key) => entries.find((entry) => entry.key === key)?.value,
    set(key, value, owner) {
      remove(key)
      entries.push({ key, value, owner })
      if (countOf(owner) > valuesPerOwnerMax) remove(entries.find((entry) => entry.owner === owner)?.key)
      if (entries.length <= valuesMax) return
      const highest = Math.max(...entries.map((entry) => countOf(entry.owner)))
      remove(entries.find((entry) => countOf(entry.owner) === highest)?.key)
    },
    delete: remove,
  }
}
