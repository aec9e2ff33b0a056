import { StoreUnavailable, type Limit, type LimitOptions, type Store, type StoreOptions, type Stores } from './store.ts'

/** The part of {@link StoreOptions} that can be sent to another process. */
export type StoreBounds = Omit<StoreOptions<unknown>, 'parse'>

/** A store operation that one process sends to another. Plain JSON. */
export type StoreOperation =
  | {
      readonly kind: 'get' | 'take' | 'delete'
      readonly store: string
      readonly bounds: StoreBounds
      readonly key: string
    }
  | {
      readonly kind: 'set'
      readonly store: string
      readonly bounds: StoreBounds
      readonly key: string
      readonly value: unknown
      readonly owner: string
    }
  | { readonly kind: 'takeAll'; readonly store: string; readonly bounds: StoreBounds; readonly owner: string }
  | { readonly kind: 'list'; readonly store: string; readonly bounds: StoreBounds; readonly most: number }
  | { readonly kind: 'limit'; readonly limit: string; readonly options: LimitOptions; readonly client: string }

/** The result of a {@link StoreOperation}. Plain JSON; `value` is absent if the store has none. */
export type StoreAnswer = { readonly value?: unknown } | { readonly unavailable: string }

/**
 * Stores in another process (docs/decisions/0009-many-processes.md).
 *
 * @param ask sends an operation to {@link answerStoreOperation} there and returns its answer. When it rejects, the
 *   stores are unavailable
 */
export function remoteStores(ask: (operation: StoreOperation) => Promise<unknown>): Stores {
  return {
    open: (name, options) => remoteStore(ask, name, options),
    limit: (name, options) => remoteLimit(ask, name, options),
    // The other process closes them.
    async close() {},
  }
}

function remoteStore<Value>(
  ask: (operation: StoreOperation) => Promise<unknown>,
  store: string,
  { parse, ...bounds }: StoreOptions<Value>,
): Store<Value> {
  async function read(kind: 'get' | 'take', key: string): Promise<Value | undefined> {
    const value = await answerTo(ask, { kind, store, bounds, key })
    return value === undefined ? undefined : parse(value)
  }

  return {
    get: (key) => read('get', key),
    take: (key) => read('take', key),
    async set(key, value, owner) {
      await answerTo(ask, { kind: 'set', store, bounds, key, value, owner })
    },
    async takeAll(owner) {
      const values = await answerTo(ask, { kind: 'takeAll', store, bounds, owner })
      return Array.isArray(values) ? values.flatMap((value) => parse(value) ?? []) : []
    },
    async delete(key) {
      await answerTo(ask, { kind: 'delete', store, bounds, key })
    },
    async list(most) {
      const found = await answerTo(ask, { kind: 'list', store, bounds, most })
      return (Array.isArray(found) ? found : []).flatMap((each: unknown) => {
        if (typeof each !== 'object' || each === null || !('key' in each) || !('value' in each)) return []
        const value = parse(each.value)
        return value === undefined || typeof each.key !== 'string' ? [] : [{ key: each.key, value }]
      })
    },
  }
}

function remoteLimit(
  ask: (operation: StoreOperation) => Promise<unknown>,
  limit: string,
  options: LimitOptions,
): Limit {
  return {
    async take(client) {
      if (options.perMinute === 0) return undefined
      const seconds = await answerTo(ask, { kind: 'limit', limit, options, client })
      return typeof seconds === 'number' ? seconds : undefined
    },
  }
}

async function answerTo(
  ask: (operation: StoreOperation) => Promise<unknown>,
  operation: StoreOperation,
): Promise<unknown> {
  const answer = await ask(operation).catch((cause: unknown) => {
    throw new StoreUnavailable('the process that keeps the store does not answer', { cause })
  })
  if (typeof answer !== 'object' || answer === null)
    throw new StoreUnavailable('the process that keeps the store answers with something else')
  if ('unavailable' in answer) throw new StoreUnavailable(String(answer.unavailable))
  return 'value' in answer ? answer.value : undefined
}

/** Performs an operation that another process sent ({@link remoteStores}). Rejects only for internal errors. */
export async function answerStoreOperation(stores: Stores, operation: StoreOperation): Promise<StoreAnswer> {
  try {
    const value = await perform(stores, operation)
    return value === undefined ? {} : { value }
  } catch (error) {
    if (error instanceof StoreUnavailable) return { unavailable: error.message }
    throw error
  }
}

async function perform(stores: Stores, operation: StoreOperation): Promise<unknown> {
  if (operation.kind === 'limit') return await stores.limit(operation.limit, operation.options).take(operation.client)
  // The asking process checks the value.
  const store = stores.open<unknown>(operation.store, { ...operation.bounds, parse: (value) => value })
  switch (operation.kind) {
    case 'get':
      return await store.get(operation.key)
    case 'take':
      return await store.take(operation.key)
    case 'takeAll':
      return await store.takeAll(operation.owner)
    case 'delete':
      return await store.delete(operation.key)
    case 'list':
      return await store.list(operation.most)
    case 'set':
      return await store.set(operation.key, operation.value, operation.owner)
  }
}
