import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { thinkingSplitter, type SplitText } from './split-thinking.ts'

function split(...pieces: readonly string[]): SplitText {
  const splitter = thinkingSplitter()
  let text = ''
  let reasoning = ''
  for (const piece of [...pieces.map((each) => splitter.push(each)), splitter.end()]) {
    if (piece.wasReasoning === true) {
      reasoning += text
      text = ''
    }
    text += piece.text
    reasoning += piece.reasoning
  }
  return { text, reasoning }
}

describe('thinkingSplitter', () => {
  test.each([
    ['plain text', 'hello', { text: 'hello', reasoning: '' }],
    ['reasoning before the text', '<think>hm</think>\n\nhello', { text: 'hello', reasoning: 'hm' }],
    ['white space before the reasoning', '\n <think>hm</think>hello', { text: 'hello', reasoning: 'hm' }],
    ['reasoning without end', '<think>hm </thi', { text: '', reasoning: 'hm </thi' }],
    ['empty reasoning', '<think></think>hello', { text: 'hello', reasoning: '' }],
    ['a tag in the middle', 'hello <think>hm</think>', { text: 'hello <think>hm</think>', reasoning: '' }],
    ['text that only looks like a tag', '<thin', { text: '<thin', reasoning: '' }],
    ['other markup', '<table>', { text: '<table>', reasoning: '' }],
    ['a second reasoning block', '<think>a</think>b<think>c</think>', { text: 'b<think>c</think>', reasoning: 'a' }],
    ['reasoning whose beginning is in the prompt', 'hm\n</think>\n\nhello', { text: 'hello', reasoning: 'hm\n' }],
    ['such reasoning on one line', 'hm</think>hello', { text: 'hello', reasoning: 'hm' }],
    ['a second closing tag', 'a</think>b</think>c', { text: 'b</think>c', reasoning: 'a' }],
    ['a closing tag in code', 'use `</think>` here', { text: 'use `</think>` here', reasoning: '' }],
    ['a closing tag in a block of code', '```\n</think>\n```', { text: '```\n</think>\n```', reasoning: '' }],
    ['a closing tag behind code', '`a`\n```\nb\n```\n</think>c', { text: 'c', reasoning: '`a`\n```\nb\n```\n' }],
    ['nothing', '', { text: '', reasoning: '' }],
  ])('splits %s', (_, whole, expected) => {
    expect(split(whole)).toEqual(expected)
  })

  test('yields text at once if it cannot be part of a tag', () => {
    expect(thinkingSplitter().push('hello').text).toBe('hello')
  })

  test('does not hold back reasoning', () => {
    const splitter = thinkingSplitter()
    splitter.push('<think>')
    expect(splitter.push('a < b').reasoning).toBe('a < b')
  })

  test('gives the same result for any chunks', () => {
    const word = fc.constantFrom('<think>', '</think>', ' ', '\n', 'a', '<', '/', '`', '```')
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
