import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { thinkingSplitter, type Thought } from './split-thinking.ts'

function split(...pieces: readonly string[]): Thought {
  const splitter = thinkingSplitter()
  const all = [...pieces.map((piece) => splitter.push(piece)), splitter.end()]
  return { text: all.map(({ text }) => text).join(''), reasoning: all.map(({ reasoning }) => reasoning).join('') }
}

describe('thinkingSplitter', () => {
  test.each([
    ['plain text', 'hello', { text: 'hello', reasoning: '' }],
    ['a thought before the text', '<think>hm</think>\n\nhello', { text: 'hello', reasoning: 'hm' }],
    ['white space before the thought', '\n <think>hm</think>hello', { text: 'hello', reasoning: 'hm' }],
    ['a thought that does not end', '<think>hm </thi', { text: '', reasoning: 'hm </thi' }],
    ['an empty thought', '<think></think>hello', { text: 'hello', reasoning: '' }],
    ['a mark in the middle', 'hello <think>hm</think>', { text: 'hello <think>hm</think>', reasoning: '' }],
    ['what only looks like a mark', '<thin', { text: '<thin', reasoning: '' }],
    ['other markup', '<table>', { text: '<table>', reasoning: '' }],
    ['a second thought', '<think>a</think>b<think>c</think>', { text: 'b<think>c</think>', reasoning: 'a' }],
    ['nothing', '', { text: '', reasoning: '' }],
  ])('tells apart %s', (_, whole, expected) => {
    expect(split(whole)).toEqual(expected)
  })

  test('tells text at once when it can be nothing else', () => {
    expect(thinkingSplitter().push('hello').text).toBe('hello')
  })

  test('does not hold back what is thought', () => {
    const splitter = thinkingSplitter()
    splitter.push('<think>')
    expect(splitter.push('a < b').reasoning).toBe('a < b')
  })

  test('gives the same however the text is cut', () => {
    const word = fc.constantFrom('<think>', '</think>', ' ', '\n', 'a', '<', '/')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), fc.array(fc.nat(4), { maxLength: 30 }), (words, cuts) => {
        const whole = words.join('')
        const pieces: string[] = []
        let at = 0
        for (const size of cuts) pieces.push(whole.slice(at, (at += size)))
        expect(split(...pieces, whole.slice(at))).toEqual(split(whole))
      }),
      { numRuns: 500 },
    )
  })
})
