import { afterAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, pick, question, trailOf } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { reply } from './fakes/replies.ts'
import { provider, runSvcWith, startService, type ServiceUnderTest } from './harness.ts'

/** An upstream that takes one key; others get 401 with the body of OpenAI's API. */
const valid = { key: 'key-1' }
const answersWell = good({ name: 'locked' })
const locked = faultUpstream(async (exchange) => {
  if (exchange.hit.headers.get('authorization') === `Bearer ${valid.key}`) return await answersWell(exchange)
  const error = { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' }
  return await exchange.write(reply(401, JSON.stringify({ error })))
})
const spare = faultUpstream(good({ name: 'spare' }))

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'svc-keys-'))
  folders.push(made)
  return made
}

/** Replaces a folder of secrets as Kubernetes does: `..data` is a link, which one rename replaces. */
async function mountSecret(at: string, files: Readonly<Record<string, string>>): Promise<void> {
  const version = `..${crypto.randomUUID()}`
  await mkdir(join(at, version))
  for (const [name, text] of Object.entries(files)) await writeFile(join(at, version, name), text)
  await symlink(version, join(at, '..data_tmp'))
  await rename(join(at, '..data_tmp'), join(at, '..data'))
  for (const name of Object.keys(files)) await symlink(join('..data', name), join(at, name)).catch(() => undefined)
}

/** The provider that answers, and the classes of failure before it. */
async function asked({ url }: ServiceUnderTest): Promise<readonly (string | undefined)[]> {
  return trailOf(await chat(url, question())).map(({ name, class: failure }) =>
    failure === undefined ? name : failure,
  )
}

async function until(service: ServiceUnderTest, id: string): Promise<number> {
  const began = performance.now()
  for (;;) {
    if ((await asked(service)).at(-1) === id) return performance.now() - began
    if (performance.now() - began > 5_000) throw new Error(`${id} does not answer:\n${service.output}`)
    await Bun.sleep(10)
  }
}

const both = (key: unknown) => ({
  providers: [provider('locked', locked.url, ['m'], { api_key: key }), provider('spare', spare.url)],
})

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('keys in files, %s', (_, flags) => {
  test('keys.env gives a key to a running service, and another one later', async () => {
    valid.key = 'key-1'
    await using service = await startService(both('$LOCKED_KEY'), { flags })
    expect(await asked(service)).toEqual(['spare'])
    await service.write('keys.env', { text: '# of this machine\nexport LOCKED_KEY="key-1"\n', mode: 0o600 })
    expect(await until(service, 'locked')).toBeLessThan(2_500)
    valid.key = 'key-2'
    await service.write('keys.env', { text: 'LOCKED_KEY=key-2\n', mode: 0o600 })
    await until(service, 'locked')
    expect(service.output).not.toContain('key-2')
  }, 30_000)

  test('a key file is followed through the links of Kubernetes', async () => {
    valid.key = 'key-1'
    const secrets = await folder()
    await mountSecret(secrets, { groq: 'key-1\n' })
    await using service = await startService(both({ file: join(secrets, 'groq') }), { flags })
    expect(await asked(service)).toEqual(['locked'])
    valid.key = 'key-2'
    await mountSecret(secrets, { groq: 'key-2\n' })
    await until(service, 'locked')
  }, 30_000)
})

test('keys.env alone takes the place of the echo, in a service without a configuration', async () => {
  await using service = await startService(undefined)
  const ids = async () =>
    pick(await fetch(`${service.url}/api/providers`).then((answer) => answer.json()), 'providers', 0, 'id')
  expect(await ids()).toBe('echo')
  await service.write('keys.env', { text: 'GROQ_API_KEY=key-1\n', mode: 0o600 })
  for (let wait = 0; wait < 300 && (await ids()) === 'echo'; wait++) await Bun.sleep(10)
  expect(await ids()).toBe('groq')
})

test('"$file:PATH" reads a file, as the object does', async () => {
  valid.key = 'key-1'
  const credentials = await folder()
  await writeFile(join(credentials, 'groq'), 'key-1')
  for (const key of [`$file:${join(credentials, 'groq')}`, '$file:groq']) {
    await using service = await startService(both(key), { environment: { CREDENTIALS_DIRECTORY: credentials } })
    expect(await asked(service)).toEqual(['locked'])
  }
})

test('the variables of the process come before keys.env', async () => {
  valid.key = 'key-1'
  await using service = await startService(both('$LOCKED_KEY'), {
    environment: { LOCKED_KEY: 'key-1' },
    files: { 'keys.env': { text: 'LOCKED_KEY=other\n', mode: 0o600 } },
  })
  expect(await asked(service)).toEqual(['locked'])
})

test('a refused key is read again at once, and the attempt repeated', async () => {
  valid.key = 'key-1'
  const path = join(await folder(), 'groq')
  await writeFile(path, 'key-1')
  await using service = await startService(both({ file: path }))
  expect(await asked(service)).toEqual(['locked'])
  valid.key = 'key-2'
  await writeFile(path, 'key-2')
  // Sooner than a watch that waits for the end of the writing.
  expect(await asked(service)).toEqual(['locked'])
  // A file that never was, such as keys.env here, is not missed when all are read again.
  valid.key = 'key-3'
  await asked(service)
  expect(service.output).not.toContain('is gone')
})

test('20 changes of a key under load lose no request', async () => {
  valid.key = 'key-0'
  const path = join(await folder(), 'groq')
  await writeFile(path, 'key-0')
  const accepted = new Set(['key-0'])
  const seen = new Set<string>()
  const changing = faultUpstream(async (exchange) => {
    const key = exchange.hit.headers.get('authorization')?.slice('Bearer '.length) ?? ''
    seen.add(key)
    if (accepted.has(key)) return await answersWell(exchange)
    return await exchange.write(reply(401, '{"error":{"message":"Incorrect API key provided."}}'))
  })
  await using service = await startService({
    providers: [provider('locked', changing.url, ['m'], { api_key: { file: path } })],
  })
  let isOver = false
  const statuses: number[] = []
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) statuses.push((await chat(service.url, question())).status)
  })
  for (let round = 1; round <= 20; round++) {
    // Owners end the old key when the new one is in use. Requests under way still have the old one.
    accepted.add(`key-${round}`)
    await writeFile(`${path}.new`, `key-${round}`)
    await rename(`${path}.new`, path)
    for (let wait = 0; wait < 500 && !seen.has(`key-${round}`); wait++) await Bun.sleep(10)
    accepted.delete(`key-${round - 1}`)
  }
  isOver = true
  await Promise.all(load)
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect(statuses.length).toBeGreaterThan(100)
  expect([...accepted]).toEqual(['key-20'])
}, 30_000)

test('an emptied, unreadable or removed file leaves the key as it was', async () => {
  valid.key = 'key-1'
  const path = join(await folder(), 'groq')
  await writeFile(path, 'key-1')
  await using service = await startService(both({ file: path }))
  expect(await asked(service)).toEqual(['locked'])
  for (const change of [() => writeFile(path, ''), () => writeFile(path, 'two\nlines'), () => rm(path)]) {
    await change()
    await Bun.sleep(200)
    expect(await asked(service)).toEqual(['locked'])
  }
  expect(service.output).toContain('a key file is gone; its former keys stay in use')
}, 20_000)

test('a fault of keys.env names its line, and no value', async () => {
  await using service = await startService(both('$LOCKED_KEY'))
  await service.write('keys.env', { text: 'LOCKED_KEY=hidden-1\nhidden-2\nLOCKED_KEY=hidden-3\n', mode: 0o600 })
  for (let round = 0; round < 300 && !service.output.includes('keys.env:2'); round++) await Bun.sleep(10)
  expect(service.output).toContain('keys.env:2:1: found a line without NAME=')
  expect(service.output).toContain('keys.env:3:1: found a duplicate name')
  expect(service.output).not.toContain('hidden')
})

test('commands read keys from files, and name a file without a key', async () => {
  const home = await folder()
  const credentials = await folder()
  await writeFile(join(home, 'keys.env'), 'LOCKED_KEY=key-1\n', { mode: 0o600 })
  await writeFile(join(credentials, 'groq'), 'key-1')
  const entries = [
    provider('variable', locked.url, ['m'], { api_key: '$LOCKED_KEY' }),
    provider('credential', locked.url, ['m'], { api_key: { file: 'groq' } }),
    provider('missing', locked.url, ['m'], { api_key: { file: '/nowhere/groq' } }),
    provider('folder', locked.url, ['m'], { api_key: { file: home } }),
  ]
  await writeFile(join(home, 'providers.json'), JSON.stringify({ providers: entries }))
  const { out } = await runSvcWith({ CREDENTIALS_DIRECTORY: credentials }, home, 'providers')
  expect(out).toContain('the file /nowhere/groq is missing or empty')
  expect(out).toContain(`the file ${home} does not hold what it should`)
  expect(out.match(/the file/g)).toHaveLength(2)
})

describe('a key typed on the page', () => {
  /** Sends a change of the providers, as the page does. */
  async function change(service: ServiceUnderTest, body: object, headers: Readonly<Record<string, string>> = {}) {
    const state = await fetch(`${service.url}/api/providers`).then((answer) => answer.json())
    const version = pick(state, 'version') ?? 'missing'
    const answer = await fetch(`${service.url}/api/providers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ version, ...body }),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }

  const entry = { baseUrl: locked.url, models: ['m'] }

  test('is used by the next request, and shown nowhere', async () => {
    valid.key = 'typed-1'
    await using service = await startService({ providers: [provider('spare', spare.url)] })
    const added = await change(service, { id: 'lab', change: 'add', entry: { ...entry, key: 'typed-1' } })
    expect(added.status).toBe(200)
    expect((await chat(service.url, question({ model: 'lab/m' }))).status).toBe(200)
    valid.key = 'typed-2'
    const edited = await change(service, { id: 'lab', change: 'edit', edit: { key: 'typed-2' } })
    expect((await chat(service.url, question({ model: 'lab/m' }))).status).toBe(200)
    const settings = await fetch(`${service.url}/api/providers/settings?id=lab`).then((answer) => answer.text())
    const keysEnv = join(service.home, 'keys.env')
    expect((await stat(keysEnv)).mode & 0o777).toBe(0o600)
    expect(await readFile(keysEnv, 'utf8')).toEndWith('SVC_KEY_LAB=typed-2\n')
    expect(await readFile(service.file, 'utf8')).toContain('"api_key": "$SVC_KEY_LAB"')
    for (const shown of [added.text, edited.text, settings, service.output]) expect(shown).not.toContain('typed')
    expect(service.output).toContain('a key was written on the page')
  })

  test('is tried before it is written', async () => {
    valid.key = 'typed-1'
    await using service = await startService({ providers: [provider('spare', spare.url)] })
    const look = (key: string) =>
      fetch(`${service.url}/api/providers/look`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'lab', entry: { baseUrl: locked.url, key } }),
      }).then((answer) => answer.text())
    expect(await look('wrong')).toContain('401')
    // A list of models is no answer of this upstream, but the key was accepted.
    expect(await look('typed-1')).not.toContain('401')
    expect(await Bun.file(join(service.home, 'keys.env')).exists()).toBe(false)
  })

  test.each([
    ['from a page without https', { origin: 'http://10.0.0.5:8000', host: '10.0.0.5:8000' }, 'typed-1', 403],
    ['with a space', {}, 'typed 1', 400],
    ['with a line break', {}, 'typed-1\nB=2', 400],
    ['that names a variable', {}, '$HOME', 400],
    ['that is too long', {}, 'typed'.repeat(2_000), 400],
  ])('%s is refused', async (_, headers, key, status) => {
    await using service = await startService({ providers: [provider('spare', spare.url)] })
    const answer = await change(service, { id: 'lab', change: 'add', entry: { ...entry, key } }, headers)
    expect([answer.status, answer.text.includes(key)]).toEqual([status, false])
    expect(await Bun.file(join(service.home, 'keys.env')).exists()).toBe(false)
  })

  test('for another address is never sent to the present one', async () => {
    valid.key = 'typed-1'
    const sent: (string | undefined)[] = []
    const present = faultUpstream(async (exchange) => {
      sent.push(exchange.hit.headers.get('authorization'))
      return await answersWell(exchange)
    })
    await using service = await startService(
      { providers: [provider('spare', spare.url), { id: 'lab', base_url: present.url, api_key: '$SVC_KEY_LAB' }] },
      { files: { 'keys.env': { text: 'SVC_KEY_LAB=before\n', mode: 0o600 } } },
    )
    const edit = { baseUrl: locked.url, models: ['m'], key: 'typed-1' }
    expect((await change(service, { id: 'lab', change: 'edit', edit })).status).toBe(200)
    expect((await chat(service.url, question({ model: 'lab/m' }))).status).toBe(200)
    expect(await readFile(join(service.home, 'keys.env'), 'utf8')).toBe('SVC_KEY_LAB=before\nSVC_KEY_LAB_2=typed-1\n')
    expect(sent.filter((each) => each !== 'Bearer before')).toEqual([])
    present.stop()
  })

  test('goes to no other address without being typed again, neither tried nor saved', async () => {
    valid.key = 'typed-1'
    const stranger = faultUpstream()
    await using service = await startService({ providers: [provider('spare', spare.url)] })
    expect((await change(service, { id: 'lab', change: 'add', entry: { ...entry, key: 'typed-1' } })).status).toBe(200)
    const elsewhere = { baseUrl: stranger.url, keyVariable: 'SVC_KEY_LAB' }
    const moved = await change(service, { id: 'lab', change: 'edit', edit: { baseUrl: stranger.url } })
    const added = await change(service, { id: 'other', change: 'add', entry: elsewhere })
    const look = () =>
      fetch(`${service.url}/api/providers/look`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'other', entry: elsewhere }),
      })
    expect([moved.status, added.status, (await look()).status]).toEqual([400, 400, 400])
    expect(moved.text).toContain("Type the key again: that of 'lab' goes to no other address.")
    // Nor when its provider is gone.
    expect((await change(service, { id: 'lab', change: 'remove' })).status).toBe(200)
    const later = await look()
    expect([later.status, await later.text()]).toEqual([400, expect.stringContaining("is no provider's now")])
    expect(stranger.hits).toEqual([])
    stranger.stop()
  })

  test('has no name that a header of another provider uses', async () => {
    await using service = await startService(
      { providers: [provider('spare', spare.url, ['m'], { headers: { 'x-key': '$SVC_KEY_LAB' } })] },
      { files: { 'keys.env': { text: 'SVC_KEY_LAB=before\n', mode: 0o600 } } },
    )
    expect((await change(service, { id: 'lab', change: 'add', entry: { ...entry, key: 'typed-1' } })).status).toBe(200)
    expect(await readFile(join(service.home, 'keys.env'), 'utf8')).toBe('SVC_KEY_LAB=before\nSVC_KEY_LAB_2=typed-1\n')
  })

  test.each([
    ['a brand at another address', { id: 'openai', edit: { baseUrl: 'http://127.0.0.1:9/v1', key: 'typed-1' } }],
    ['a variable of another brand', { id: 'openai', edit: { key: 'typed-1', keyVariable: 'ANTHROPIC_API_KEY' } }],
    ['a variable of another provider', { id: 'openai', edit: { key: 'typed-1', keyVariable: 'SVC_KEY_LAB' } }],
    ['a file', { id: 'lab', edit: { keyVariable: 'file:/etc/hostname' } }],
    ['a name that is none', { id: 'openai', edit: { key: 'typed-1', keyVariable: 'SVC_KEY_X)(' } }],
    ['a provider that is not there', { id: 'other', edit: { key: 'typed-1' } }],
  ])('of %s is not written', async (_, wanted) => {
    const lab = provider('lab', locked.url, ['m'], { api_key: '$SVC_KEY_LAB' })
    const text = 'OPENAI_API_KEY=before\nSVC_KEY_LAB=before\n'
    await using service = await startService(
      { providers: [provider('spare', spare.url), lab, { id: 'openai', models: ['m'] }] },
      { files: { 'keys.env': { text, mode: 0o600 } } },
    )
    expect((await change(service, { ...wanted, change: 'edit' })).status).toBeWithin(400, 405)
    expect(await readFile(join(service.home, 'keys.env'), 'utf8')).toBe(text)
  })

  test('is not written for a file that has changed meanwhile, nor beneath a variable of the process', async () => {
    await using service = await startService(
      { providers: [provider('spare', spare.url)] },
      { environment: { SVC_KEY_LAB: 'of-the-process' } },
    )
    const stale = await change(service, {
      version: 'old',
      id: 'lab',
      change: 'add',
      entry: { ...entry, key: 'typed-1' },
    })
    const hidden = await change(service, {
      ...{ id: 'lab', change: 'add' },
      entry: { ...entry, key: 'typed-1', keyVariable: 'SVC_KEY_LAB' },
    })
    expect([stale.status, hidden.status]).toEqual([409, 400])
    expect(await Bun.file(join(service.home, 'keys.env')).exists()).toBe(false)
    valid.key = 'typed-1'
    expect((await change(service, { id: 'lab', change: 'add', entry: { ...entry, key: 'typed-1' } })).status).toBe(200)
    expect(await readFile(join(service.home, 'keys.env'), 'utf8')).toContain('SVC_KEY_LAB_2=typed-1')
  })
})
