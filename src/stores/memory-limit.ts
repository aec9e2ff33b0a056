import type { Limit, LimitOptions } from './store.ts'

/** Each client's tokens at its last request, the most recent client last. */
export type Buckets = Map<string, { readonly credit: number; readonly at: number }>

/** Price of one token. A client is credited `perMinute` per millisecond, so that all sums are whole numbers. */
const cost = 60_000

/**
 * A limit in this process. Beyond {@link LimitOptions.clientsMax}, the client that was idle longest is forgotten.
 *
 * @param buckets the counts so far
 * @param now Unix milliseconds; may jump
 */
export function memoryLimit(
  buckets: Buckets,
  { perMinute, clientsMax = 20_000 }: LimitOptions,
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
      if (buckets.size > clientsMax) buckets.delete(buckets.keys().next().value ?? client)
      return mayPass ? undefined : Math.ceil((cost - credit) / perMinute / 1000)
    },
  }
}
