import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { languages } from '../../scripts/inline-texts.ts'
import { measureSizes, sizeLimits } from './sizes.ts'

const root = join(import.meta.dir, '..', '..')

beforeAll(async () => {
  const build = Bun.spawn([process.execPath, join(root, 'scripts', 'build-web.ts'), '--if-stale'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  expect(await build.exited).toBe(0)
}, 120_000)

describe.each(languages)('the page in %s', (language) => {
  test.each(['beforeFirstPaint', 'chatPage', 'panel', 'highlighter', 'formulas', 'style'] as const)(
    '%s is within its limit',
    (name) => {
      const bytes = measureSizes(join(root, 'dist', 'web'), language)[name]
      const passed = bytes > sizeLimits[name] ? `${name} in ${language}: ${bytes} bytes, limit ${sizeLimits[name]}` : ''
      expect(bytes).toBeGreaterThan(1_000)
      expect(passed).toBe('')
    },
  )
})
