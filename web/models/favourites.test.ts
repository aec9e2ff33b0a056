import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ValueStorage } from '../stored-value.ts'
import { favouriteModels, favouritesMax, toggleFavourite } from './favourites.ts'
import { addRecent, recentModels } from './recent-models.ts'
import { parseNames } from './stored-names.ts'

/** A browser tab. Tabs that share `stored` belong to one browser. */
function tab(stored = new Map<string, string>()): ValueStorage & { readonly stored: Map<string, string> } {
  return Object.assign(new EventTarget(), {
    stored,
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, text: string) => void stored.set(key, text),
    },
  })
}

function full(): ValueStorage {
  return Object.assign(new EventTarget(), {
    localStorage: {
      getItem: () => null,
      setItem: () => {
        throw new DOMException('full', 'QuotaExceededError')
      },
    },
  })
}

describe('favourites', () => {
  test('are added, stored, and removed', () => {
    const here = tab(),
      favourites = favouriteModels('u', here)
    expect(toggleFavourite(favourites, 'a')).toBe('added')
    expect(toggleFavourite(favourites, 'b')).toBe('added')
    expect(favouriteModels('u', tab(here.stored)).get()).toEqual(['a', 'b'])
    expect(toggleFavourite(favourites, 'a')).toBe('removed')
    expect(favourites.get()).toEqual(['b'])
  })

  test('are the same value until they change', () => {
    const favourites = favouriteModels('u', tab())
    toggleFavourite(favourites, 'a')
    expect(favourites.get()).toBe(favourites.get())
  })

  test('notify subscribers in this tab, for changes of any tab', () => {
    const here = tab(),
      listed = favouriteModels('u', here)
    let calls = 0
    const stop = listed.subscribe(() => {
      calls += 1
    })
    toggleFavourite(favouriteModels('u', here), 'a')
    expect([calls, listed.get()]).toEqual([1, ['a']])
    here.stored.set('svc.favourite-models.u', '["z"]')
    here.dispatchEvent(new Event('storage'))
    expect([calls, listed.get()]).toEqual([2, ['z']])
    stop()
    toggleFavourite(listed, 'b')
    expect(calls).toBe(2)
  })

  test('of users are separate', () => {
    const here = tab()
    toggleFavourite(favouriteModels('u', here), 'a')
    expect(favouriteModels('v', here).get()).toEqual([])
    expect(favouriteModels(undefined, here).get()).toEqual([])
  })

  test('end at 200, and can be removed then', () => {
    const favourites = favouriteModels('u', tab())
    favourites.set(Array.from({ length: favouritesMax }, (_, index) => `m${index}`))
    expect(toggleFavourite(favourites, 'one more')).toBe('full')
    expect(toggleFavourite(favourites, 'm7')).toBe('removed')
    expect(toggleFavourite(favourites, 'one more')).toBe('added')
  })

  test('that the browser does not store are reported', () => {
    expect(toggleFavourite(favouriteModels('u', full()), 'a')).toBe('not-stored')
  })
})

describe('recent models', () => {
  test('are the last five, the newest first, each once', () => {
    const recent = recentModels('u', tab())
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'c']) addRecent(recent, name)
    expect(recent.get()).toEqual(['c', 'f', 'e', 'd', 'b'])
  })
})

describe('parseNames', () => {
  test.each([
    ['', []],
    ['[', []],
    ['{"a":1}', []],
    ['null', []],
    ['["a",1,null,"","a","b"]', ['a', 'b']],
    [`["${'x'.repeat(301)}"]`, []],
  ])('%s → %j', (text, names) => {
    expect(parseNames(text, 200)).toEqual(names)
  })

  test('returns unique names up to the limit, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.string()).map((names) => JSON.stringify(names)),
        ),
        fc.nat(5),
        (text, limit) => {
          const names = parseNames(text, limit)
          expect(names.length).toBeLessThanOrEqual(limit)
          expect(new Set(names).size).toBe(names.length)
        },
      ),
    )
  })
})
