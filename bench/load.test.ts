import { describe, expect, test } from 'bun:test'
import { parsePlainOutcome } from './load.ts'

const figures = { requests: 10, durationUs: 1000, failed: 0, badStatus: 0, p50Us: 43, p99Us: 258 }
const output = (changes: Partial<typeof figures>): string =>
  `Running 2s test\nJSON ${JSON.stringify({ ...figures, ...changes })}\n`

describe('parsePlainOutcome', () => {
  test('finds the figures below what wrk itself writes', () => {
    expect(parsePlainOutcome(output({}), 'svc')).toEqual({ requests: 10, durationUs: 1000, p50Us: 43, p99Us: 258 })
  })

  test.each([
    { name: 'a failed request', text: output({ failed: 1 }) },
    { name: 'a bad status', text: output({ badStatus: 2 }) },
    { name: 'no figures', text: 'unable to connect' },
  ])('takes no figures with $name', ({ text }) => {
    expect(() => parsePlainOutcome(text, 'svc')).toThrow(/wrk on svc/)
  })
})
