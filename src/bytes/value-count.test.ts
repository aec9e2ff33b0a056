import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode } from './text.ts'
import { hasMoreValues } from './value-count.ts'

/** Counts the slow way. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value)
  const inner = values.reduce<number>((sum, each) => sum + countOf(each), 0)
  return inner + Math.max(0, values.length - 1) + (Array.isArray(value) ? 0 : 1)
}

describe('the number of values in JSON', () => {
  test('is compared with a limit, with any characters in its strings', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{,"', '\\', '\\"', '\\\\"{', '", "'))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 5 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 5 }),
    }))
    fc.assert(
      fc.property(value, fc.nat(40), (json, max) => {
        expect(hasMoreValues(encode(JSON.stringify(json)), max)).toBe(countOf(json) > max)
      }),
      { numRuns: 500 },
    )
  })

  test.each(['"', '{"a', '"\\', ',,,,"'])('of the text %j, which is no JSON, is found too', (text) => {
    expect(hasMoreValues(encode(text), 3)).toBe(text.startsWith(',,,,'))
  })
})
