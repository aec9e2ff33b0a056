/*
 * Values that expire, for sign-in (states, sessions) and its rate limits. `memory.ts` keeps them in the only process or
 * in the primary, which workers reach by `remote.ts`; `redis/` keeps them for several machines. `open-stores.ts`
 * chooses by the URL of `--store`. One contract holds for all (`testing.ts`).
 */

/**
 * Values that expire. Every value belongs to an owner (a client, a user), so that one owner cannot crowd out the
 * others. All methods reject with {@link StoreUnavailable} when the store cannot be reached: a value may exist or not.
 */
export interface Store<Value> {
  get(key: string): Promise<Value | undefined>
  /** Stores a value, replacing the key's previous one. Evicts values beyond the limits of {@link StoreOptions}. */
  set(key: string, value: Value, owner: string): Promise<void>
  /** Reads and deletes atomically: of two callers, one gets the value. */
  take(key: string): Promise<Value | undefined>
  /** Reads and deletes all values of an owner atomically, oldest first. */
  takeAll(owner: string): Promise<readonly Value[]>
  delete(key: string): Promise<void>
  /** The newest values with their keys, newest first. They are not read atomically. @param most at least 1 */
  list(most: number): Promise<readonly Listed<Value>[]>
}

/** A value of a store. */
export interface Listed<Value> {
  readonly key: string
  readonly value: Value
}

/** A value dated further in the future than this (the clock was set back) has expired, in milliseconds. */
export const setBackMsMax = 300_000

/** Limits of one store. */
export interface StoreOptions<Value> {
  /**
   * A value older than this has expired, by the wall clock at the moment of use. So has a value dated more than
   * {@link setBackMsMax} in the future.
   */
  readonly ttlMs: number
  /** Beyond this number of values, the oldest value of the owner with the most values is evicted. */
  readonly valuesMax: number
  /** Beyond this number of values of one owner, the owner's oldest value is evicted. */
  readonly valuesPerOwnerMax: number
  /** Checks a value that was outside this process; `undefined`: not a value of this store. Values are plain JSON. */
  parse(value: unknown): Value | undefined
}

/** A rate limit per client: a token bucket that holds one minute's worth. */
export interface Limit {
  /**
   * Takes one token, if there is one. A clock that is set back only stops the refill.
   *
   * @returns whole seconds to wait; `undefined`: allowed
   * @throws {StoreUnavailable}
   */
  take(client: string): Promise<number | undefined>
}

/** Options of a {@link Limit}. */
export interface LimitOptions {
  /** Per client, a whole number up to 1,000,000; 0: unlimited. */
  readonly perMinute: number
  /** Clients that are counted; beyond, some of them start anew with a full bucket. Default 20,000. */
  readonly clientsMax?: number
}

/** Stores in this process, in the primary process, or in a server that several machines share. */
export interface Stores {
  /** Opens a store; the same name gives the same store. @param name `[a-z0-9_/-]+`, unique */
  open<Value>(name: string, options: StoreOptions<Value>): Store<Value>
  /**
   * Opens a limit. The same name goes on with the same counts, also under changed options.
   *
   * @param name as for stores, in a namespace of its own
   */
  limit(name: string, options: LimitOptions): Limit
  close(): Promise<void>
}

/** The store cannot be reached or does not answer. The message contains no address and no password. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
