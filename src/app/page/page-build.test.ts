import { expect, test } from 'bun:test'
import { findPage } from './page-build.ts'

test('a failed build of the page is logged, with the command that repairs it', async () => {
  const lines: unknown[] = []
  const reason = "Cannot find package 'tailwindcss'"
  const page = await findPage({ error: (...line) => void lines.push(line) }, () => Promise.reject(new Error(reason)))
  expect([page, lines]).toEqual([
    undefined,
    [[expect.stringMatching(/no page at \/.*: run "npm install" in \/.+, then start svc again$/), { reason }]],
  ])
})
