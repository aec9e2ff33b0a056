/**
 * A place for values that are forgotten by themselves. Every value belongs to an owner (a client, a user), so that one
 * of them cannot crowd out the others. All methods reject with {@link StoreUnavailable} when the place itself is away;
 * no answer is then known, which is not the answer "no".
 */
export interface Store<Value> {
  get(key: string): Promise<Value | undefined>
  /**
   * Remembers a value, in place of the one that the key had. What no longer fits is forgotten (see
   * {@link StoreOptions}).
   */
  set(key: string, value: Value, owner: string): Promise<void>
  /** Reads and forgets in one step: of two callers, one gets the value. */
  take(key: string): Promise<Value | undefined>
  delete(key: string): Promise<void>
}

/** How far the clock may have been set back before what it had dated, and now lies in the future, counts as gone. */
export const setBackMsMost = 300_000

/** What one store keeps, and for how long. */
export interface StoreOptions<Value> {
  /**
   * A value whose age exceeds this is gone, by the wall clock at the moment of use. So is one from further in the
   * future than {@link setBackMsMost}.
   */
  readonly ttlMs: number
  /** Values in all. Beyond, the owner who has most loses the oldest of theirs. */
  readonly most: number
  /** Values of one owner. Beyond, they lose the oldest. */
  readonly mostEach: number
  /** Reads a value that has been outside this process; `undefined`: it is none of ours. Values are plain JSON. */
  parse(value: unknown): Value | undefined
}

/** How often each client may do something. A client may save up a minute's worth, and use it at once. */
export interface Limit {
  /**
   * Counts one, unless it is one too many: that costs nothing. A clock that is set back only stops the saving.
   *
   * @returns whole seconds to wait; `undefined`: it may pass
   * @throws {StoreUnavailable}
   */
  take(client: string): Promise<number | undefined>
}

/** What a {@link Limit} allows. */
export interface LimitOptions {
  /** Of one client, a whole number up to 1,000,000; 0: any number. */
  readonly perMinute: number
  /** Clients that are counted; beyond, some of them have a clean slate. Default 20,000. */
  readonly clientsMost?: number
}

/** Characters of a notice; longer ones are not told. */
export const noticeLengthMost = 2_000
/** Longest time for which a notice is kept: an hour. */
export const noticeKeptMsMost = 3_600_000

/**
 * Small news between all who share the stores. Hints: any that is not kept may be lost, and nobody vouches for what
 * they say.
 */
export interface Notices {
  /**
   * Tells all others. Returns at once and never throws: while the store is away, or when there is too much to tell, it
   * is dropped. What is kept is told when the store is back, if it would still be kept then, and it is the last under
   * its key that always arrives.
   *
   * @param text at most {@link noticeLengthMost}
   * @param kept for those who come later
   */
  tell(text: string, kept?: KeptNotice): void
  /**
   * Hears what others tell from now on and, at the start and whenever something may have been missed, all that is kept
   * of it. Once for each name.
   */
  listen(hear: Hear): void
}

/** How a notice is kept: in place of the one under the same key. */
export interface KeptNotice {
  /** At most 200 characters. */
  readonly key: string
  /** How long, at most {@link noticeKeptMsMost}; 0: nothing is kept under the key any more. */
  readonly ms: number
}

/**
 * Told of a notice: its text, as somebody wrote it, and for how many more milliseconds it is kept; `undefined`: it is
 * not. Must not throw.
 */
export type Hear = (text: string, keptMs: number | undefined) => void

/** Where stores are kept: in this process, or in a server that several share. */
export interface Stores {
  /** The store of this name, the same one each time. @param name `[a-z0-9_/-]+`, unlike any other's */
  open<Value>(name: string, options: StoreOptions<Value>): Store<Value>
  /**
   * The limit of this name: what was counted for it counts on, also when its options are others now. @param name as
   * that of a store, but apart from those
   */
  limit(name: string, options: LimitOptions): Limit
  /** The notices of this name, the same ones each time. @param name as that of a store, but apart from those */
  notices(name: string): Notices
  close(): Promise<void>
}

/** The place where values are kept cannot be reached or does not answer. Its message names no address and no password. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
