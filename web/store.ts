import { useSyncExternalStore } from 'react'

/** A value with subscribers. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  update(change: (value: Value) => Value): void
  subscribe(listener: () => void): () => void
}

/** Creates a store. Subscribers are called when the value changes (`Object.is`). */
export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  function set(next: Value): void {
    if (Object.is(value, next)) return
    value = next
    for (const listener of [...listeners]) listener()
  }
  return {
    get: () => value,
    set,
    update: (change) => set(change(value)),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns the store's value, in a component. */
export function useStore<Value>(store: Pick<Store<Value>, 'get' | 'subscribe'>): Value {
  return useSyncExternalStore(store.subscribe, store.get)
}
