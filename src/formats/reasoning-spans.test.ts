import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { join, splice } from '../bytes/splice.ts'
import { encode, utf8 } from '../bytes/text.ts'
import { removeElements } from './reasoning-spans.ts'
import type { Span } from './request-shape.ts'

const space = fc.constantFrom('', ' ', '\n ', '\t')

/** Lists of numbers with any space between, those with `x` are to be removed. */
const lists = fc.array(fc.tuple(fc.array(fc.tuple(space, fc.nat(99), fc.boolean(), space), { maxLength: 6 }), space), {
  minLength: 1,
  maxLength: 4,
})

describe('elements of lists', () => {
  test('are removed with one comma each, and lists that would be empty get a filler', () => {
    fc.assert(
      fc.property(lists, (given) => {
        let text = '['
        const removed: Span[] = []
        const expected = given.map(([elements, end], index) => {
          if (index > 0) text += ','
          text += '['
          for (const [position, [before, value, isRemoved, after]] of elements.entries()) {
            text += `${position === 0 ? '' : ','}${before}`
            const start = text.length
            text += String(value)
            if (isRemoved) removed.push({ start, end: text.length })
            text += after
          }
          text += `${elements.length === 0 ? end : ''}]`
          const kept = elements.filter(([, , isRemoved]) => !isRemoved).map(([, value]) => value)
          return kept.length === 0 && elements.length > 0 ? ['filler'] : kept
        })
        text += ']'
        const body = encode(text)
        const edited = utf8(join(splice(body, removeElements(body, removed, encode('"filler"')))))
        expect(JSON.parse(edited)).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})
