import { describe, expect, test } from 'bun:test'
import { joinContinuation } from './join-continuation.ts'

const long = 'The quick brown fox jumps over the lazy dog'

describe('joinContinuation', () => {
  test.each([
    ['appends what is new', long, ' and runs.', `${long} and runs.`],
    ['does not double white space', `${long} `, ' and runs.', `${long} and runs.`],
    ['keeps a paragraph that was there', `${long}\n\n`, 'Then', `${long}\n\nThen`],
    ['takes a repetition that goes on', long, `${long} and runs.`, `${long} and runs.`],
    ['takes a repetition of all, and no more', `${long}\n`, long, `${long}\n`],
    ['takes a repetition that ends early', long, long.slice(0, 30), long],
    ['appends a short word that was there by chance', 'no no', 'no', 'no nono'],
    ['appends the same short text', 'no', 'no', 'nono'],
    ['takes all where nothing was', '', 'Hello', 'Hello'],
    ['keeps all where nothing comes', long, '', long],
  ])('%s', (_, kept, more, joined) => {
    expect(joinContinuation(kept, more, true)).toBe(joined)
  })

  test('gives what was there while it may be a repetition', () => {
    expect(joinContinuation(long, long.slice(0, 5), false)).toBe(long)
    expect(joinContinuation(long, 'The end', false)).toBe(`${long}The end`)
  })

  test('never loses what was there', () => {
    for (let length = 0; length <= long.length; length++) {
      expect(joinContinuation(long, long.slice(0, length), false).startsWith(long)).toBe(true)
      expect(joinContinuation(`${long} \n`, `${long} \n!`.slice(0, length), false).startsWith(long)).toBe(true)
    }
  })
})
