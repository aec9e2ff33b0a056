import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { historyKeys } from './history-keys.ts'

test('a key in base64 that begins with a slash is a key, and other paths are paths', async () => {
  const key = Buffer.alloc(32, 255).toString('base64')
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-'))
  const path = join(folder, 'key')
  writeFileSync(path, `${key}\n`)
  const ids = []
  for (const given of [key, path]) ids.push((await historyKeys({ SVC_HISTORY_KEY: given }))?.current.id)
  rmSync(folder, { recursive: true })
  expect([key.startsWith('/'), typeof ids[0], ids[1]]).toEqual([true, 'string', ids[0]])
  expect(historyKeys({ SVC_HISTORY_KEY: path })).rejects.toThrow(`SVC_HISTORY_KEY (${path}): the file cannot be read`)
})
