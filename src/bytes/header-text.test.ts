import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeHeaderText, encodeHeaderText } from './header-text.ts'

describe('header text', () => {
  test.each([
    ['openai/gpt-4o (fast)', 'openai/gpt-4o (fast)'],
    ['mödel', 'm%C3%B6del'],
    ['千问', '%E5%8D%83%E9%97%AE'],
    ['a\r\nx: y\x7f', 'a%0D%0Ax: y%7F'],
    ['100%', '100%25'],
    ['a\ud800', 'a%EF%BF%BD'],
  ])('%j is %j', (text, value) => {
    expect(encodeHeaderText(text)).toBe(value)
  })

  test('is visible ASCII, and decodes to the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(encodeHeaderText(text)).toMatch(/^[ -~]*$/)
        expect(decodeHeaderText(encodeHeaderText(text))).toBe(text)
      }),
    )
  })

  test('with a malformed escape is returned unchanged', () => {
    expect(decodeHeaderText('50% off')).toBe('50% off')
  })
})
