/** A place for values that are forgotten by themselves. Keys are at most 256 characters. */
export interface Store<Value> {
  get(key: string): Promise<Value | undefined>
  /** @param ttlMs milliseconds until the value is forgotten */
  set(key: string, value: Value, ttlMs: number): Promise<void>
  /** Reads and forgets in one step: of two callers, one gets the value. */
  take(key: string): Promise<Value | undefined>
  delete(key: string): Promise<void>
}
