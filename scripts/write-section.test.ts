import { describe, expect, test } from 'bun:test'
import { NoSuchSection, withSection } from './write-section.ts'

const begin = '<!-- figures: begin -->\n',
  end = '<!-- figures: end -->\n'

describe('a section of a document', () => {
  test('takes the place of the one before, and nothing else changes', () => {
    const text = `# Title\n${begin}old\n${end}after\n`
    const once = withSection(text, 'figures', 'new $1\n')
    expect(once).toBe(`# Title\n${begin}\nnew $1\n\n${end}after\n`)
    expect(withSection(once, 'figures', 'new $1')).toBe(once)
  })

  test.each([
    ['has no marker', 'text'],
    ['has no end', begin],
    ['ends before it begins', `${end}${begin}`],
    ['begins twice', `${begin}${begin}${end}`],
    ['ends twice', `${begin}${end}${end}`],
  ])('is refused where the document %s', (_, text) => {
    expect(() => withSection(text, 'figures', 'new')).toThrow(NoSuchSection)
  })
})
