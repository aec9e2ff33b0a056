import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pick } from './client.ts'

const root = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'svc-build-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const executable = join(folder, 'svc')
beforeAll(async () => {
  const build = Bun.spawn([process.execPath, join(root, 'scripts', 'build.ts'), executable], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  expect(await build.exited).toBe(0)
}, 60_000)

/** Starts the executable and waits until it prints its address. */
async function start(...flags: readonly string[]) {
  const service = Bun.spawn([executable, '--port', '0', ...flags], {
    cwd: folder,
    env: { SVC_HOME: folder, SVC_DRAIN_WINDOW_MS: '0' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let printed = ''
  for await (const piece of service.stdout) {
    printed += new TextDecoder().decode(piece)
    if (printed.includes('\n')) break
  }
  return { service, address: /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? 'no address was printed' }
}

function writeSettings(settings: object): void {
  const path = join(folder, 'users', 'default', 'provider_auth')
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'config.json'), JSON.stringify(settings), { mode: 0o600 })
}

test('npm run build makes one executable that serves, from any folder', async () => {
  const version = Bun.spawn([executable, '--version'], { cwd: folder, stdout: 'pipe' })
  expect(await version.stdout.text()).toMatch(/^svc \d+\.\d+\.\d+\n$/)

  const { service, address } = await start()
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'from one file' }] }),
  })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'from one file' } }] })
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)

  // Extensions, which are found in folders, must be built in too.
  writeSettings({ restrict_to: 5 })
  const misconfigured = Bun.spawn([executable, '--port', '0', '--auth', 'provider_auth'], {
    cwd: folder,
    env: { SVC_HOME: folder },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect(await misconfigured.stderr.text()).toContain('config.json:1:16: restrict_to: found ')
  expect(await misconfigured.exited).toBe(2)
}, 30_000)

test('the executable has the page in it, and the parts of it that extensions bring', async () => {
  writeSettings({ display_name: 'Octo' })
  const { service, address } = await start('--auth', 'provider_auth')
  const page = await fetch(address, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('content-encoding')]).toEqual([200, 'br'])
  const text = await page.text()
  const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(assets.length).toBeGreaterThan(3)
  for (const path of assets) expect((await fetch(address + path)).status).toBe(200)
  const boot: unknown = await (await fetch(`${address}/api/boot`)).json()
  expect(boot).toMatchObject({ isClosed: true, parts: [{ extension: 'provider_auth', slots: ['SignIn'] }] })
  expect(await (await fetch(address + String(pick(boot, 'parts', 0, 'modules', 'en')))).text()).toContain('Sign Out')
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
}, 30_000)

test('an install without development dependencies has what the page is built from', async () => {
  const tree = join(folder, 'production')
  for (const path of ['web', 'src', 'scripts', 'package-lock.json', 'package.json'])
    cpSync(join(root, path), join(tree, path), { recursive: true })
  const packages: unknown = pick(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')), 'packages')
  const installed = Object.entries(Object(packages))
    .filter(([path, entry]) => path.startsWith('node_modules/') && !pick(entry, 'dev') && !pick(entry, 'link'))
    .flatMap(([path]) => (/\/(?:bun|@oven)(?:\/|$)/.test(path) ? [] : [path]))
  for (const path of installed) cpSync(join(root, path), join(tree, path), { recursive: true })
  const build = Bun.spawn([process.execPath, '--no-install', join(tree, 'scripts', 'build-web.ts')], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect([await build.stderr.text(), await build.exited]).toEqual(['', 0])
}, 60_000)

test('a page that is built needs nothing else installed to be found whole', async () => {
  const tree = join(folder, 'tree')
  for (const path of [
    'web',
    'src',
    'scripts',
    'package-lock.json',
    'package.json',
    join('dist', 'web', 'manifest.json'),
  ])
    cpSync(join(root, path), join(tree, path), { recursive: true })
  const look = Bun.spawn([process.execPath, '--no-install', join(tree, 'scripts', 'build-web.ts'), '--if-stale'], {
    cwd: tree,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect([await look.stderr.text(), await look.exited]).toEqual(['', 0])
})

test('npm packs no test and nothing that only tests need', async () => {
  const pack = Bun.spawn(['npm', 'pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const files = pick(JSON.parse(await pack.stdout.text()), 0, 'files')
  const paths = Array.isArray(files) ? files.map((file) => String(pick(file, 'path'))) : []
  const sources = paths.filter((path) => /\.tsx?$/.test(path))
  expect(sources).toContain('src/main.ts')
  const forTests = sources.filter(
    (path) =>
      /\.test\.tsx?$|\/testing[^/]*$|\/fixtures\//.test(path) ||
      /from '(?:bun:test|fast-check)'/.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(forTests).toEqual([])
}, 30_000)
