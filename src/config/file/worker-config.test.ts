import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseConfig } from './parse-config.ts'
import { configOfWorker, shareOf } from './worker-config.ts'

describe('the share of a worker', () => {
  test.each([
    [10, 1, 10],
    [10, 2, 5],
    [10, 3, 4],
    [1, 8, 1],
    [Number.POSITIVE_INFINITY, 2, Number.POSITIVE_INFINITY],
  ])('of %p among %p is %p', (most, workers, share) => {
    expect(shareOf(most, workers)).toBe(share)
  })

  test('is never 0, and the sum exceeds the limit by less than the number of workers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 64 }), (most, workers) => {
        const together = shareOf(most, workers) * workers
        expect(shareOf(most, workers)).toBeGreaterThanOrEqual(1)
        expect(together).toBeGreaterThanOrEqual(most)
        expect(together).toBeLessThan(most + workers)
      }),
    )
  })
})

describe('the configuration of a worker', () => {
  const config = parseConfig(
    '{"providers":[{"id":"groq","max_concurrent":5},{"id":"openai"}],' +
      '"limits":{"max_concurrent":9,"body_budget_bytes":4097}}',
    { file: 'providers.json', environment: {} },
  )

  test('has its share of limits that are counted, and the other settings unchanged', () => {
    const mine = configOfWorker(config, 2)
    expect(mine.limits).toEqual({ ...config.limits, maxConcurrent: 5, bodyBudgetBytes: 2049 })
    expect(mine.providers.map(({ maxConcurrent }) => maxConcurrent)).toEqual([3, undefined])
    expect(mine.providers[1]).toBe(config.providers[1])
  })

  test('is the whole configuration with one worker', () => {
    expect(configOfWorker(config, 1)).toBe(config)
  })

  test('adds no limits', () => {
    const unlimited = parseConfig('{"providers":[]}', { file: 'providers.json', environment: {} })
    expect(configOfWorker(unlimited, 4)).toEqual(unlimited)
  })
})
