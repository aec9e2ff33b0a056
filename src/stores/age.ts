import { setBackMsMost } from './store.ts'

/**
 * Whether a value is too old to be used, or from a time that has not come yet ({@link StoreOptions.ttlMs}).
 *
 * @param createdAt @param now both of the wall clock, in Unix milliseconds
 */
export function isGone(createdAt: number, now: number, ttlMs: number): boolean {
  return now - createdAt > ttlMs || createdAt - now > setBackMsMost
}
