import type { Store } from '../store.ts'

/** A list of names that the browser keeps, the same in every tab. */
export interface StoredNames extends Pick<Store<readonly string[]>, 'get' | 'subscribe'> {
  /** Replaces the list. Returns whether the browser kept it: it may be full, or keep nothing. */
  set(names: readonly string[]): boolean
}

/** What keeps the list, and tells of changes: `window`, or another in tests. */
export interface NameKeeper extends Pick<EventTarget, 'addEventListener' | 'removeEventListener' | 'dispatchEvent'> {
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem'>
}

const nameCharactersMax = 300

/** The names kept under `key`, at most `limit`. Whatever else is found there counts as none. */
export function storedNames(key: string, limit: number, keeper: NameKeeper = globalThis.window): StoredNames {
  let known: { readonly text: string; readonly names: readonly string[] } = { text: '', names: [] }

  function get(): readonly string[] {
    const text = readText(keeper, key)
    if (text !== known.text) known = { text, names: parseNames(text, limit) }
    return known.names
  }

  return {
    get,
    set(names) {
      try {
        keeper.localStorage.setItem(key, JSON.stringify(cleanNames(names, limit)))
      } catch {
        // Full, or forbidden: the caller tells.
        return false
      }
      // The browser tells other tabs only.
      keeper.dispatchEvent(new Event('storage'))
      return true
    },
    subscribe(listener) {
      keeper.addEventListener('storage', listener)
      return () => keeper.removeEventListener('storage', listener)
    },
  }
}

function readText(keeper: NameKeeper, key: string): string {
  try {
    return keeper.localStorage.getItem(key) ?? ''
  } catch {
    // A browser may forbid it: then nothing is kept.
    return ''
  }
}

/** The names of a JSON array of strings; none of anything else. */
export function parseNames(text: string, limit: number): readonly string[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? cleanNames(value, limit) : []
  } catch {
    // Somebody else's, or cut: nothing of ours.
    return []
  }
}

function cleanNames(values: readonly unknown[], limit: number): readonly string[] {
  const names = values
    .filter((value) => typeof value === 'string')
    .filter((name) => name !== '' && name.length <= nameCharactersMax)
  return [...new Set(names)].slice(0, limit)
}
