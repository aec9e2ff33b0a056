import { setBackMsMax } from './store.ts'

/**
 * Whether a value has expired, or is dated in the future ({@link StoreOptions.ttlMs}).
 *
 * @param createdAt Unix milliseconds
 * @param now Unix milliseconds
 */
export function isExpired(createdAt: number, now: number, ttlMs: number): boolean {
  return now - createdAt > ttlMs || createdAt - now > setBackMsMax
}
