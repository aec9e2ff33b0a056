import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parse, type ParseError } from 'jsonc-parser'
import { ConfigError } from '../config.ts'
import { editConfig, type ConfigEdit } from './edit-config.ts'

const text = `{
  // order is try-order
  "providers": [
    // fast
    { "id": "a", "enabled": true }, // first, cheap
    /* slow */ { "id": "b" }
    , // odd
    // last resort
    { "id": "c" } // third
  ]
}
`

function ids(edited: string): readonly string[] {
  const value: unknown = parse(edited, [], { allowTrailingComma: true })
  return JSON.stringify(value).match(/(?<="id":")\w+/g) ?? []
}

function readArray(edited: string): unknown[] {
  const faults: ParseError[] = []
  const value: unknown = parse(edited, faults, { allowTrailingComma: true })
  expect(faults).toEqual([])
  return Array.isArray(value) ? value : []
}

function comments(edited: string): readonly string[] {
  return (edited.match(/\/\/.*|\/\*.*?\*\//g) ?? []).map((comment) => comment.trim()).sort()
}

describe('editConfig', () => {
  test('changes one value only', () => {
    const edited = editConfig(text, [{ kind: 'set', path: ['providers', 0, 'enabled'], value: false }])
    expect(edited).toBe(text.replace('true', 'false'))
  })

  test('adds a missing member', () => {
    const edited = editConfig(text, [{ kind: 'set', path: ['limits', 'deadline_ms'], value: 5 }])
    expect(parse(edited)).toMatchObject({ limits: { deadline_ms: 5 } })
    expect(comments(edited)).toEqual(comments(text))
  })

  test('adds a provider at the end and in between', () => {
    const edited = editConfig(text, [
      { kind: 'insert', path: ['providers', -1], value: { id: 'd' } },
      { kind: 'insert', path: ['providers', 1], value: { id: 'e' } },
    ])
    expect(ids(edited)).toEqual(['a', 'e', 'b', 'c', 'd'])
    expect(comments(edited)).toEqual(comments(text))
  })

  test.each([
    [0, 'bc', ['// fast', '// first, cheap']],
    [1, 'ac', ['/* slow */', '// odd']],
    [2, 'ab', ['// last resort', '// third']],
  ])('removes provider %d and its comments, and no other', (index, left, gone) => {
    const edited = editConfig(text, [{ kind: 'remove', path: ['providers', index] }])
    expect(ids(edited).join('')).toBe(left)
    expect(comments(edited)).toEqual(comments(text).filter((comment) => !gone.includes(comment)))
  })

  test.each([
    ['{ "a": 1, "b": 2, "c": 3 }', ['b'], '{ "a": 1, "c": 3 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', ['a', 'b', 'c'], '{ }'],
    [
      '{\n  // one\n  "a": 1, // first\n  /* two */ "b": { "d": 2 }, // second\n  "c": 3 // third\n}',
      ['b'],
      '{\n  // one\n  "a": 1, // first\n  "c": 3 // third\n}',
    ],
    ['{\n  "a": 1, // first\n  "c": 3 // third\n}', ['c'], '{\n  "a": 1 // first\n}'],
  ])('removes members with their comments, and no others: %j, %j', (before, names, after) => {
    expect(
      editConfig(
        before,
        names.map((name) => ({ kind: 'remove', path: [name] })),
      ),
    ).toBe(after)
  })

  test('adds and removes items in common layouts', () => {
    const before = '{\n  "providers": [\n    // one\n    { "id": "a" },\n\n    // more to come\n  ],\n}\n'
    const added = editConfig(before, [{ kind: 'insert', path: ['providers', -1], value: { id: 'b', models: ['x'] } }])
    expect(added).toBe(
      '{\n  "providers": [\n    // one\n    { "id": "a" },\n' +
        '    { "id": "b", "models": [ "x" ] },\n\n    // more to come\n  ],\n}\n',
    )
    expect(editConfig(added, [{ kind: 'remove', path: ['providers', 1] }])).toBe(before)
    const disabled = editConfig(before, [{ kind: 'set', path: ['providers', 0, 'enabled'], value: false }])
    expect(disabled).toBe(before.replace('"a" }', '"a", "enabled": false }'))
  })

  test('adds a short member on the line of its object, even if the line is long', () => {
    const long = `{"providers":[{ "id": "a", "headers": { "x-a": "${'y'.repeat(120)}" } }]}`
    expect(editConfig(long, [{ kind: 'set', path: ['providers', 0, 'enabled'], value: false }])).toBe(
      long.replace('" } }', '" }, "enabled": false }'),
    )
  })

  test.each(['{"providers":[]}', '{"providers":[],}', '{"providers":[\n// none\n]}', '{}'])(
    'adds the first provider to %j',
    (empty) => {
      const edited = editConfig(empty, [{ kind: 'insert', path: ['providers', -1], value: { id: 'a' } }])
      expect(ids(edited)).toEqual(['a'])
      expect(comments(edited)).toEqual(comments(empty))
    },
  )

  test('writes long values over several lines', () => {
    const value = { id: 'b', headers: { 'x-a': 'y'.repeat(100) } }
    const edited = editConfig(text, [{ kind: 'insert', path: ['providers', -1], value }])
    expect(edited).toContain('\n    {\n      "id": "b",\n      "headers": {\n        "x-a"')
  })

  test.each([
    [0, 1, 'bac'],
    [0, 2, 'bca'],
    [2, 0, 'cab'],
    [1, 2, 'acb'],
    [1, 1, 'abc'],
  ])('moves provider %d to %d with its comments', (from, to, order) => {
    const edited = editConfig(text, [{ kind: 'move', path: ['providers'], from, to }])
    expect(ids(edited).join('')).toBe(order)
    expect(comments(edited)).toEqual(comments(text))
    expect(edited).toMatch(/\/\/ fast\n\s*\{ "id": "a", "enabled": true \},? \/\/ first, cheap\n/)
    expect(edited).toMatch(/\/\/ last resort\n\s*\{ "id": "c" \},? \/\/ third\n/)
  })

  test('moves back to where it was', () => {
    const there: ConfigEdit = { kind: 'move', path: ['providers'], from: 0, to: 2 }
    const tidy = '{"providers": [\n  {"id": "a"}, // 1\n  {"id": "b"}, // 2\n  {"id": "c"}, // 3\n]}'
    expect(editConfig(tidy, [there, { ...there, from: 2, to: 0 }])).toBe(tidy)
  })

  test('moves within one line', () => {
    expect(editConfig('{"a": ["x", "y", "z"]}', [{ kind: 'move', path: ['a'], from: 2, to: 0 }])).toBe(
      '{"a": ["z", "x", "y"]}',
    )
  })

  test('moves an item with all its comments, for any layout of comments, commas and line breaks', () => {
    const blank = fc.constantFrom('', ' ', '\n  ', '\r\n\t')
    const comment = fc.constantFrom('', '/* c1, x */', '// c2, y\n', '/*]*/', '// [\r\n')
    const gap = fc.tuple(blank, comment, blank, comment, blank).map((parts) => parts.join(''))
    const value = fc.constantFrom('"a,b"', '{"id": "z"}', '[1, 2]', '{ // in\n "q": [],\n}')
    const items = fc.array(
      fc.tuple(gap, value, gap).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(
        items,
        fc.constantFrom('', ','),
        gap,
        fc.nat(),
        fc.nat(),
        (texts, lastComma, rest, someFrom, someTo) => {
          const array = `[${texts.join()}${lastComma}${lastComma === '' ? '' : rest}]`
          const from = someFrom % texts.length
          const to = someTo % texts.length
          const edited = editConfig(array, [{ kind: 'move', path: [], from, to }])
          const expected = readArray(array)
          expected.splice(to, 0, ...expected.splice(from, 1))
          expect(readArray(edited)).toEqual(expected)
          expect(comments(edited)).toEqual(comments(array))
        },
      ),
      { numRuns: 150 },
    )
  })

  test('keeps tabs and line breaks', () => {
    const edited = editConfig('{\r\n\t"providers": [],\r\n\t"limits": {}\r\n}', [
      { kind: 'set', path: ['limits', 'deadline_ms'], value: 5 },
    ])
    expect(edited).toBe('{\r\n\t"providers": [],\r\n\t"limits": {\r\n\t\t"deadline_ms": 5\r\n\t}\r\n}')
  })

  test.each([
    [3, 0],
    [0, 3],
    [-1, 0],
  ])('refuses to move %d to %d', (from, to) => {
    expect(() => editConfig(text, [{ kind: 'move', path: ['providers'], from, to }])).toThrow(RangeError)
  })

  test('rejects invalid JSON', () => {
    expect(() => editConfig('{"providers": [', [])).not.toThrow()
    expect(() => editConfig('{"providers": [', [{ kind: 'remove', path: ['providers'] }])).toThrow(ConfigError)
  })
})
