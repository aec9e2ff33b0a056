import { describe, expect, test } from 'bun:test'
import { spokenPieces } from './spoken-pieces.ts'

describe('a spoken answer', () => {
  test.each<readonly [string, readonly string[]]>([
    ['', []],
    ['One. Two? **Three**!', ['One.', 'Two?', 'Three!']],
    ['# A *heading*\n\n- [x] done\n- `code` here\n1. first', ['A heading', 'done', 'code here', 'first']],
    ['> quoted\n> > twice', ['quoted', 'twice']],
    [
      'See [the page](https://a.test/x?q=secret "t") or https://b.test/long/path?x=1 now.',
      ['See the page or b.test now.'],
    ],
    ['![a picture](https://a.test/p.png)', ['a picture']],
    ['Before\n```ts\nconst x = 1\n```\nAfter', ['Before', 'Code.', 'After']],
    ['~~~~\n```\nx\n~~~~', ['Code.']],
    ['```\nnot closed', ['Code.']],
    ['| a | b |\n|---|:-:|\n| 1 | 2 |', ['a, b', '1, 2']],
    ['2 * 3 and snake_case stay, _this_ and ~~that~~ not', ['2 * 3 and snake_case stay, this and that not']],
    ['---\n***\n…', []],
  ])('of %p is %p', (markdown, pieces) => {
    expect(spokenPieces(markdown)).toEqual(pieces)
  })

  test('is in short pieces, also without blanks', () => {
    const pieces = spokenPieces(`${'word '.repeat(500)}\n${'x'.repeat(1_000)}`)
    expect(pieces.every((piece) => piece.length <= 200)).toBe(true)
    expect(pieces.join('').replaceAll(' ', '').length).toBe(500 * 4 + 1_000)
  })

  test.each([
    '['.repeat(50_000),
    '*_a'.repeat(20_000),
    '> '.repeat(30_000),
    '`'.repeat(60_000),
    'http://[ http://%zz '.repeat(4_000),
  ])('of hostile text is found soon', (markdown) => {
    const started = performance.now()
    spokenPieces(markdown)
    expect(performance.now() - started).toBeLessThan(1_500)
  })
})
