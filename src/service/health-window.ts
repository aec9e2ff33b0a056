const windowMs = 30_000
const bucketMs = 1_000
const failuresMin = 20

interface Bucket { second: number; successes: number; failures: number }

/** How often attempts failed within the last 30 s, to the second. */
export interface HealthWindow {
  count(kind: 'successes' | 'failures'): void
  /** Half or more of at least 20 attempts failed. */
  isFailingOften(): boolean
  clear(): void
}

/** @param now milliseconds on a monotonic clock */
export function healthWindow(now: () => number): HealthWindow {
  const buckets: Bucket[] = []

  return {
    count(kind) {
      const second = Math.floor(now() / bucketMs)
      let bucket = buckets.at(-1)
      if (bucket?.second !== second) {
        bucket = { second, successes: 0, failures: 0 }
        buckets.push(bucket)
        if (buckets.length > windowMs / bucketMs) buckets.shift()
      }
      bucket[kind] += 1
    },
    isFailingOften() {
      const oldest = Math.floor((now() - windowMs) / bucketMs)
      let successes = 0
      let failures = 0
      for (const bucket of buckets) {
        if (bucket.second <= oldest) continue
        successes += bucket.successes
        failures += bucket.failures
      }
      const total = successes + failures
      return total >= failuresMin && failures * 2 >= total
    },
    clear() { buckets.length = 0 },
  }
}
