import { expect, test } from 'bun:test'
import { buildPage, findPage } from './page-build.ts'

test('a failed build of the page is logged, with the command that repairs it', async () => {
  const lines: unknown[] = []
  const reason = "Cannot find package 'tailwindcss'"
  const files = await findPage({ error: (...line) => void lines.push(line) }, () => Promise.reject(new Error(reason)))
  expect([await files(), lines]).toEqual([
    undefined,
    [[expect.stringMatching(/no page at \/.*: run "npm install" in \/.+, then start svc again$/), { reason }]],
  ])
})

test('the files of the page are read once, when they are asked for', async () => {
  const files = await findPage({ error: () => {} }, buildPage)
  const page = files()
  expect(files()).toBe(page)
  expect((await page)?.indexes.get('en')?.type).toStartWith('text/html')
})
