import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fileBlock, tokensOf, withFiles } from './file-blocks.ts'

const file = (name: string, text: string) => ({ id: '1', name, text })

describe('files in a message', () => {
  test('come before the text, each in a block with its name', () => {
    expect(withFiles('Sum it up', [file('a.csv', 'x,y\n1,2\n'), file('notes', 'b')])).toBe(
      'File a.csv:\n```csv\nx,y\n1,2\n```\n\nFile notes:\n```\nb\n```\n\nSum it up',
    )
    expect([withFiles('x'), withFiles('', [file('r.PDF', 't')])]).toEqual(['x', 'File r.PDF:\n```\nt\n```'])
  })

  test('cannot end their block, whatever their text and name', () => {
    const texts = fc.array(fc.constantFrom('```', '````', '\n', 'a', '`', '~~~')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, fc.string({ unit: 'binary' }), (text, name) => {
        const lines = fileBlock(file(name, text)).split('\n')
        const fence = /^`+/.exec(lines[1] ?? '')?.[0] ?? ''
        expect(fence.length).toBeGreaterThanOrEqual(3)
        expect(lines.slice(2, -1).join('\n')).not.toContain(fence)
        expect(lines.at(-1)).toBe(fence)
        expect(lines[0]).toMatch(/^File [^`]+:$/)
      }),
    )
  })

  test('have about a token for four characters', () => {
    expect([tokensOf(''), tokensOf('abcde')]).toEqual([0, 2])
  })
})
