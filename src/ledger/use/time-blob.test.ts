import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readBuckets, writeBuckets } from './time-blob.ts'

describe('buckets of times as bytes', () => {
  test('are read as they were written', () => {
    const count = fc.oneof(fc.constant(0), fc.nat(), fc.nat(Number.MAX_SAFE_INTEGER))
    fc.assert(
      fc.property(fc.array(count, { maxLength: 160 }), (buckets) => {
        const last = buckets.findLastIndex((each) => each > 0)
        expect(readBuckets(writeBuckets(buckets))).toEqual(buckets.slice(0, last + 1))
      }),
    )
  })

  test('of anything else are bounded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(readBuckets(bytes).length).toBeLessThanOrEqual(1_024)
      }),
    )
  })

  test('take few bytes', () => {
    const buckets = Array.from({ length: 120 }, (_, bucket) => (bucket > 90 && bucket < 110 ? 40 : 0))
    expect(writeBuckets(buckets).length).toBe(2 * 19)
  })
})
