import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compilePattern, PatternError, patternLengthMax, TooManySteps } from './pattern.ts'

function found(source: string, text: string): readonly string[] {
  const offsets = compilePattern(source).find(text, { left: 1e6 })
  return offsets.flatMap((start, index) => (index % 2 === 0 ? [text.slice(start, offsets[index + 1])] : []))
}

describe('a pattern', () => {
  test.each([
    [
      '\\b[A-Z]{2}\\d{2}(?: ?\\d{4}){4}\\b',
      'IBAN DE12 1234 5678 9012 3456, and XDE12 1234',
      ['DE12 1234 5678 9012 3456'],
    ],
    ['[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+', 'ann@a.example, bob', ['ann@a.example']],
    ['ab|abc', 'xabcx', ['abc']],
    ['(?i)secret: \\S+', 'SeCret: a\nsecret:b', ['SeCret: a']],
    ['^#.*$', 'a\n#b c\nd#e', ['#b c']],
    ['a{2,3}', 'a aa aaaaa', ['aa', 'aaaaa']],
    ['a{2}', 'aaa', ['aaa']],
    ['\\u00fc|\\x41|\\.|[\\]\\-]', 'üA.]-b', ['üA.]-']],
    ['[^a-c\\s]+?', 'abc d 😀', ['d', '😀']],
    ['a*', 'baab', ['aa']],
    ['', 'abc', []],
    ['\\Bb\\B', 'b abc', ['b']],
  ])('%s finds in %j', (source, text, matches) => {
    expect(found(source, text)).toEqual(matches)
  })

  test.each([
    ['(a', 'character 3'],
    ['a)', 'each )'],
    ['[a', 'each ['],
    ['[]', 'empty'],
    ['a**', 'repetitions of a repetition'],
    ['*a', 'in front'],
    ['a{3,2}', '{2,5}'],
    ['(?=a)', 'look-around'],
    ['(?<n>a)', 'look-around'],
    ['(a)\\1', 'back-references'],
    ['\\p{L}', 'escapes'],
    ['\\u12', 'codes'],
    ['[z-a]', 'ranges'],
    ['[\\d-z]', 'ranges'],
    ['a\\', 'end with'],
    ['(?:a{100}){100}', 'fewer or shorter'],
    ['('.repeat(99), 'groups in each other'],
    ['a'.repeat(patternLengthMax + 1), `${patternLengthMax} characters`],
  ])('%s is refused', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(PatternError)
    expect(() => compilePattern(source)).toThrow(reason)
  })

  const atom = fc.constantFrom('a', 'b', 'c', '[ab]', '[^a]', '.', '\\w', '(a|bc)', '(?:ab)', '(b|)')
  const piece = fc
    .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,2}', '{2,}'))
    .map((parts) => parts.join(''))
  const pattern = fc.array(
    fc.array(piece, { maxLength: 4 }).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 2 },
  )

  test('covers what the expressions of the runtime match', () => {
    fc.assert(
      fc.property(
        pattern.map((parts) => parts.join('|')),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', 'é'), maxLength: 8 }),
        (source, text) => {
          const whole = new RegExp(`^(?:${source})$`)
          const covered = Array.from(text, () => false)
          for (let start = 0; start < text.length; start += 1)
            for (let end = start + 1; end <= text.length; end += 1)
              if (whole.test(text.slice(start, end))) covered.fill(true, start, end)
          const ours = Array.from(text, () => false)
          const offsets = compilePattern(source).find(text, { left: 1e6 })
          for (let index = 0; index < offsets.length; index += 2) ours.fill(true, offsets[index], offsets[index + 1])
          expect([source, text, ours]).toEqual([source, text, covered])
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('any text is a pattern or is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab(?:)[]{},1-^$|*+\\dwxu.'), maxLength: 24 }), (source) => {
        try {
          compilePattern(source).find('ab1-ab', { left: 1e5 })
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  test('takes steps by the length of the text, where others take its power', () => {
    const text = 'a'.repeat(20_000)
    for (const source of ['(a+)+b', '(a|aa)+b', 'a*a*a*a*b', '(?:a?){20}b']) {
      const { size, find } = compilePattern(source)
      const steps = { left: text.length * (size + 2) * 2 }
      expect(find(text, steps)).toEqual([])
      expect(steps.left).toBeGreaterThanOrEqual(0)
    }
  })

  test('takes about as long for a step in a set of hundreds of ranges as in one range', () => {
    const characters = Array.from({ length: 480 }, (_, index) => String.fromCharCode(0x4e00 + 2 * index))
    const text = (characters.at(-1) ?? '').repeat(5_000)
    const leastMs = (set: string): number => {
      const { find } = compilePattern(`${set}{20}x`)
      const times = Array.from({ length: 5 }, () => {
        const before = performance.now()
        expect(find(text, { left: 1e6 })).toEqual([])
        return performance.now() - before
      })
      return Math.min(...times)
    }
    // Looking through all ranges takes 40 times as long.
    expect(leastMs(`[${characters.join('')}]`)).toBeLessThan(15 * leastMs('[\u4e00-\uffff]'))
  })

  test('ends when there are no steps left', () => {
    expect(() => compilePattern('(a+)+b').find('a'.repeat(1_000), { left: 100 })).toThrow(TooManySteps)
  })
})
