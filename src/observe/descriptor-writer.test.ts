import { expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { descriptorWriter } from './descriptor-writer.ts'

test('descriptorWriter writes everything, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'))
  const path = join(folder, 'log')
  const descriptor = openSync(path, 'w')
  const write = descriptorWriter(descriptor)
  await write('é'.repeat(100_000))
  await write('\nend\n')
  closeSync(descriptor)
  expect(readFileSync(path, 'utf8')).toBe(`${'é'.repeat(100_000)}\nend\n`)
  rmSync(folder, { recursive: true })
})

test('descriptorWriter rejects when the descriptor is closed', async () => {
  const descriptor = openSync('/dev/null', 'w')
  closeSync(descriptor)
  await expect(descriptorWriter(descriptor)('x')).rejects.toThrow()
})
