import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatDuration, harmless, harmlessLines, jsonString } from './shown-text.ts'

test.each([
  [0, '0 ms'],
  [0.4, '0 ms'],
  [-5, '0 ms'],
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [1_234, '1.2 s'],
  [9_949, '9.9 s'],
  [9_960, '10 s'],
  [59_400, '59 s'],
  [59_900, '1 min 0 s'],
  [123_000, '2 min 3 s'],
  [NaN, '–'],
])('formatDuration writes %p ms as %s', (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected)
})

describe('harmless', () => {
  test('escapes control characters, line separators and direction overrides', () => {
    expect(harmless('a\u001b[2J\n\u009b\u202eb\u2028')).toBe('a\\u001b[2J\\u000a\\u009b\\u202eb\\u2028')
  })
  test('leaves other text unchanged', () => {
    expect(harmless('naïve 日本 😀 "quoted"')).toBe('naïve 日本 😀 "quoted"')
  })
  test('keeps line feeds and tabs in text of several lines', () => {
    expect(harmlessLines('a\n\tb\r')).toBe('a\n\tb\\u000d')
  })
})

describe('jsonString', () => {
  test('parses to the same text and contains no dangerous characters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (text) => {
        const json = jsonString(text)
        expect(JSON.parse(json)).toBe(text)
        expect(json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
      }),
    )
  })
  test('shortens long text, even inside a surrogate pair', () => {
    expect(jsonString('abcdef', 3)).toBe('"abc…"')
    expect(jsonString('a😀', 2)).toBe('"a\\ud83d…"')
  })
})
