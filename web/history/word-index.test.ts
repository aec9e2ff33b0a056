import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { entriesOf, hasAny, openSegment, segmentBuilder, type WordEntry, type WordSegment } from './word-index.ts'

function built(entries: readonly WordEntry[]): WordSegment {
  const builder = segmentBuilder()
  for (const entry of entries) builder.add(entry)
  return builder.end()
}

function found(entries: readonly WordEntry[], text: string, isOld = false): readonly string[] {
  const { steps, ...old } = built(entries)
  const segment = openSegment(structuredClone({ ...old, ...(isOld ? {} : { steps }) }))
  const marks = segment?.find(text)
  return segment?.ids.filter((_, place) => marks?.[place] === 1) ?? ['damaged']
}

describe('a segment', () => {
  test('finds parts of words', () => {
    const entries = [
      { id: 'a', words: 'needles\nhay' },
      { id: 'b', words: 'hay\nstack' },
      { id: 'c', words: '' },
    ]
    expect(['need', 'hay', 'y', 'stack', 'ack', 'hays', 'none'].map((text) => found(entries, text).join(''))).toEqual([
      'a',
      'ab',
      'ab',
      'b',
      'b',
      '',
      '',
    ])
  })

  test('finds what a search through the words finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '漢', '😀'), minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 8 }), { maxLength: 300 }), word, (lists, text) => {
        const entries = lists.map((words, index) => ({ id: `c${index}`, words: [...new Set(words)].join('\n') }))
        const expected = entries.filter(({ words }) => words.includes(text)).map(({ id }) => id)
        expect([found(entries, text), found(entries, text, true)]).toEqual([expected, expected])
      }),
    )
  })

  test('finds each of many words', () => {
    const wordAt = (index: number): string => `w${index}.`
    const entries = Array.from({ length: 40 }, (_, place) => ({
      id: `c${place}`,
      words: Array.from({ length: 50 }, (__, index) => wordAt(place * 25 + index)).join('\n'),
    }))
    for (const isOld of [false, true])
      for (const index of [0, 24, 63, 64, 65, 127, 128, 500, 999, 1_024])
        expect(found(entries, wordAt(index), isOld)).toEqual(
          entries.filter(({ words }) => words.split('\n').includes(wordAt(index))).map(({ id }) => id),
        )
    expect(found(entries, 'w')).toHaveLength(40)
  })

  test('gives back its conversations with their words', () => {
    const entries = [
      { id: 'a', words: 'one\ntwo' },
      { id: 'b', words: 'two\nthree' },
      { id: 'c', words: '' },
    ]
    expect(entriesOf(built(entries))).toEqual(entries)
    expect(entriesOf('damaged')).toEqual([])
    expect([new Set(['b']), new Set(['d'])].map((ids) => hasAny(built(entries), ids))).toEqual([true, false])
    expect(hasAny('damaged', new Set())).toBe(true)
  })

  test('that is damaged is none, or finds nothing beyond itself', () => {
    for (const value of [undefined, null, 5, {}, { ids: [1], words: '', places: new Uint8Array() }])
      expect(openSegment(value)).toBeUndefined()
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), fc.uint32Array(), (places, words, steps) => {
        const segment = openSegment({ ids: ['a', 'b'], words, places, steps })
        expect(segment?.find('a').length).toBe(2)
      }),
    )
  })
})
