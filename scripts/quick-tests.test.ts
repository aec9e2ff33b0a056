import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { allTests, estimatedTimings, quickTests } from './quick-tests.ts'

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

test('every test has an estimated duration, and those that start processes the longest', () => {
  const { files } = estimatedTimings(root)
  expect(Object.keys(files)).toEqual([...allTests(root)])
  const slowest = Object.entries(files).toSorted(([, left], [, right]) => right - left)
  for (const [path] of slowest.slice(0, 20)) expect(path).toMatch(/^(?:lab|test)\//)
})
