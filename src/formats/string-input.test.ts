import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { stringInput } from './string-input.ts'

function decode(pieces: readonly string[]): string {
  const input = stringInput()
  return pieces.map((piece) => input.push(piece)).join('') + input.end()
}

describe('the input of a custom tool', () => {
  test('is decoded however its arguments are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(400)), fc.boolean(), (text, places, isSpaced) => {
        const json = isSpaced ? ` { "input" : ${JSON.stringify(text)} } ` : JSON.stringify({ input: text })
        const borders = [0, ...places.filter((place) => place < json.length).toSorted((one, other) => one - other)]
        const pieces = borders.map((from, index) => json.slice(from, borders[index + 1]))
        expect(decode(pieces)).toBe(text)
      }),
    )
  })

  test('arrives while it is written', () => {
    const input = stringInput()
    expect(
      ['{"inp', 'ut":"ab', 'c\\', 'n', '\\u00', 'e9\\ud83d', '\\ude00"', '}'].map((piece) => input.push(piece)),
    ).toEqual(['', 'ab', 'c', '\n', '', 'é', '😀', ''])
    expect(input.end()).toBe('')
  })

  test('is the text itself where the model left out the object', () => {
    expect(decode(['*** Begin', ' Patch'])).toBe('*** Begin Patch')
    expect(decode(['{ not json'])).toBe('{ not json')
    expect(decode(['{"a":1,"b":2}'])).toBe('{"a":1,"b":2}')
    expect(decode(['"x"'])).toBe('"x"')
  })

  test('is the only string of another object, and empty for an empty one', () => {
    expect(decode(['{"content', '":"x\\ny"}'])).toBe('x\ny')
    expect(decode(['{}'])).toBe('')
    expect(decode([])).toBe('')
  })
})
