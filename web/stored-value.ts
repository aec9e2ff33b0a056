import type { Store } from './store.ts'

/** A value in local storage, shared by all tabs. */
export interface StoredValue<Value> extends Pick<Store<Value>, 'get' | 'subscribe'> {
  /** Replaces the value. Returns whether the browser stored it: storage may be full or forbidden. */
  set(value: Value): boolean
}

/** Local storage with its events: `window`, or a fake in tests. */
export interface ValueStorage extends Pick<EventTarget, 'addEventListener' | 'removeEventListener' | 'dispatchEvent'> {
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem'>
}

/** Opens the value stored under `key`. @param parse reads any text; an empty one where nothing is stored */
export function storedValue<Value>(
  key: string,
  parse: (text: string) => Value,
  storage: ValueStorage = globalThis.window,
): StoredValue<Value> {
  let cached: { readonly text: string; readonly value: Value } | undefined

  return {
    get() {
      const text = readText(storage, key)
      if (text !== cached?.text) cached = { text, value: parse(text) }
      return cached.value
    },
    set(value) {
      try {
        storage.localStorage.setItem(key, JSON.stringify(value) ?? '')
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

function readText(storage: ValueStorage, key: string): string {
  try {
    return storage.localStorage.getItem(key) ?? ''
  } catch {
    // Storage is forbidden: nothing is stored.
    return ''
  }
}
