import type { TimeBuckets } from '../../observe/time-histogram.ts'

/** Buckets after the last one of `time-histogram.ts` are not read. */
const bucketsMax = 1_024

/** Buckets as bytes: for each bucket with times the empty ones before it and its count, as varied-length integers. */
export function writeBuckets(buckets: TimeBuckets): Uint8Array {
  const bytes: number[] = []
  let empty = 0
  for (const count of buckets) {
    if (count > 0) {
      writeInteger(bytes, empty)
      writeInteger(bytes, count)
      empty = 0
    } else empty += 1
  }
  return Uint8Array.from(bytes)
}

/** Reads {@link writeBuckets}. Bytes of anything else give some buckets, or none. */
export function readBuckets(bytes: Uint8Array): number[] {
  const buckets: number[] = []
  let place = 0

  function readInteger(): number {
    let value = 0
    for (let factor = 1; place < bytes.length; factor *= 128) {
      const byte = bytes[place] ?? 0
      place += 1
      value += (byte & 127) * factor
      if (byte < 128) break
    }
    return value
  }

  while (place < bytes.length) {
    const empty = readInteger()
    if (buckets.length + empty >= bucketsMax) break
    for (let count = 0; count < empty; count += 1) buckets.push(0)
    buckets.push(readInteger())
  }
  return buckets
}

function writeInteger(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
}
