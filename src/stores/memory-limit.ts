import type { Limit, LimitOptions } from './store.ts'

/** What each client had saved up when it was last counted, those who came last at the end. */
export type Buckets = Map<string, { readonly credit: number; readonly at: number }>

/** What one costs. A client is credited `perMinute` of these each millisecond, so that all sums are of whole numbers. */
const cost = 60_000

/**
 * A token bucket a client, in this process. Beyond {@link LimitOptions.clientsMost}, whoever was away longest has a
 * clean slate.
 *
 * @param buckets what was counted until now
 * @param now Unix milliseconds. It may jump
 */
export function memoryLimit(
  buckets: Buckets,
  { perMinute, clientsMost = 20_000 }: LimitOptions,
  now: () => number,
): Limit {
  const full = perMinute * cost

  function creditOf(client: string, time: number): number {
    const bucket = buckets.get(client)
    return bucket === undefined ? full : Math.min(full, bucket.credit + Math.max(0, time - bucket.at) * perMinute)
  }

  return {
    async take(client) {
      if (perMinute === 0) return undefined
      const time = now()
      const credit = creditOf(client, time)
      const mayPass = credit >= cost
      buckets.delete(client)
      buckets.set(client, { credit: mayPass ? credit - cost : credit, at: time })
      if (buckets.size > clientsMost) buckets.delete(buckets.keys().next().value ?? client)
      return mayPass ? undefined : Math.ceil((cost - credit) / perMinute / 1000)
    },
  }
}
