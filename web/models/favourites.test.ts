import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { favouriteModels, favouritesMax, noteChosen, recentModels, toggleFavourite } from './favourites.ts'
import { parseNames } from './stored-names.ts'
import type { NameKeeper } from './stored-names.ts'

/** A browser's tab: tabs of one browser share what is kept. */
function tab(kept = new Map<string, string>()): NameKeeper & { readonly kept: Map<string, string> } {
  return Object.assign(new EventTarget(), {
    kept,
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
    },
  })
}

function full(): NameKeeper {
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
  test('are added, kept, and removed', () => {
    const here = tab(),
      favourites = favouriteModels('u', here)
    expect(toggleFavourite(favourites, 'a')).toBe('added')
    expect(toggleFavourite(favourites, 'b')).toBe('added')
    expect(favouriteModels('u', tab(here.kept)).get()).toEqual(['a', 'b'])
    expect(toggleFavourite(favourites, 'a')).toBe('removed')
    expect(favourites.get()).toEqual(['b'])
  })

  test('are the same value until they change', () => {
    const favourites = favouriteModels('u', tab())
    toggleFavourite(favourites, 'a')
    expect(favourites.get()).toBe(favourites.get())
  })

  test('are told of in this tab, whoever changed them', () => {
    const here = tab(),
      listed = favouriteModels('u', here)
    let told = 0
    const stop = listed.subscribe(() => {
      told += 1
    })
    toggleFavourite(favouriteModels('u', here), 'a')
    expect([told, listed.get()]).toEqual([1, ['a']])
    here.kept.set('svc.favourite-models.u', '["z"]')
    here.dispatchEvent(new Event('storage'))
    expect([told, listed.get()]).toEqual([2, ['z']])
    stop()
    toggleFavourite(listed, 'b')
    expect(told).toBe(2)
  })

  test('of one person are not those of another', () => {
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

  test('that the browser does not keep are told', () => {
    expect(toggleFavourite(favouriteModels('u', full()), 'a')).toBe('not-kept')
  })
})

describe('recent models', () => {
  test('are the last five, the latest first, each once', () => {
    const recent = recentModels('u', tab())
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'c']) noteChosen(recent, name)
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

  test('gives at most as many different names as asked, whatever it reads', () => {
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
