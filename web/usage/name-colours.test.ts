import { describe, expect, test } from 'bun:test'
import { fnv1a } from '../../src/base/fnv1a.ts'
import { nameColours } from './name-colours.ts'

const names = [
  'llama-3.3-70b',
  'gpt-5-mini',
  'claude-haiku-4-5',
  'gemini-3-flash',
  'mistral-small',
  'bge-m3',
  'o5-mini',
]

describe('colours of names', () => {
  test('are the same in any order of the catalogue', () => {
    const one = nameColours(names),
      other = nameColours(names.toReversed())
    expect(names.map(one)).toEqual(names.map(other))
  })

  test('differ for seven names of a catalogue', () => {
    expect(new Set(names.map(nameColours(names))).size).toBe(7)
  })

  test('are that of the hash for the first name, and for one that the catalogue lacks', () => {
    expect(nameColours(names)('bge-m3')).toBe(`text-c${(fnv1a('bge-m3') % 7) + 1}`)
    expect(nameColours(names)('unknown')).toBe(`text-c${(fnv1a('unknown') % 7) + 1}`)
  })

  test('give a taken slot of the hash to the earlier name, and the next free one to the later', () => {
    const [first = '', second = ''] = names.flatMap((name) => {
      const twin = Array.from({ length: 99 }, (_, index) => `${name}-${index}`).find(
        (each) => fnv1a(each) % 7 === fnv1a(name) % 7,
      )
      return twin === undefined ? [] : [name, twin]
    })
    const colourOf = nameColours([second, first])
    expect(colourOf(first)).toBe(`text-c${(fnv1a(first) % 7) + 1}`)
    expect(colourOf(second)).toBe(`text-c${((fnv1a(first) + 1) % 7) + 1}`)
  })

  test('differ for the names of a chart that the catalogue lacks, and leave its own as they are', () => {
    const others = Array.from({ length: 4 }, (_, index) => `unknown-${index}`)
    const catalogue = names.slice(0, 3)
    for (const drawn of [
      [...catalogue, ...others],
      [...others.toReversed(), ...catalogue],
    ]) {
      const colourOf = nameColours(catalogue, drawn)
      expect(new Set(drawn.map(colourOf)).size).toBe(7)
      expect(catalogue.map(colourOf)).toEqual(catalogue.map(nameColours(catalogue)))
    }
  })

  test('repeat from the eighth name on', () => {
    expect(new Set([...names, 'z-last'].map(nameColours([...names, 'z-last']))).size).toBe(7)
  })
})
