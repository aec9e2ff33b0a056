import type { Store } from '../store.ts'

/** A list of names in local storage, shared by all tabs. */
export interface StoredNames extends Pick<Store<readonly string[]>, 'get' | 'subscribe'> {
  /** Replaces the list. Returns whether the browser stored it: storage may be full or forbidden. */
  set(names: readonly string[]): boolean
}

/** Local storage with its events: `window`, or a fake in tests. */
export interface NameStorage extends Pick<EventTarget, 'addEventListener' | 'removeEventListener' | 'dispatchEvent'> {
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem'>
}

const nameCharactersMax = 300

/** Opens the names stored under `key`, at most `limit`. Invalid content counts as empty. */
export function storedNames(key: string, limit: number, storage: NameStorage = globalThis.window): StoredNames {
  let cached: { readonly text: string; readonly names: readonly string[] } = { text: '', names: [] }

  function get(): readonly string[] {
    const text = readText(storage, key)
    if (text !== cached.text) cached = { text, names: parseNames(text, limit) }
    return cached.names
  }

  return {
    get,
    set(names) {
      try {
        storage.localStorage.setItem(key, JSON.stringify(cleanNames(names, limit)))
      } catch {
        // Full or forbidden: the caller reports it.
        return false
      }
      // The browser sends this event to other tabs only.
      storage.dispatchEvent(new Event('storage'))
      return true
    },
    subscribe(listener) {
      storage.addEventListener('storage', listener)
      return () => storage.removeEventListener('storage', listener)
    },
  }
}

function readText(storage: NameStorage, key: string): string {
  try {
    return storage.localStorage.getItem(key) ?? ''
  } catch {
    // Storage is forbidden: the list is empty.
    return ''
  }
}

/** Parses a JSON array of strings; anything else is an empty list. */
export function parseNames(text: string, limit: number): readonly string[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? cleanNames(value, limit) : []
  } catch {
    // Damaged, or not written by this page.
    return []
  }
}

function cleanNames(values: readonly unknown[], limit: number): readonly string[] {
  const names = values
    .filter((value) => typeof value === 'string')
    .filter((name) => name !== '' && name.length <= nameCharactersMax)
  return [...new Set(names)].slice(0, limit)
}
