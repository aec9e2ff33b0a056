import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../../src/base/testing.ts'
import type { UserMessage } from './conversation.ts'
import { chosenTitle, loadFormulas, mayHaveFormulas, titleFrom } from './title.ts'

function saying(text: string, imageNames: readonly string[] = []): UserMessage {
  return {
    role: 'user',
    id: 'm',
    time: 0,
    text,
    images: imageNames.map((name, index) => ({
      id: `i${index}`,
      name,
      dataUrl: 'data:image/png;base64,AA==',
      width: 1,
      height: 1,
    })),
  }
}

beforeAll(loadFormulas)

describe('a title', () => {
  test.each([
    ['What is a monad?', 'What is a monad?'],
    ['  Two\n\n lines\t here ', 'Two lines here'],
    ['# Heading\n> quoted\n- item\n1. first', 'Heading quoted item first'],
    ['Explain:\n```js\nconst a = 1\n```', 'Explain: const a = 1'],
    ['Use `fetch` **now**, *please*, _really_ ~~not~~', 'Use fetch now, please, really not'],
    ['See [the docs](https://example.com/a_b) and ![a cat](cat.png "Cat")', 'See the docs and a cat'],
    ['What is 2 * 3 in snake_case_name?', 'What is 2 * 3 in snake_case_name?'],
    ['---\nAfter a line', 'After a line'],
    ['C# and a-b and 3. of May', 'C# and a-b and 3. of May'],
    ['evil \u202etxt.exe\u202c \u2066x\u2069 \u200fy\u061c', 'evil txt.exe x y'],
    ['a\u0000b\u001bc\u0085d\u200b\ufeffe', 'abcd e'],
    ['\ud800 half', '\ufffd half'],
    ['👩‍👩‍👧 family', '👩‍👩‍👧 family'],
    ['Solve $x^{2} = \\frac{1}{2}$ for $x$.', 'Solve x^2 = 1/2 for x.'],
    ['Why \\(\\alpha_{i} \\leq 2\\pi\\)?', 'Why α_i ≤ 2π?'],
    ['$$\n\\int_0^\\infty e^{-x^{2}} \\mathrm{d}x = \\frac{\\sqrt{\\pi}}{2}\n$$', '∫_0^∞ e^(-x^2) dx = (√π)/2'],
    ['\\[ \\left( a \\cdot \\unknown{b} \\right) \\]', '( a · unknownb )'],
    ['Is $5 and $6 more than $10?', 'Is $5 and $6 more than $10?'],
    ['What is `$x^{2}$` in $HOME or $PATH', 'What is $x^{2}$ in $HOME or $PATH'],
    ['An open $x^{2} stays', 'An open $x^{2} stays'],
  ])('of %j is %j', (text, title) => {
    expect(titleFrom(saying(text))).toBe(title)
  })

  test('is cut between words, at 60 characters', () => {
    expect(titleFrom(saying('x'.repeat(60)))).toBe('x'.repeat(60))
    expect(titleFrom(saying('x'.repeat(61)))).toBe(`${'x'.repeat(59)}…`)
    expect(titleFrom(saying('Please explain to me in simple words how a transformer network reads'))).toBe(
      'Please explain to me in simple words how a transformer…',
    )
  })

  test('is cut between letters, never within one', () => {
    const title = titleFrom(saying(`${'x'.repeat(55)}${'👩‍👩‍👧'.repeat(3)}`))
    expect(title).toBe(`${'x'.repeat(55)}…`)
  })

  test('of images only is the name of the first', () => {
    expect(titleFrom(saying(' ', ['cat\u202e.png', 'dog.png']))).toBe('cat.png')
    expect(titleFrom(saying('```'))).toBe('New conversation')
  })

  test('of any text is one visible line of at most 60 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const title = titleFrom(saying(text))
        expect(title.length).toBeLessThanOrEqual(60)
        expect(title).toMatch(/^\S/)
        expect(title).not.toMatch(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
        expect(title.isWellFormed()).toBe(true)
      }),
    )
  })

  test('of a pathological text takes little time', () => {
    for (const evil of [
      '[',
      '![](',
      '*',
      '_',
      '`',
      '> ',
      '- ',
      ' ',
      '# ',
      '1. ',
      '\n',
      '['.repeat(9) + ']',
      '(',
      '$',
      '$a',
      '$$a',
      '\\[',
      '\\(a',
      '$\\frac{',
    ]) {
      expect(processorMs(() => void titleFrom(saying(evil.repeat(200_000))))).toBeLessThan(200)
    }
  })
})

describe('a chosen title', () => {
  test('stays as typed, in one line without invisible characters', () => {
    expect(chosenTitle(' *My*  `list` \u202eabc\n2 ')).toBe('*My* `list` abc 2')
    expect(chosenTitle(' \u200b\n')).toBe('')
    expect(chosenTitle('y'.repeat(300))).toHaveLength(200)
  })
})

test('only titles with marks of formulas may have some', () => {
  expect(['$x$', 'So \\(x\\)', '\\[x\\]', '5 $'].map(mayHaveFormulas)).toEqual([true, true, true, true])
  expect(['x', '(x) [y]', 'a\\b'].map(mayHaveFormulas)).toEqual([false, false, false])
})
