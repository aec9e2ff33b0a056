import { noNotices } from './no-notices.ts'
import { StoreUnavailable, type Limit, type LimitOptions, type Store, type StoreOptions, type Stores } from './store.ts'

/** {@link StoreOptions} without what only the asking process can do. */
export type StoreBounds = Omit<StoreOptions<unknown>, 'parse'>

/** What one process asks another to do with its stores: plain data, for any channel that carries JSON. */
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
  | { readonly kind: 'limit'; readonly limit: string; readonly options: LimitOptions; readonly client: string }

/** What comes back: plain data too. A value that is not there is absent. */
export type StoreAnswer = { readonly value?: unknown } | { readonly unavailable: string }

/**
 * Stores that another process keeps (docs/decisions/0009-many-processes.md). They have no notices: whoever has a
 * channel can tell by it.
 *
 * @param ask carries an operation to {@link answerStoreOperation} there, and its answer back. When it rejects, the
 *   stores are unavailable
 */
export function remoteStores(ask: (operation: StoreOperation) => Promise<unknown>): Stores {
  return {
    open: (name, options) => remoteStore(ask, name, options),
    limit: (name, options) => remoteLimit(ask, name, options),
    notices: () => noNotices,
    // They are the other's to close.
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
    async delete(key) {
      await answerTo(ask, { kind: 'delete', store, bounds, key })
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

/** Does here what another process asked for ({@link remoteStores}). Rejects only with what is a mistake of ours. */
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
  // What a value is, the one who asks will look at.
  const store = stores.open<unknown>(operation.store, { ...operation.bounds, parse: (value) => value })
  switch (operation.kind) {
    case 'get':
      return await store.get(operation.key)
    case 'take':
      return await store.take(operation.key)
    case 'delete':
      return await store.delete(operation.key)
    case 'set':
      return await store.set(operation.key, operation.value, operation.owner)
  }
}
