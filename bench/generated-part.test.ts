import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { withGeneratedPart } from './generated-part.ts'

const begin = '<!-- made by the bench from here -->'
const end = '<!-- made by the bench to here -->'

describe('withGeneratedPart', () => {
  test('replaces what is between the marks and nothing else', () => {
    const page = `# Title\n\n${begin}\n\nold\n\n${end}\n\nby hand\n`
    const made = withGeneratedPart(page, '| new |\n')
    expect(made).toBe(`# Title\n\n${begin}\n\n| new |\n\n${end}\n\nby hand\n`)
    expect(withGeneratedPart(made, '| new |')).toBe(made)
  })

  test.each(['nothing', `${begin} only`, `${end} ${begin}`, `${begin} ${end} ${begin} ${end}`])(
    'refuses %p',
    (page) => {
      expect(() => withGeneratedPart(page, 'new')).toThrow('the page needs one part')
    },
  )

  test('finds its place in the page it is for', async () => {
    const page = await Bun.file(join(import.meta.dir, '../docs/benchmarks.md')).text()
    expect(withGeneratedPart(page, 'a new table')).toContain('a new table')
  })
})
