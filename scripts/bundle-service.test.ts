import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleService } from './bundle-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-bundle-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a bundle of the same sources is used again, and its stack traces name lines of the sources', async () => {
  const program = await bundleService()
  expect(await bundleService()).toBe(program)
  const main = join(import.meta.dir, '..', 'src', 'main.ts'),
    statement = "process.on('uncaughtException'",
    line =
      1 +
      readFileSync(main, 'utf8')
        .split('\n')
        .findIndex((text) => text.startsWith(statement))
  const preloaded = join(folder, 'throw.ts')
  writeFileSync(
    preloaded,
    "process.on = (name) => { if (name === 'uncaughtException') throw new Error('unexpected') }\n",
  )
  const child = Bun.spawn(['sh', program, '--version'], {
    env: { ...process.env, BUN_OPTIONS: `--preload ${preloaded}` },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toContain(`${main}:${line}:`)
})
