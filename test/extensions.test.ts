import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, question } from './client.ts'
import { startService } from './harness.ts'

const root = join(import.meta.dir, '..')
const copy = mkdtempSync(join(tmpdir(), 'svc-extensions-'))

/** The project without sign-in, and with the extension that docs/extensions.md shows in its place. */
beforeAll(() => {
  for (const part of ['src', 'bin', 'schema', 'scripts', 'test', 'package.json', 'tsconfig.json']) cpSync(join(root, part), join(copy, part), { recursive: true })
  rmSync(join(copy, 'test', 'sign-in'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  rmSync(join(copy, 'src', 'extensions', 'provider_auth'), { recursive: true })
  const shown = /<!-- extension -->\n```ts\n([^]*?)```/.exec(readFileSync(join(root, 'docs', 'extensions.md'), 'utf8'))?.[1] ?? 'docs/extensions.md shows none'
  mkdirSync(join(copy, 'src', 'extensions', 'password'))
  writeFileSync(join(copy, 'src', 'extensions', 'password', 'extension.ts'), shown)
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const config = { providers: [{ id: 'echo' }] }
const program = join(copy, 'bin', 'svc')
const file = 'users/default/password/config.json'

describe('without its folder, sign-in', () => {
  test('is missed by nothing else: the types of the rest hold', async () => {
    const check = Bun.spawn(['node', join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '-p', copy], { stdout: 'pipe', stderr: 'pipe' })
    expect(await check.stdout.text()).toBe('')
    expect(await check.exited).toBe(0)
  }, 60_000)

  test('does not exist: a service that should have been closed does not start', async () => {
    await expect(startService(config, { program, flags: ['--auth', 'provider_auth'] })).rejects.toThrow(/exited with 2[^]*there is no extension 'provider_auth': the extensions are password/)
  })

  test('leaves a service that works', async () => {
    await using service = await startService(config, { program })
    expect((await chat(service.url, question({ model: 'echo' }))).status).toBe(200)
    expect((await fetch(`${service.url}/auth`)).status).toBe(404)
  })
})

describe('the extension that the documentation shows', () => {
  const files = { [file]: { text: '{ "word": "$GATE_WORD" }', mode: 0o600 } }
  const environment = { GATE_WORD: 'open, sesame', SVC_AUTH: 'password' }

  test('closes everything but its own route and what is public', async () => {
    await using service = await startService(config, { program, files, environment })
    const statuses = await Promise.all(['/word', '/', '/health', '/ready', '/v1/models', '/metrics', '/nowhere'].map(async (path) => (await fetch(service.url + path)).status))
    expect(statuses).toEqual([200, 200, 200, 200, 401, 401, 401])
  })

  test('lets in who knows the word, and names them in the log', async () => {
    await using service = await startService(config, { program, files, environment })
    expect((await chat(service.url, question({ model: 'echo' }), { headers: { 'x-word': 'open, barley' } })).status).toBe(401)
    expect((await chat(service.url, question({ model: 'echo' }), { headers: { 'x-word': 'open, sesame' } })).status).toBe(200)
    await service.stop()
    expect(service.logs.filter(({ message }) => message === 'request')).toEqual([expect.objectContaining({ user: 'somebody', status: 200 })])
    expect(service.output).toContain('a wrong word')
    expect(service.output).not.toContain('sesame')
  })

  test('with a faulty file does not start', async () => {
    await expect(startService(config, { program, files: { [file]: '{\n  "word": "short" }' }, environment })).rejects.toThrow(/exited with 2[^]*config\.json:2:11: word: found something else, allowed: a text of 8 characters or more/)
  })

  test('without a file is off, and says so', async () => {
    await using service = await startService(config, { program, environment })
    expect((await fetch(`${service.url}/v1/models`)).status).toBe(200)
    await service.stop()
    expect(service.output).toContain('password was asked for and is OFF: there is no ')
  })

  test('is not there while nobody asks for it', async () => {
    await using service = await startService(config, { program, files, environment: { GATE_WORD: 'open, sesame' } })
    expect((await fetch(`${service.url}/word`)).status).toBe(404)
    expect((await fetch(`${service.url}/v1/models`)).status).toBe(200)
  })
})
