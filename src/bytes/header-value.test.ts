import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readHeaderValue } from './header-value.ts'

const read = (text: string) => {
  const found = readHeaderValue(text)
  return found && [found.value, Object.fromEntries(found.parameters)]
}

describe('a header value with parameters', () => {
  test.each([
    ['', ['', {}]],
    ['audio/mpeg', ['audio/mpeg', {}]],
    [' Multipart/Form-Data ;BOUNDARY=a-b', ['multipart/form-data', { boundary: 'a-b' }]],
    ['form-data; name="a b"; filename="x\\"y"', ['form-data', { name: 'a b', filename: 'x\\"y' }]],
    ["form-data; name=a; filename*=UTF-8''%41", ['form-data', { name: 'a', 'filename*': "UTF-8''%41" }]],
    ['text/plain;', ['text/plain', {}]],
    ['text/plain;;charset=utf-8 ; ', ['text/plain', { charset: 'utf-8' }]],
    ['form-data; name="é"', ['form-data', { name: 'é' }]],
  ] as const)('%s', (text, expected) => {
    expect(read(text)).toEqual([...expected])
  })

  test.each([
    'form-data; name',
    'form-data; name=',
    'form-data; name="a',
    'form-data; name="a"b',
    'form-data; name = a',
    'form-data; name="a"; name="b"',
    'form-data; name=a; NAME=b',
    'form-data; name="a\r\nb"',
    'form-data; name="a\0"',
    `form-data; name="${'x'.repeat(9_000)}"`,
  ])('%s is refused', (text) => {
    expect(readHeaderValue(text)).toBeUndefined()
  })

  test('of any text is read or refused, in linear time', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readHeaderValue(`a;${text}`)))
    const started = performance.now()
    for (const unit of [';', '; ', ';a="\\"', '; a=', '" ']) readHeaderValue(`a;${unit.repeat(4_000)}`.slice(0, 8_000))
    expect(performance.now() - started).toBeLessThan(200)
  })
})
