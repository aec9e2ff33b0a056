import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { splitPieces, type Piece } from './pieces.ts'
import { markdownText } from './testing.ts'

function source(piece: Piece): string {
  return piece.kind === 'text' ? piece.text : `![${piece.alternative}](${piece.source ?? ''})`
}

describe('pieces of a text', () => {
  test('are one for a text of ordinary length', () => {
    const text = 'A sentence with `code`, **more** and [a link](https://a.example). '.repeat(6)
    expect(splitPieces(text)).toEqual([{ kind: 'text', text }])
  })

  test('end after a sentence where they can', () => {
    const pieces = splitPieces('Some words, and more of them. '.repeat(300))
    expect(pieces.length).toBeGreaterThan(3)
    for (const piece of pieces) expect(source(piece)).toEndWith('. ')
  })

  test.each(['word ', 'x', '*_a', '😀', '![a](data:image/png;base64,AAAA) '])('of %p over and over are all of the text, and small', (part) => {
    const text = part.repeat(5_000), pieces = splitPieces(text)
    expect(pieces.map(source).join('')).toBe(text)
    for (const piece of pieces) expect(source(piece).length).toBeLessThanOrEqual(4_000)
    expect(pieces.every((piece) => source(piece).isWellFormed())).toBe(true)
  })

  test('have few marks', () => {
    for (const piece of splitPieces('*_a'.repeat(5_000))) expect(source(piece).length).toBeLessThan(320)
  })

  test('stay while the text grows, but for the last', () => {
    fc.assert(fc.property(fc.array(markdownText, { maxLength: 40 }), fc.nat(), (parts, cut) => {
      const text = parts.join(''), before = splitPieces(text.slice(0, cut % (text.length + 1))), after = splitPieces(text)
      expect(after.slice(0, Math.max(0, before.length - 2))).toEqual(before.slice(0, Math.max(0, before.length - 2)))
    }))
  })

  test('have the images of the text for themselves, however long', () => {
    const bytes = 'A'.repeat(100_000)
    expect(splitPieces(`a ![b c](data:image/webp;base64,${bytes}) d`)).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'image', alternative: 'b c', source: `data:image/webp;base64,${bytes}` },
      { kind: 'text', text: ' d' },
    ])
    expect(splitPieces(`![](data:image/png;base64,${bytes}`)).toEqual([{ kind: 'image', alternative: '', source: undefined }])
  })

  test.each(['![a](data:image/svg+xml;base64,AAAA)', '![a](data:image/png,AAAA)', '![a](data:image/png;base64,AA"A)', '[a](data:image/png;base64,AAAA)', '![a](data:text/html;base64,AAAA)'])('take %p for text', (text) => {
    expect(splitPieces(text)).toEqual([{ kind: 'text', text }])
  })
})
