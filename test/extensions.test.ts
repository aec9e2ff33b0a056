import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { answerOf, chat, parseJson, pick, question } from './client.ts'
import { startService, type ServiceOptions } from './harness.ts'
import { describeInChromium, useChromium } from './page/in-chromium.ts'

const root = join(import.meta.dir, '..')
const copy = mkdtempSync(join(tmpdir(), 'svc-extensions-'))
const document = readFileSync(join(root, 'docs/contributing/extensions.md'), 'utf8')

/** The code block of docs/contributing/extensions.md below the comment `name`. */
function shown(name: string): string {
  return (
    new RegExp(`<!-- ${name} -->\\n\`\`\`tsx?\\n([^]*?)\`\`\``).exec(document)?.[1] ??
    `docs/contributing/extensions.md shows no ${name}`
  )
}

/** Paths of all files with code below a folder. */
function allFilesOf(folder: string): readonly string[] {
  return [...new Bun.Glob('{bench,lab,scripts,src,test,web}/**/*.{ts,tsx}').scanSync({ cwd: folder, absolute: true })]
}

function writeExtension(name: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(copy, 'src', 'extensions', name))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(copy, 'src', 'extensions', name, file), text)
}

/**
 * Copies the project without sign-in, and adds the extensions of docs/contributing/extensions.md: `password`, the same
 * with a part of the page as `gate`, and `fence`, which claims a slot without a part for it.
 */
beforeAll(() => {
  for (const part of [
    'src',
    'web',
    'bin',
    'schema',
    'scripts',
    'test',
    'lab',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ])
    cpSync(join(root, part), join(copy, part), { recursive: true })
  // Tests share code with the bench; packages that the bench has installed are not copied.
  cpSync(join(root, 'bench'), join(copy, 'bench'), {
    recursive: true,
    filter: (path) => !/\/(peers|node_modules|results)(\/|$)/.test(path.slice(root.length)),
  })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  rmSync(join(copy, 'src', 'extensions', 'provider_auth'), { recursive: true })
  const extension = shown('extension')
  const withClaim = (name: string) =>
    extension
      .replace("name: 'password'", `name: '${name}'`)
      .replace("path: '/word'", `path: '/${name}'`)
      .replace('return {\n', `return {\n${shown('claim')}`)
  writeExtension('password', { 'extension.ts': extension })
  writeExtension('gate', { 'extension.ts': withClaim('gate'), 'page-part.tsx': shown('page part') })
  writeExtension('fence', { 'extension.ts': withClaim('fence') })
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const config = { providers: [{ id: 'echo' }] }
const program = join(copy, 'bin', 'svc')
const fileOf = (name: string) => `users/default/${name}/config.json`
const file = fileOf('password')
const word = { authorization: 'Bearer open, sesame' }

function start(options: ServiceOptions = {}): ReturnType<typeof startService> {
  return startService(config, { ...options, program })
}

async function boot(url: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const response = await fetch(`${url}/api/boot`, { headers })
  return parseJson(await response.text())
}

describe('without its folder, sign-in', () => {
  test('is missed by no other file: none imports it', () => {
    const specifier = /\b(?:from|import|import\()\s*'(\.[^']+)'/g
    const importers = allFilesOf(copy).filter((path) =>
      [...readFileSync(path, 'utf8').matchAll(specifier)].some(([, target = '']) =>
        join(dirname(path), target).startsWith(join(copy, 'src', 'extensions', 'provider_auth')),
      ),
    )
    // It writes the description of all routes that come with svc, and is no part of the service.
    const describing = join(copy, 'scripts', 'openapi', 'route-table.ts')
    expect(importers.filter((path) => path !== describing)).toEqual([])
  })

  test('does not exist: a service that should have been closed does not start', async () => {
    await expect(start({ flags: ['--auth', 'provider_auth'] })).rejects.toThrow(
      /exited with 2[^]*there is no extension 'provider_auth': the extensions are fence, gate, keys, password/,
    )
  })

  test('leaves a service that works, with its page', async () => {
    await using service = await start()
    expect((await chat(service.url, question({ model: 'echo' }))).status).toBe(200)
    expect((await fetch(`${service.url}/auth`)).status).toBe(404)
    expect(await boot(service.url)).toMatchObject({ isClosed: false, isOwner: true, parts: [] })
    const page = await (await fetch(service.url, { headers: { accept: 'text/html' } })).text()
    const script = /<script type="module" src="([^"]+)">/.exec(page)?.[1] ?? '/no-script-in-the-page'
    const main = await fetch(service.url + script)
    expect([main.status, main.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  }, 60_000)
})

describe('the extension that the documentation shows', () => {
  test('has no faults for the compiler', async () => {
    const project = join(copy, 'web', 'shown.tsconfig.json')
    const shownFiles = ['password/extension.ts', 'gate/extension.ts', 'gate/page-part.tsx', 'fence/extension.ts']
    writeFileSync(
      project,
      JSON.stringify({
        extends: './tests.tsconfig.json',
        include: [],
        files: shownFiles.map((path) => join('..', 'src', 'extensions', path)),
      }),
    )
    const check = Bun.spawn(
      ['node', join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '-p', project],
      {
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    expect(await check.stdout.text()).toBe('')
    expect(await check.exited).toBe(0)
  })

  const files = { [file]: { text: '{ "word": "$GATE_WORD" }', mode: 0o600 } }
  const environment = { GATE_WORD: 'open, sesame', SVC_AUTH: 'password' }

  test('closes everything but its own route and what is public', async () => {
    await using service = await start({ files, environment })
    const statuses = await Promise.all(
      ['/word', '/', '/health', '/ready', '/api/boot', '/v1/models', '/metrics', '/nowhere', '/api/nowhere'].map(
        async (path) => (await fetch(service.url + path)).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 200, 200, 200, 401, 401, 401, 401])
  })

  test('accepts requests with the word, and logs their user', async () => {
    await using service = await start({ files, environment })
    expect(
      (await chat(service.url, question({ model: 'echo' }), { headers: { authorization: 'Bearer open, barley' } }))
        .status,
    ).toBe(401)
    expect((await chat(service.url, question({ model: 'echo' }), { headers: word })).status).toBe(200)
    await service.stop()
    expect(service.logs.filter(({ message }) => message === 'request')).toEqual([
      expect.objectContaining({ user: 'guest', status: 200 }),
    ])
    expect(service.output).toContain('wrong word')
    expect(service.output).not.toContain('sesame')
  })

  test('replaces SignIn of the page, and gives it the user', async () => {
    await using service = await start({ files, environment })
    const signedOut = await boot(service.url)
    expect(signedOut).toMatchObject({ isClosed: true, isOwner: false, parts: [] })
    expect(pick(signedOut, 'user')).toBeUndefined()
    expect(await boot(service.url, word)).toMatchObject({
      isClosed: true,
      isOwner: true,
      user: { id: 'guest', userName: 'guest', displayName: 'guest', email: '', avatarUrl: '' },
    })
  })

  test('with a faulty file does not start', async () => {
    await expect(start({ files: { [file]: '{\n  "word": "short" }' }, environment })).rejects.toThrow(
      /exited with 2[^]*config\.json:2:11: word: found another value, allowed: a text of 8 characters or more/,
    )
  })

  test('without a file is off, with a line in the log', async () => {
    await using service = await start({ environment })
    expect((await fetch(`${service.url}/v1/models`)).status).toBe(200)
    await service.stop()
    expect(service.output).toContain('password was requested and is OFF: there is no ')
    expect(service.output).toContain('password is OFF: every client that reaches this address can use it.')
  })

  test('is not loaded without --auth', async () => {
    await using service = await start({ files, environment: { GATE_WORD: 'open, sesame' } })
    expect((await fetch(`${service.url}/word`)).status).toBe(404)
    expect((await fetch(`${service.url}/v1/models`)).status).toBe(200)
  })
})

describe('the part of the page that the documentation shows', () => {
  const environment = { GATE_WORD: 'open, sesame' }
  const filesOf = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [fileOf(name), { text: '{ "word": "$GATE_WORD" }', mode: 0o600 }]))

  test('is built with the page, and found by it where its extension is on', async () => {
    await using service = await start({ files: filesOf('gate'), environment, flags: ['--auth', 'gate'] })
    const answer = await boot(service.url)
    expect(pick(answer, 'parts')).toEqual([
      {
        extension: 'gate',
        modules: { en: expect.stringMatching(/^\/assets\/page-part-\w+\.js$/), de: expect.any(String) },
        slots: ['SignIn'],
        settings: { hint: 'It is on the note at the door.' },
      },
    ])
    const module = await fetch(service.url + String(pick(answer, 'parts', 0, 'modules', 'en')))
    expect(await module.text()).toContain('Say the word')
  })

  test('that its folder lacks is left out, and the log says so once', async () => {
    await using service = await start({ files: filesOf('fence'), environment, flags: ['--auth', 'fence'] })
    for (let times = 0; times < 2; times++) expect(pick(await boot(service.url), 'parts')).toEqual([])
    await service.stop()
    expect(service.logs.filter(({ extension, level }) => extension === 'fence' && level === 'warn')).toHaveLength(1)
  })

  test('is refused where two claim one slot: exit code 2, naming both and the slot', async () => {
    await expect(
      start({ files: filesOf('gate', 'fence'), environment, flags: ['--auth', 'gate,fence'] }),
    ).rejects.toThrow(
      /exited with 2[^]*gate and fence both claim the slot 'SignIn' of the page: only one of them can be on/,
    )
  })

  test('stays what it was when a changed file would make two claim one slot; the log says so', async () => {
    await using service = await start({ files: filesOf('gate'), environment, flags: ['--auth', 'gate,fence'] })
    expect(service.output).toContain('gate is on.\nfence is OFF.\n')
    await service.write(fileOf('fence'), { text: '{ "word": "$GATE_WORD" }', mode: 0o600 })
    for (
      let round = 0;
      !service.logs.some(({ level, extension }) => level === 'error' && extension === 'fence');
      round++
    ) {
      if (round === 500) throw new Error(`nothing was said:\n${service.output}`)
      await Bun.sleep(10)
    }
    expect(service.logs.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({
        extension: 'fence',
        reason: expect.stringContaining("gate and fence both claim the slot 'SignIn'"),
      }),
    ])
    // A fault in the file of an extension that was off closes the service: its owner wants it protected.
    expect((await fetch(`${service.url}/v1/models`, { headers: word })).status).toBe(503)
    expect((await fetch(`${service.url}/gate`)).status).toBe(200)
  })
})

describeInChromium('in Chromium, the right word gives access', () => {
  const chromium = useChromium()

  test.each([
    ['password', 'by the SignIn of the page', 'Sign in', 'This token is not accepted.'],
    ['gate', 'by that of the extension', 'Say the word', 'That is not it.'],
  ])(
    'of %s, %s',
    async (name, _, heading, refusal) => {
      await using service = await start({
        files: { [fileOf(name)]: { text: '{ "word": "open, sesame" }', mode: 0o600 } },
        flags: ['--auth', name],
      })
      const tab = chromium.person().tab()
      await tab.goto(service.url)
      await tab.waitFor(`role=heading[name="${heading}"]`)
      await tab.fill('input[type=password]', 'open, barley')
      await tab.press('Enter')
      await tab.waitFor(`text=${refusal}`)
      await tab.fill('input[type=password]', 'open, sesame')
      await tab.press('Enter')
      await tab.waitFor('role=button[name="Account of guest"]')
      expect((await tab.complaints()).filter((complaint) => /polic|trusted/i.test(complaint))).toEqual([])
      // Only the open page has the word: a new page asks for it again.
      await tab.reload()
      await tab.waitFor(`role=heading[name="${heading}"]`)
    },
    30_000,
  )
})

describe('two extensions', () => {
  const environment = { GATE_WORD: 'open, sesame', OTHER_WORD: 'open, barley' }

  test('must both accept a request', async () => {
    const files = {
      [file]: { text: '{ "word": "$GATE_WORD" }', mode: 0o600 },
      [fileOf('gate')]: { text: '{ "word": "$OTHER_WORD" }', mode: 0o600 },
    }
    await using service = await start({ files, environment, flags: ['--auth', 'password', '--auth', 'gate'] })
    for (const path of ['/word', '/gate']) expect((await fetch(service.url + path)).status).toBe(200)
    for (const authorization of ['Bearer open, sesame', 'Bearer open, barley']) {
      const answer = await fetch(`${service.url}/v1/models`, { headers: { authorization } })
      expect(answerOf(answer, await answer.text()).status).toBe(401)
    }
  })

  test('that agree admit a request', async () => {
    const files = {
      [file]: { text: '{ "word": "$GATE_WORD" }', mode: 0o600 },
      [fileOf('gate')]: { text: '{ "word": "$GATE_WORD" }', mode: 0o600 },
    }
    await using service = await start({ files, environment: { ...environment, SVC_AUTH: 'password, gate' } })
    expect((await fetch(`${service.url}/v1/models`, { headers: word })).status).toBe(200)
  })

  test.each(['password,password', 'password,', ',', 'password,,gate'])(
    'named as %p are a mistake: exit code 2',
    async (names) => {
      await expect(start({ flags: ['--auth', names] })).rejects.toThrow(
        /exited with 2[^]*--auth: found "[^"]*", allowed: none, or names separated by commas, each once/,
      )
    },
  )
})
