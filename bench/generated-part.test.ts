import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { withGeneratedPart } from './generated-part.ts'

const begin = '<!-- made by the bench from here: relays -->'
const end = '<!-- made by the bench to here: relays -->'

describe('withGeneratedPart', () => {
  test('replaces what is between the marks and nothing else', () => {
    const page = `# Title\n\n${begin}\n\nold\n\n${end}\n\nby hand\n`
    const made = withGeneratedPart(page, 'relays', '| new |\n')
    expect(made).toBe(`# Title\n\n${begin}\n\n| new |\n\n${end}\n\nby hand\n`)
    expect(withGeneratedPart(made, 'relays', '| new |')).toBe(made)
  })

  test.each(['nothing', `${begin} only`, `${end} ${begin}`, `${begin} ${end} ${begin} ${end}`])(
    'refuses %p',
    (page) => {
      expect(() => withGeneratedPart(page, 'relays', 'new')).toThrow('the page needs one part')
    },
  )

  test.each(['relays', 'gateways'] as const)('finds the place of the %s in the page they are for', async (name) => {
    const page = await Bun.file(join(import.meta.dir, 'results/tables.md')).text()
    expect(withGeneratedPart(page, name, 'a new table')).toContain('a new table')
  })
})
