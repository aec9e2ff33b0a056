const windowMs = 30_000
const bucketMs = 1_000
const failuresMin = 20

interface Bucket {
  second: number
  successes: number
  failures: number
}

/**
 * Successes and failures of the last 30 s, by the second. A class, since there may be one for each of 10,000 models.
 */
export class FailureWindow {
  readonly #buckets: Bucket[] = []
  readonly #now: () => number

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  count(kind: 'successes' | 'failures'): void {
    const second = Math.floor(this.#now() / bucketMs)
    let bucket = this.#buckets.at(-1)
    if (bucket?.second !== second) {
      bucket = { second, successes: 0, failures: 0 }
      this.#buckets.push(bucket)
      if (this.#buckets.length > windowMs / bucketMs) this.#buckets.shift()
    }
    bucket[kind] += 1
  }

  /** Half or more of at least 20 attempts failed. */
  isFailingOften(): boolean {
    const oldest = Math.floor((this.#now() - windowMs) / bucketMs)
    let successes = 0
    let failures = 0
    for (const bucket of this.#buckets) {
      if (bucket.second <= oldest) continue
      successes += bucket.successes
      failures += bucket.failures
    }
    const total = successes + failures
    return total >= failuresMin && failures * 2 >= total
  }

  clear(): void {
    this.#buckets.length = 0
  }
}
