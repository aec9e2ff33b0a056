import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { brandLists } from './write-brands.ts'

test.each(brandLists.map((list) => [list.file, list] as const))(
  '%s has the brands of the catalogue, as `npm run brands` writes them',
  async (file, { updated }) => {
    const text = await Bun.file(join(import.meta.dir, '..', file)).text()
    expect(text).toBe(updated(text))
  },
)
