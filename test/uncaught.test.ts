import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-uncaught-'))
const preloaded = join(folder, 'throw.ts')
writeFileSync(preloaded, "process.on('SIGUSR2', () => { throw new Error('unexpected') })\n")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('an uncaught error is logged, and the service drains and exits with 1', async () => {
  await using service = await startService(
    { providers: [{ id: 'echo' }] },
    { environment: { BUN_OPTIONS: `--preload ${preloaded}` }, flags: ['--log-format', 'json'] },
  )
  service.signal('SIGUSR2')
  expect(await service.exited).toBe(1)
  await service[Symbol.asyncDispose]()
  expect(service.logs).toContainEqual({
    time: expect.any(String),
    level: 'error',
    message: 'an uncaught error; the service stops',
    error: 'Error: unexpected',
  })
  expect(service.output).not.toContain('\nsvc: ')
})
