import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'svc-build-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('npm run build makes one executable that serves, from any folder', async () => {
  const executable = join(folder, 'svc')
  const build = Bun.spawn([process.execPath, join(root, 'scripts', 'build.ts'), executable], { stdout: 'pipe', stderr: 'pipe' })
  expect(await build.exited).toBe(0)

  const version = Bun.spawn([executable, '--version'], { cwd: folder, stdout: 'pipe' })
  expect(await version.stdout.text()).toMatch(/^svc \d+\.\d+\.\d+\n$/)

  const service = Bun.spawn([executable, '--port', '0'], { cwd: folder, env: { SVC_HOME: folder, SVC_DRAIN_WINDOW_MS: '0' }, stdout: 'pipe', stderr: 'ignore' })
  let printed = ''
  for await (const piece of service.stdout) {
    printed += new TextDecoder().decode(piece)
    if (printed.includes('\n')) break
  }
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? 'no address was printed'
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'from one file' }] }),
  })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'from one file' } }] })
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)

  // What is found in folders must be in it too.
  mkdirSync(join(folder, 'users', 'default', 'provider_auth'), { recursive: true })
  writeFileSync(join(folder, 'users', 'default', 'provider_auth', 'config.json'), '{"restrict_to":5}')
  const misconfigured = Bun.spawn([executable, '--port', '0', '--auth', 'provider_auth'], { cwd: folder, env: { SVC_HOME: folder }, stdout: 'ignore', stderr: 'pipe' })
  expect(await misconfigured.stderr.text()).toContain('config.json:1:16: restrict_to: found ')
  expect(await misconfigured.exited).toBe(2)
}, 30_000)
