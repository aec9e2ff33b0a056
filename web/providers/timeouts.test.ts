import { describe, expect, test } from 'bun:test'
import { noTimeouts, timeoutsFault, timeoutsOf, typedTimeouts } from './timeouts.ts'

describe('times of a provider', () => {
  test('are those that are typed', () => {
    expect(timeoutsOf(noTimeouts)).toEqual({})
    const typed = { ...noTimeouts, firstTokenMs: ' 120000 ', attemptMs: '300000' }
    expect(timeoutsOf(typed)).toEqual({ firstTokenMs: 120_000, attemptMs: 300_000 })
    expect(timeoutsFault(typed)).toBeUndefined()
    expect(typedTimeouts({ idleMs: 5 })).toEqual({ ...noTimeouts, idleMs: '5' })
  })

  test.each(['0', '-1', '1.5', '86400001', '30 s', '1e3'])('are not %p', (text) => {
    expect(timeoutsFault({ ...noTimeouts, idleMs: text })).toBe(
      'Whole numbers from 1 to 86,400,000, in milliseconds, or empty.',
    )
  })
})
