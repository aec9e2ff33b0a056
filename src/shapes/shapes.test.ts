import { describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { JsonObject } from '../base/json-value.ts'
import { jsonShape, listShape, namedShape, namesBy, objectShape } from './containers.ts'
import { valueNode } from './node.ts'
import {
  eitherShape,
  flagShape,
  integerShape,
  mapShape,
  nullOr,
  numberShape,
  onlyShape,
  secretShape,
  textShape,
  wordShape,
  type ValueShape,
} from './shape.ts'

const short = { allowed: 'a short text', pattern: /^[a-z]+$/, lengthMax: 4 }
const text = textShape(short)

/** Every kind of shape. */
const all = objectShape(
  {
    text,
    word: wordShape(['up', 'down']),
    flag: flagShape,
    integer: integerShape(1, 5),
    number: numberShape(0, 1),
    list: listShape(text, { min: 1, max: 2 }),
    named: namedShape(integerShape(0), namesBy(short)),
    either: eitherShape({ number: onlyShape(0, 'nothing'), object: objectShape({ a_b: text }) }, '0 or an object'),
    nothing: nullOr(text),
    secret: secretShape(text),
    json: jsonShape,
  },
  { required: ['text'] },
)

/** The value, and the faults as `path: found, allowed`. */
function readBy<Value>(shape: ValueShape<Value>, value: unknown) {
  const faults: string[] = []
  const read = shape.read(valueNode(value), {
    add: ({ path }, found, allowed) => faults.push(`${path}: ${found}, ${allowed}`),
    lineOf: () => 1,
  })
  return { read, faults }
}

describe('a table of shapes', () => {
  test('reads values, with the members in camelCase', () => {
    const value = { text: 'ab', either: { a_b: 'c' }, nothing: null, named: { x: 1 }, json: [1, { deep_er: null }] }
    expect(readBy(all, value)).toEqual({
      read: {
        text: 'ab',
        either: { aB: 'c' },
        nothing: null,
        named: new Map([['x', 1]]),
        json: [1, { deep_er: null }],
      },
      faults: [],
    })
  })

  test.each<[object, string]>([
    [{}, 'text: nothing, this field is required'],
    [{ text: 'abcde' }, 'text: 5 characters, at most 4'],
    [{ text: 5 }, 'text: 5, a short text'],
    [{ text: 'a', word: 'dwon' }, 'word: "dwon", "up", "down" (did you mean "down"?)'],
    [{ text: 'a', flag: 'true' }, 'flag: "true", true or false'],
    [{ text: 'a', integer: 1.5 }, 'integer: 1.5, an integer from 1 to 5'],
    [{ text: 'a', list: [] }, 'list: an empty array, 1 to 2 elements'],
    [{ text: 'a', list: ['a', 'B'] }, 'list[1]: "B", a short text'],
    [{ text: 'a', named: { 'x y': 1 } }, 'named["x y"]: an invalid name, a short text'],
    [{ text: 'a', either: 'x' }, 'either: "x", 0 or an object'],
    [{ text: 'a', secret: 'HUSH' }, 'secret: a string (not shown), a short text'],
    [{ text: 'a', json: 2 ** 60 }, 'json: a number that cannot be sent exactly, integers up to'],
    [{ text: 'a', fla: true }, 'fla: an unknown field, text, word, flag'],
  ])('has one fault, for %j', (value, fault) => {
    const { faults } = readBy(all, value)
    expect([faults.length, faults[0]]).toEqual([1, expect.stringContaining(fault)])
  })

  test('lets other names pass when it is open, where null counts as absent', () => {
    const open = objectShape({ a: text, b: nullOr(text) }, { isOpen: true, required: ['a'] })
    expect(readBy(open, { a: 'x', b: null, c: 1 })).toEqual({ read: { a: 'x', b: null }, faults: [] })
    expect(readBy(open, { a: null })).toEqual({ read: undefined, faults: ['a: nothing, this field is required'] })
  })

  test('has the same verdict as its schema, and gives a value or a fault', () => {
    const write = (shape: ValueShape<unknown>): JsonObject => shape.schema(write)
    const isValid = new Ajv2020().compile(write(all))
    const value = fc.constantFrom<unknown>(null, true, 0, 1, 2.5, 'up', 'ab', 'A', 'abcde', [], ['a'], {}, { a: 1 })
    const names = ['text', 'word', 'flag', 'integer', 'number', 'list', 'named', 'either', 'nothing', 'secret', 'json']
    const object = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })
    fc.assert(
      fc.property(fc.oneof(object, fc.jsonValue()), (given) => {
        const { read, faults } = readBy(all, given)
        expect([faults.length === 0, JSON.stringify(given)]).toEqual([isValid(given), JSON.stringify(given)])
        expect(read !== undefined || faults.length > 0).toBe(true)
      }),
      { numRuns: 2_000, seed: 1 },
    )
  })

  test('does not map a value with a fault', () => {
    const doubled = mapShape(integerShape(0, 5), (number) => number * 2)
    expect([readBy(doubled, 4).read, readBy(doubled, 6).read]).toEqual([8, undefined])
  })
})
