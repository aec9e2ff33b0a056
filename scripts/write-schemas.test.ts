import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { schemas } from './write-schemas.ts'

test.each(schemas.map((schema) => [schema.file, schema] as const))(
  '%s describes the tables that read the file, as `npm run schema` writes it',
  async (file, { updated }) => {
    const text = await Bun.file(join(import.meta.dir, '..', file)).text()
    expect(text).toBe(updated(text))
  },
)
