import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../../src/base/testing.ts'
import { groupPieces, splitPieces, type Piece } from './pieces.ts'
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
    const pieces = splitPieces('Some words, and more of them. '.repeat(1_200))
    expect(pieces.length).toBeGreaterThan(3)
    for (const piece of pieces) expect(source(piece)).toEndWith('. ')
  })

  test.each(['word ', 'x', '*_a', '😀', '![a](data:image/png;base64,AAAA) '])(
    'of %p over and over are all of the text, and bounded',
    (part) => {
      const text = `x${part.repeat(20_000)}`,
        pieces = splitPieces(text)
      expect(pieces.map(source).join('')).toBe(text)
      for (const piece of pieces) expect(source(piece).length).toBeLessThanOrEqual(16_000)
      expect(pieces.every((piece) => source(piece).isWellFormed())).toBe(true)
    },
  )

  test('end after a word where no sentence ends', () => {
    for (const piece of splitPieces('words '.repeat(6_000))) expect(source(piece)).toEndWith('words ')
  })

  test('hold what marks set, however many there are', () => {
    const text = `**${'a `b` '.repeat(600)}.** c`
    expect(splitPieces(text)).toEqual([{ kind: 'text', text }])
  })

  test('stay while the text grows, but for the last', () => {
    fc.assert(
      fc.property(fc.array(markdownText, { maxLength: 40 }), fc.nat(), (parts, cut) => {
        const text = parts.join(''),
          before = splitPieces(text.slice(0, cut % (text.length + 1))),
          after = splitPieces(text)
        expect(after.slice(0, Math.max(0, before.length - 2))).toEqual(before.slice(0, Math.max(0, before.length - 2)))
      }),
    )
  })

  test('have the images of the text for themselves, however long', () => {
    const bytes = 'A'.repeat(100_000)
    expect(splitPieces(`a ![b c](data:image/webp;base64,${bytes}) d`)).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'image', alternative: 'b c', source: `data:image/webp;base64,${bytes}` },
      { kind: 'text', text: ' d' },
    ])
    expect(splitPieces(`![](data:image/png;base64,${bytes}`)).toEqual([
      { kind: 'image', alternative: '', source: undefined },
    ])
  })

  test.each([
    '![a](data:image/svg+xml;base64,AAAA)',
    '![a](data:image/png,AAAA)',
    '![a](data:image/png;base64,AA"A)',
    '[a](data:image/png;base64,AAAA)',
    '![a](data:text/html;base64,AAAA)',
  ])('take %p for text', (text) => {
    expect(splitPieces(text)).toEqual([{ kind: 'text', text }])
  })

  test.each(['](data:image/', '![](data:image/png;base64,', '![a](data:image/png;base64,A)'])(
    'of %p over and over are found in linear time',
    (part) => {
      const text = part.repeat(400_000 / part.length)
      expect(processorMs(() => void splitPieces(text))).toBeLessThan(500)
    },
  )
})

describe('parts of a text', () => {
  test('are one for what is not very long, with images', () => {
    const pieces = splitPieces('a ![b](data:image/png;base64,AAAA) c')
    expect(groupPieces(pieces)).toEqual([pieces])
    expect(groupPieces([])).toEqual([])
  })

  test('have about as much in them, but for the last', () => {
    const parts = groupPieces(splitPieces('Some words, and more of them. '.repeat(3_000)))
    expect(parts.length).toBeGreaterThan(4)
    for (const part of parts.slice(0, -1)) expect(part.map(source).join('').length).toBeWithin(16_000, 32_000)
  })
})
