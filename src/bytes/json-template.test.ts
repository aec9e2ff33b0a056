import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLike, jsonTemplate, type Hole } from './json-template.ts'
import { encode, utf8 } from './text.ts'

const first = '{"type":"delta","number":12,"delta":{"text":"Hello"}}'
function hole(kind: Hole['kind'], value: string): Hole {
  const start = first.indexOf(value)
  return { kind, start, end: start + value.length }
}
const template = jsonTemplate(encode(first), [hole('digits', '12'), hole('text', 'Hello')])

function valuesIn(text: string): readonly string[] | undefined {
  const bytes = encode(text)
  const found: number[] = []
  if (!isLike(bytes, template, found)) return undefined
  return [utf8(bytes, found[0], found[1]), utf8(bytes, found[2], found[3])]
}

describe('isLike', () => {
  test.each([
    [first, ['12', 'Hello']],
    ['{"type":"delta","number":0,"delta":{"text":""}}', ['0', '']],
    ['{"type":"delta","number":345,"delta":{"text":" you, {}"}   } ', ['345', ' you, {}']],
    ['{"type":"delta","number":3,"delta":{"text":"a"} }', ['3', 'a']],
  ])('%s › has other values', (text, values) => expect(valuesIn(text)).toEqual(values))

  test.each([
    ['a number with a leading zero', '{"type":"delta","number":01,"delta":{"text":"a"}}'],
    ['no number', '{"type":"delta","number":,"delta":{"text":"a"}}'],
    ['a fraction', '{"type":"delta","number":1.5,"delta":{"text":"a"}}'],
    ['an escape', '{"type":"delta","number":1,"delta":{"text":"a\\n"}}'],
    ['bytes above 0x7e', '{"type":"delta","number":1,"delta":{"text":"ä"}}'],
    ['another type', '{"type":"delfa","number":1,"delta":{"text":"a"}}'],
    ['a space elsewhere', '{"type": "delta","number":1,"delta":{"text":"a"}}'],
    ['a tab', '{"type":"delta","number":1,"delta":{"text":"a"}\t}'],
    ['more behind it', '{"type":"delta","number":1,"delta":{"text":"a"}}x'],
    ['one that is cut', '{"type":"delta","number":1,"delta":{"text":"a"}'],
    ['nothing', ''],
  ])('%s › is not like it', (_, text) => expect(valuesIn(text)).toBeUndefined())

  test('a template of a padded event › fits events with other padding', () => {
    const padded = encode('{"delta":{"text":"a"}    }  ')
    const own = jsonTemplate(padded, [{ kind: 'text', start: 18, end: 19 }])
    for (const text of ['{"delta":{"text":"bc"}}', '{"delta":{"text":"bc"} }'])
      expect([text, isLike(encode(text), own, [])]).toEqual([text, true])
  })

  test('only valid JSON is like it', () => {
    const piece = fc.constantFrom('{"type":"delta","number":', '1', '0', ',"delta":{"text":"', 'a', '"', '}', ' ', '\\')
    const given = fc.oneof(
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
      fc
        .tuple(fc.nat(), fc.string())
        .map(([number, text]) => JSON.stringify({ type: 'delta', number, delta: { text } })),
    )
    fc.assert(
      fc.property(given, (text) => {
        const values = valuesIn(text)
        if (values === undefined) return
        const { number, delta } = JSON.parse(text)
        expect([String(number), delta.text]).toEqual([...values])
      }),
    )
  })
})
