/** What {@link rateLimit} needs. */
export interface RateLimitOptions {
  /** Requests of one client; 0: any number. All of them may come at once. */
  readonly perMinute: number
  /** Unix milliseconds. It may jump. */
  now(): number
  /** Clients that are remembered; beyond, whoever was away longest has a clean slate. Default 20,000. */
  readonly clientsMost?: number
}

/** Says how long a client has to wait, in whole seconds; `undefined`: it may pass, and this is counted. */
export type RateLimit = (client: string) => number | undefined

/** What one request costs. A client is credited `perMinute` of these each millisecond, so that all sums are of whole numbers. */
const cost = 60_000

/** A token bucket a client. A refused request costs nothing; a clock that is set back only stops the credit. */
export function rateLimit({ perMinute, now, clientsMost = 20_000 }: RateLimitOptions): RateLimit {
  const full = perMinute * cost
  const buckets = new Map<string, { readonly credit: number; readonly at: number }>()

  function creditOf(client: string, time: number): number {
    const bucket = buckets.get(client)
    return bucket === undefined ? full : Math.min(full, bucket.credit + Math.max(0, time - bucket.at) * perMinute)
  }

  return function secondsToWait(client) {
    if (perMinute === 0) return undefined
    const time = now()
    const credit = creditOf(client, time)
    const mayPass = credit >= cost
    buckets.delete(client)
    buckets.set(client, { credit: mayPass ? credit - cost : credit, at: time })
    if (buckets.size > clientsMost) buckets.delete(buckets.keys().next().value ?? client)
    return mayPass ? undefined : Math.ceil((cost - credit) / perMinute / 1000)
  }
}
