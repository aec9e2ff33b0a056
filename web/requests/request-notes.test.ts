import { describe, expect, test } from 'bun:test'
import { kindsInWords, notesOf } from './request-notes.ts'
import { requestEntry } from './testing.ts'

describe('the notes of a request', () => {
  test('are none for a plain answer', () => {
    expect(notesOf(requestEntry({ promptTokens: 1, completionTokens: 2, cost: 0 }))).toEqual([])
  })

  test('say what its flags mean', () => {
    const notes = notesOf(
      requestEntry({
        isEstimated: true,
        promptTokens: 1,
        completionTokens: 2,
        trail: [
          { provider: 'a', status: 200, failure: 'cut', ms: 1, bookedCost: 0.1, mayBeBilled: true },
          { provider: 'b', status: 200, ms: 1 },
        ],
      }),
    )
    expect(notes.map((note) => note.split(':')[0])).toEqual([
      'Resumed',
      'Estimated',
      'No price',
      'Unsettled',
      'An attempt without an answer may have been billed.',
    ])
  })

  test('do not call an answer resumed that failed in the end', () => {
    const trail = [{ provider: 'a', status: 200, failure: 'cut', ms: 1 }]
    expect(notesOf(requestEntry({ trail, error: 'stream_cut' }))).toEqual([])
  })
})

test('tokens are named by kind', () => {
  expect(kindsInWords({ input: 1_200, cached: 5, cacheWrite: 0, output: 4, reasoning: 0 })).toBe(
    '1,200 input, 5 from the cache, 4 output',
  )
})
