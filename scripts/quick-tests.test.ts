import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { allTests, quickTests } from './quick-tests.ts'

const root = join(import.meta.dir, '..')

test('quick tests need no browser, no server and no long time', async () => {
  const quick = await quickTests(root)
  expect(quick.length).toBeGreaterThan(200)
  for (const path of ['web/markdown/markdown.test.tsx', 'test/architecture.test.ts']) expect(quick).toContain(path)
  for (const slow of ['src/stores/redis/redis.test.ts', 'test/page/chat.test.ts', 'test/workers.test.ts']) {
    expect(allTests(root)).toContain(slow)
    expect(quick).not.toContain(slow)
  }
})
