import { describe, expect, test } from 'bun:test'
import { joinContinuation } from './join-continuation.ts'

const long = 'The quick brown fox jumps over the lazy dog'

describe('joinContinuation', () => {
  test.each([
    ['appends new text', long, ' and runs.', `${long} and runs.`],
    ['does not double white space', `${long} `, ' and runs.', `${long} and runs.`],
    ['keeps a paragraph break', `${long}\n\n`, 'Then', `${long}\n\nThen`],
    ['drops a repetition before new text', long, `${long} and runs.`, `${long} and runs.`],
    ['drops a repetition of the whole text', `${long}\n`, long, `${long}\n`],
    ['drops a repetition that ends early', long, long.slice(0, 30), long],
    ['appends a short word that repeats by chance', 'no no', 'no', 'no nono'],
    ['appends the same short text', 'no', 'no', 'nono'],
    ['returns the continuation of an empty text', '', 'Hello', 'Hello'],
    ['returns the text for an empty continuation', long, '', long],
  ])('%s', (_, kept, more, joined) => {
    expect(joinContinuation(kept, more, true)).toBe(joined)
  })

  test('withholds text while it may be a repetition', () => {
    expect(joinContinuation(long, long.slice(0, 5), false)).toBe(long)
    expect(joinContinuation(long, 'The end', false)).toBe(`${long}The end`)
  })

  test('never loses the text before', () => {
    for (let length = 0; length <= long.length; length++) {
      expect(joinContinuation(long, long.slice(0, length), false).startsWith(long)).toBe(true)
      expect(joinContinuation(`${long} \n`, `${long} \n!`.slice(0, length), false).startsWith(long)).toBe(true)
    }
  })
})
