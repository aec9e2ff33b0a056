import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findWords } from './find-words.ts'
import { fold } from './fold.ts'
import { hitIn } from './search-hit.ts'
import { wordsOf } from './search.ts'

describe('folding', () => {
  test.each([
    ['Hello', 'hello'],
    ['Ångström', 'angstrom'],
    ['A\u030angstro\u0308m', 'angstrom'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδός', 'οδοσ'],
    ['İstanbul', 'istanbul'],
    ['ISTANBUL', 'istanbul'],
    ['Łódź', 'lodz'],
    ['Ørsted Æsir Œuvre', 'orsted aesir oeuvre'],
    ['ﬁne ｗｉｄｅ', 'fine wide'],
    ['ИЙ', 'ии'],
    ['日本語', '日本語'],
  ])('turns %j into %j', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(fold(fold(text))).toBe(fold(text))
      }),
    )
  })

  test('ignores case', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aÄßœİıçñđžωσςдй') }), (text) => {
        expect(fold(text.toUpperCase())).toBe(fold(text))
        expect(fold(text.normalize('NFD'))).toBe(fold(text))
      }),
    )
  })
})

describe('findWords', () => {
  const marked = (text: string, ...words: readonly string[]): string | undefined => {
    const place = findWords(text, words)
    return place && `${text.slice(0, place.start)}[${text.slice(place.start, place.end)}]${text.slice(place.end)}`
  }

  test.each([
    ['Great Ångström units', ['angstrom'], 'Great [Ångström] units'],
    ['Great A\u030angstro\u0308m units', ['angstrom'], 'Great [A\u030angstro\u0308m] units'],
    ['Die Straße', ['strasse'], 'Die [Straße]'],
    ['A\u030ab', ['a'], '[A\u030a]b'],
    ['Die Straße', ['as'], 'Die Str[aß]e'],
    ['one\ntwö\nthree two', ['two'], 'one\n[twö]\nthree two'],
    ['b a', ['a', 'b'], '[b] a'],
    ['abc', ['a', 'abc'], '[abc]'],
    ['👩‍👩‍👧 x', ['x'], '👩‍👩‍👧 [x]'],
    ['nothing', ['else'], undefined],
  ])('in %j, %j, is %j', (text, words, expected) => {
    expect(marked(text, ...words)).toBe(expected)
  })

  test('finds every word that search finds', () => {
    const letters = fc.constantFrom(...'aÅ\u030ao\u0308ßİςΣæ x\n👩', 'ﬁ')
    fc.assert(
      fc.property(
        fc.string({ unit: letters, maxLength: 40 }),
        fc.string({ unit: letters, minLength: 1, maxLength: 3 }),
        (text, query) => {
          const words = wordsOf(query)
          const isThere = words.some((word) => fold(text).includes(word))
          expect(findWords(text, words) !== undefined).toBe(isThere)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('wordsOf', () => {
  test('returns distinct folded words, at most twenty', () => {
    expect(wordsOf('  Ä a\tB\n b ')).toEqual(['a', 'b'])
    expect(wordsOf(Array.from({ length: 50 }, (_, index) => `w${index}`).join(' '))).toHaveLength(20)
    expect(wordsOf(' ')).toEqual([])
  })
})

describe('an excerpt', () => {
  const head = { id: 'c', title: 'Title', isPinned: false, created: 0, updated: 0, messageCount: 2 }
  const hitOf = (words: string, ...texts: readonly string[]) =>
    hitIn(
      head,
      { title: head.title, messages: texts.map((text, index) => ({ id: `m${index}`, text })) },
      wordsOf(words),
    ).excerpt

  test('is of the message with most of the words missing in the title', () => {
    expect(hitOf('title one two', 'title one', 'two and one', 'one two')?.messageId).toBe('m1')
    expect(hitOf('title', 'title')).toBeUndefined()
  })

  test('is one line without invisible and direction characters', () => {
    expect(hitOf('needle', 'a\u202e  b\n\n needle\u2066\tc')).toEqual({
      messageId: 'm0',
      text: 'a b needle c',
      start: 4,
      end: 10,
    })
  })

  test('of any text contains the match, in one line', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.string({ unit: 'binary', maxLength: 300 }),
        (before, after) => {
          const excerpt = hitOf('needle', `${before} Needle ${after}`)
          expect(excerpt?.text.slice(excerpt.start, excerpt.end)).toBe('Needle')
          expect(excerpt?.text).not.toMatch(/[\p{Cc}\u202e]/u)
          expect(excerpt?.text.length).toBeLessThan(180)
        },
      ),
    )
  })
})
