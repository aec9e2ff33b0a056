import { describe, expect, test } from 'bun:test'
import { applyEdits, join, splice } from './splice.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('splice', () => {
  test('replaces, inserts and removes', () => {
    const pieces = splice(encode('0123456789'), [
      { start: 0, end: 0, replacement: encode('<') },
      { start: 2, end: 4, replacement: encode('two-three') },
      { start: 5, end: 7, replacement: new Uint8Array(0) },
      { start: 10, end: 10, replacement: encode('>') },
    ])
    expect(decode(join(pieces))).toBe('<01two-three4789>')
  })

  test('does not copy the bytes', () => {
    const bytes = encode('0123456789')
    const pieces = splice(bytes, [{ start: 4, end: 5, replacement: encode('x') }])
    expect(pieces.map((piece) => piece.buffer === bytes.buffer)).toEqual([true, false, true])
    expect(join(splice(bytes, []))).toBe(bytes)
  })
})

describe('applyEdits', () => {
  test('takes edits in any order', () => {
    const edits = [
      { start: 7, end: 9, replacement: encode('x') },
      { start: 0, end: 2, replacement: encode('y') },
    ]
    expect(decode(applyEdits(encode('0123456789'), edits))).toBe('y23456x9')
  })

  test('returns the same bytes without edits', () => {
    const bytes = encode('0123')
    expect(applyEdits(bytes, [])).toBe(bytes)
  })
})
