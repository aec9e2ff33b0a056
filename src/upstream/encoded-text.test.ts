import { expect, test } from 'bun:test'
import { readings } from './encoded-text.ts'

test.each([
  ['nothing', 'plain & 100 %', []],
  ['percent encoding', 'a%2Bb', ['a+b']],
  ['HTML escapes', '&lt;&#43;&#x2B;&plus;&unknown;', ['<+++&unknown;']],
  ['JSON escapes', String.raw`\"\/\u002b\x2b\n`, ['"/++\n']],
  ['what is not ASCII, as its bytes', String.raw`\u00e4 \ud83d\ude00`, ['\u00c3\u00a4 \u00f0\u009f\u0098\u0080']],
  ['escapes in escapes', '%252B', ['%2B', '+']],
])('undoes %s', (_name, text, expected) => {
  expect([...readings(text)].map((reading) => reading.text)).toEqual([text, ...expected])
})

test('has the offset of each character', () => {
  const [, decoded] = readings('a%2Bb')
  expect([...(decoded?.starts ?? [])]).toEqual([0, 1, 4, 5])
})

test('ends however deep the escapes are', () => {
  const hostile = String.raw`%25255C&amp;amp;%5Cu0026\u0025%26%2325 `.repeat(500)
  const all = [...readings(hostile)]
  expect(all.length).toBeLessThanOrEqual(40)
  expect(all.every(({ text }) => text.length <= hostile.length)).toBeTrue()
})
