import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { migrations } from '../src/ledger/migrations.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { newKey } from '../src/people/keys/key-form.ts'
import { makeKey, parseKeyRequest, rotateKey } from '../src/people/keys/manage-keys.ts'
import { answerOf, chat, parseJson, pick, question, type Answer } from './client.ts'
import { good } from './fakes/good.ts'
import { startGithub } from './fakes/identity/github.ts'
import { githubClaims, issuerKey, signed, tokenIssuer } from './fakes/token-issuer.ts'
import { runSvc, startService } from './harness.ts'
import { workersOf } from './process-tree.ts'
import { startRig, type Rig } from './rig.ts'
import { startSignIn } from './sign-in/rig.ts'

const program = join(import.meta.dir, '..', 'bin', 'svc')
const auth = ['--auth', 'keys'] as const
/** Processes and changes of keys under load; more by the environment, for a longer run. */
const workers = process.env['SVC_TEST_WORKERS'] ?? '3'
const changes = Number(process.env['SVC_TEST_CHANGES'] ?? 200)

interface Key {
  readonly id: number
  readonly key: string
}

const svcKeys = (home: string, ...argv: readonly string[]) => runSvc(home, 'keys', ...argv)

function keyOf(text: string): Key {
  const value = parseJson(text)
  const [id, key] = [pick(value, 'id'), pick(value, 'key')]
  if (typeof id !== 'number' || typeof key !== 'string') throw new Error(`no key: ${text}`)
  return { id, key }
}

async function make(home: string, ...flags: readonly string[]): Promise<Key> {
  const { out, err } = await svcKeys(home, 'make', '--name', 'indexer', '--json', ...flags)
  return keyOf(out === '' ? err : out)
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

async function send(url: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url + path, { redirect: 'manual', ...init })
  return answerOf(response, await response.text())
}

const statusAndCode = (answer: Answer): string => `${answer.status} ${String(pick(answer.json, 'error', 'code'))}`

describe('with --auth keys', () => {
  let rig: Rig
  let home: string
  beforeAll(async () => {
    rig = await startRig([good({ name: 'a' }), good({ name: 'b' })], { flags: [...auth, '--workers', '3'] })
    home = rig.service.home
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test('only what is public answers without a key, and other paths do not show whether they exist', async () => {
    const { url } = rig.service
    for (const path of ['/', '/health', '/ready', '/api/boot']) expect((await send(url, path)).status).toBe(200)
    for (const path of [
      '/v1/models',
      '/v1/keys',
      '/metrics',
      '/api/requests',
      '/api/models',
      '/v1/nowhere',
      '/nowhere',
    ])
      expect([path, statusAndCode(await send(url, path))]).toEqual([path, '401 authentication_required'])
    expect(statusAndCode(await rig.ask())).toBe('401 authentication_required')
    expect((await send(url, '/api/boot')).json).toMatchObject({ isClosed: true, isOwner: false })
  })

  test('a key opens the API in each format, from the header that its clients send', async () => {
    const { key } = await make(home)
    const { url } = rig.service
    const post = (path: string, body: object, headers: Record<string, string>) =>
      send(url, path, { method: 'POST', body: JSON.stringify(body), headers })
    const messages = question({ max_tokens: 9 })
    const contents = [{ role: 'user', parts: [{ text: 'hello' }] }]
    const answers = [
      await rig.ask({}, bearer(key)),
      await rig.ask({}, bearer(key.slice(3))),
      await post('/v1/messages', messages, { 'x-api-key': key }),
      await post('/v1/responses', { model: 'm', input: 'hello' }, bearer(key)),
      await post('/v1beta/models/m:generateContent', { contents }, { 'x-goog-api-key': key }),
      await send(url, '/v1/models', { headers: bearer(key) }),
      await send(url, '/v1beta/models', { headers: { 'x-goog-api-key': key } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200])
  })

  test('a key that is not valid is 401 in the shape of each format', async () => {
    const { url } = rig.service
    const { key } = await make(home)
    const bad = `${key.slice(0, 20)}${key[20] === 'A' ? 'B' : 'A'}${key.slice(21)}`
    const refusal = { error: { type: 'authentication_error', code: 'invalid_api_key', param: null } }
    for (const wrong of [bad, key.slice(0, -1), newKey('program'), newKey('management')])
      expect((await rig.ask({}, bearer(wrong))).json).toMatchObject(refusal)
    const post = (path: string, headers: Record<string, string>) =>
      send(url, path, { method: 'POST', body: '{}', headers })
    const messages = await post('/v1/messages', { 'x-api-key': bad })
    expect([messages.status, messages.json]).toEqual([
      401,
      expect.objectContaining({ type: 'error', error: expect.objectContaining({ type: 'authentication_error' }) }),
    ])
    const gemini = await post('/v1beta/models/m:generateContent', { 'x-goog-api-key': bad })
    expect([gemini.status, pick(gemini.json, 'error', 'status')]).toEqual([401, 'UNAUTHENTICATED'])
    const responses = await post('/v1/responses', bearer(bad))
    expect([responses.status, pick(responses.json, 'error', 'code')]).toEqual([401, 'invalid_api_key'])
    expect(messages.headers.get('x-should-retry')).toBe('false')
  })

  test('a key of access.json holds in all workers while the file has it, with limits and sums by name', async () => {
    const flags = ['--name', 'ci', '--hash-only', '--json', '--scopes', 'chat,usage:read,log:read']
    const made = parseJson((await svcKeys(home, 'make', ...flags)).out)
    const headers = bearer(String(pick(made, 'key')))
    const asks = (count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await rig.ask({}, headers)).status))
    /** Asks until all workers answer with a status. */
    const untilAll = async (status: number): Promise<void> => {
      while ((await asks(9)).some((each) => each !== status)) await Bun.sleep(20)
    }
    const entry = pick(made, 'entry')
    await rig.service.write('access.json', JSON.stringify({ keys: [entry] }))
    await untilAll(200)
    const { out } = await svcKeys(home, 'list')
    expect(out).toMatch(/ – +ci +sha256 .{8}… +in access\.json +never/)
    const limits = [{ for: 'key:ci', requests: 3, per: 'day' }]
    await rig.service.write('access.json', JSON.stringify({ keys: [entry], limits }))
    await untilAll(429)
    const refused = await rig.ask({}, headers)
    expect(pick(refused.json, 'error', 'message')).toContain('3 requests a day for key:ci')
    expect((await send(rig.service.url, '/v1/key', { headers })).json).toMatchObject({
      ...{ name: 'ci', limits: [{ for: 'key:ci', remaining: 0 }] },
    })
    const keysIn = async (path: string) => (await send(rig.service.url, path, { headers })).text
    while (!(await keysIn('/api/usage?by=key')).includes('"ci"')) await Bun.sleep(20)
    while (!(await keysIn('/api/log?key=ci')).includes('"key:ci"')) await Bun.sleep(20)
    await rig.service.write('access.json', '{}')
    await untilAll(401)
    expect((await svcKeys(home, 'list')).out).not.toContain(' ci ')
  }, 20_000)

  test('a token of an issuer proves a key of access.json in all workers, with its limits', async () => {
    const key = await issuerKey('one')
    using issuer = tokenIssuer([key.jwk])
    const audience = 'https://svc.example.org'
    const token = { issuer: issuer.url, audience, claims: { sub: 'repo:acme/app:*' } }
    const keys = [{ name: 'workflow', scopes: ['chat', 'usage:read'], token }]
    const limits = [{ for: 'key:workflow', requests: 1_000, per: 'day' }]
    const sent = (claims: object) => signed(key, { iss: issuer.url, aud: audience, ...githubClaims, ...claims })
    const [right, other] = [bearer(await sent({})), bearer(await sent({ sub: 'repo:evil/app:ref:refs/heads/main' }))]
    expect(statusAndCode(await rig.ask({}, right))).toBe('401 authentication_required')
    await rig.service.write('access.json', JSON.stringify({ keys, limits }))
    const asks = () => Promise.all(Array.from({ length: 9 }, async () => (await rig.ask({}, right)).status))
    while ((await asks()).some((status) => status !== 200)) await Bun.sleep(20)
    expect(statusAndCode(await rig.ask({}, other))).toBe('401 invalid_token')
    const { json } = await send(rig.service.url, '/v1/key', { headers: right })
    expect(pick(json, 'limits', 0, 'for')).toBe('key:workflow')
    expect((await svcKeys(home, 'list')).out).toMatch(/ – +workflow +token of 127\.0\.0\.1:\d+ +in access\.json/)
    issuer.answer = () => new Response('', { status: 502 })
    expect((await rig.ask({}, right)).status).toBe(200)
    expect(issuer.asked.length).toBeLessThanOrEqual(6)
    await rig.service.write('access.json', '{}')
    while ((await asks()).some((status) => status !== 401)) await Bun.sleep(20)
  }, 20_000)

  test('svc connect asks for the models with a key', async () => {
    const { key } = await make(home)
    const child = Bun.spawn(['sh', program, 'connect', 'codex', '--url', rig.service.url], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, SVC_TOKEN: key },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, code] = await Promise.all([child.stdout.text(), child.exited])
    expect([code, out.includes('model = "m"'), out.includes(key)]).toEqual([0, true, false])
  })

  test('a key uses the models and providers of its grants, and sees no others', async () => {
    const { url } = rig.service
    const { key } = await make(home, '--providers', 'b')
    expect((await rig.ask({}, bearer(key))).content).toStartWith('b-0')
    expect((await rig.ask({ model: 'b/m' }, bearer(key))).status).toBe(200)
    expect(statusAndCode(await rig.ask({ model: 'a/m' }, bearer(key)))).toBe('403 model_not_allowed')
    const listed = await send(url, '/v1/models', { headers: bearer(key) })
    expect(pick(listed.json, 'data')).toEqual([expect.objectContaining({ id: 'm', providers: ['b'] })])
    const other = (await make(home, '--models', 'x*')).key
    for (const model of ['m', 'M', 'a/m', 'unknown'])
      expect(statusAndCode(await rig.ask({ model }, bearer(other)))).toBe('403 model_not_allowed')
    expect(pick((await send(url, '/v1/models', { headers: bearer(other) })).json, 'data')).toEqual([])
    expect(statusAndCode(await send(url, '/v1/models/m', { headers: bearer(other) }))).toBe('404 model_not_found')
    const pinned = (await make(home, '--models', 'm')).key
    expect((await rig.ask({ model: 'a/m' }, bearer(pinned))).status).toBe(200)
    const near = (await make(home, '--networks', '127.0.0.0/8')).key
    const far = (await make(home, '--networks', '192.0.2.0/24')).key
    expect((await rig.ask({}, bearer(near))).status).toBe(200)
    expect(statusAndCode(await rig.ask({}, { ...bearer(far), 'x-forwarded-for': '192.0.2.1' }))).toBe(
      '403 network_not_allowed',
    )
  })

  test('a key opens the routes of its scopes alone, and never the page', async () => {
    const { url } = rig.service
    const paths = ['/v1/models', '/metrics', '/api/requests', '/v1/keys', '/api/models', '/api/providers']
    async function codes(...flags: readonly string[]): Promise<readonly string[]> {
      const { key } = await make(home, ...flags)
      const answers = await Promise.all(paths.map((path) => send(url, path, { headers: bearer(key) })))
      const asked = statusAndCode(await rig.ask({}, bearer(key)))
      return [asked, ...answers.map(statusAndCode)].map((each) => each.replace('403 scope_missing', 'no').slice(0, 3))
    }
    expect(await codes()).toEqual(['200', '200', 'no', 'no', 'no', 'no', 'no'])
    expect(await codes('--scopes', 'metrics:read')).toEqual(['no', 'no', '200', 'no', 'no', 'no', 'no'])
    expect(await codes('--scopes', 'log:read')).toEqual(['no', 'no', 'no', '200', 'no', 'no', 'no'])
    expect(await codes('--kind', 'management')).toEqual(['no', 'no', 'no', 'no', '200', 'no', 'no'])
    const { key } = await make(home)
    expect((await send(url, '/api/boot', { headers: bearer(key) })).json).toMatchObject({
      isClosed: true,
      isOwner: false,
    })
  })

  test('a management key makes, rotates and ends keys, on every worker', async () => {
    const { url } = rig.service
    const boss = bearer((await make(home, '--kind', 'management')).key)
    const ask = (method: string, path: string, body?: object) =>
      send(url, path, {
        method,
        headers: { ...boss, connection: 'close' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const made = keyOf((await ask('POST', '/v1/keys', { name: 'night job', models: ['m'] })).text)
    const next = keyOf((await ask('POST', `/v1/keys/${made.id}/rotate`, { overlap_days: 1 })).text)
    for (const { key } of [made, next]) expect((await rig.ask({}, bearer(key))).status).toBe(200)
    for (const { id } of [made, next])
      expect((await ask('DELETE', `/v1/keys/${id}`)).json).toMatchObject({ id, state: 'ended' })
    for (let time = 0; time < 12; time += 1)
      for (const { key } of [made, next])
        expect(statusAndCode(await rig.ask({}, { ...bearer(key), connection: 'close' }))).toBe('401 invalid_api_key')
    expect(statusAndCode(await ask('POST', '/v1/keys', { name: 'x', budget: 1 }))).toBe('400 invalid_value')
    expect(statusAndCode(await ask('GET', '/v1/keys/9999'))).toBe('404 key_not_found')
    expect(pick((await ask('GET', '/v1/keys?limit=1')).json, 'data', 0, 'id')).toBe(1)
  })

  test('the name of a key is in the log, its text nowhere', async () => {
    const { key } = await make(home, '--scopes', 'chat,models:read,log:read,metrics:read')
    const asked = await rig.ask({ model: key, messages: [{ role: 'user', content: 'x' }] }, bearer(key))
    await rig.ask({}, bearer(key))
    const found = await Promise.all(
      ['/metrics', '/v1/models', '/api/requests'].map((path) => send(rig.service.url, path, { headers: bearer(key) })),
    )
    expect(found.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(found[2]?.text).toContain('key:indexer')
    const last = await rig.ask({}, bearer(`${key}x`))
    // The model is what the caller wrote: only there may its text be.
    for (const text of [
      last.text,
      JSON.stringify([...asked.headers]),
      rig.service.output.replaceAll(`"model":"${key}"`, ''),
    ])
      expect(text).not.toContain(key.slice(10, 40))
  })
})

describe('an ended key', () => {
  test('passes no request that begins after the answer of the command, under load, on any worker', async () => {
    await using rig = await startRig([good()], { flags: [...auth, '--workers', workers] })
    const { home, url } = rig.service
    for (let round = 0; round < 3; round += 1) {
      const { id, key } = await make(home)
      let endedAt = Number.POSITIVE_INFINITY
      const late: number[] = []
      const counts = { passed: 0, refused: 0 }
      const callers = Array.from({ length: 12 }, async () => {
        while (performance.now() < endedAt + 300) {
          const begun = performance.now()
          const { status } = await chat(url, question(), { headers: { ...bearer(key), connection: 'close' } })
          if (status === 200) counts.passed += 1
          else counts.refused += 1
          if (begun > endedAt && status !== 401) late.push(status)
        }
      })
      await Bun.sleep(150)
      expect((await svcKeys(home, 'end', String(id))).code).toBe(0)
      endedAt = performance.now()
      await Promise.all(callers)
      expect(late).toEqual([])
      expect(Math.min(counts.passed, counts.refused)).toBeGreaterThan(0)
    }
  }, 60_000)
})

describe('complaint: revoked or changed keys go on', () => {
  test(
    `over ${changes} rotations under load no old key passes, and each new one does, on any worker`,
    async () => {
      await using rig = await startRig([good()], { flags: [...auth, '--workers', workers] })
      const { keys, close } = await openLedger({ path: join(rig.service.home, 'svc.db') })
      const maker = { by: 'test', now: Date.now(), overlapDays: 0 }
      const status = async (key: string) => (await rig.ask({}, { ...bearer(key), connection: 'close' })).status
      let current = await makeKey(keys, parseKeyRequest({ name: 'indexer' }), maker)
      const kept = await makeKey(keys, parseKeyRequest({ name: 'kept' }), maker)
      const ended: string[] = []
      let isOver = false
      // An old version would return with a request under way.
      const callers = Array.from({ length: 3 }, async () => {
        while (!isOver) {
          const old = ended[Math.floor(Math.random() * ended.length)]
          const [first, second] = [await status(kept.key), old === undefined ? 401 : await status(old)]
          if (first !== 200 || second !== 401) throw new Error(`a kept key got ${first}, an ended one ${second}`)
        }
      })
      for (let round = 0; round < changes; round += 1) {
        const next = await rotateKey(keys, current.id, maker)
        if (typeof next === 'string') throw new Error(next)
        expect([round, await status(current.key), await status(next.key)]).toEqual([round, 401, 200])
        ended.push(current.key)
        current = next
      }
      isOver = true
      await Promise.all(callers)
      await close()
    },
    60_000 + changes * 200,
  )

  test('a worker that replaces a killed one knows the keys as they are', async () => {
    await using rig = await startRig([good()], { flags: [...auth, '--workers', '1'] })
    const { home } = rig.service
    const [kept, ended] = [await make(home), await make(home)]
    expect((await rig.ask({}, bearer(ended.key))).status).toBe(200)
    for (const worker of workersOf(rig.service.pid)) process.kill(worker, 'SIGKILL')
    expect((await svcKeys(home, 'end', String(ended.id))).code).toBe(0)
    const ask = async ({ key }: Key) => (await rig.ask({}, { ...bearer(key), connection: 'close' })).status
    for (let waited = 0; waited < 100 && (await ask(kept).catch(() => 0)) !== 200; waited += 1) await Bun.sleep(50)
    expect([await ask(kept), await ask(ended)]).toEqual([200, 401])
  }, 30_000)
})

describe('sign-in and keys side by side', () => {
  test('let in people by their session and programs by their key; a bad key is refused beside a session', async () => {
    await using rig = await startSignIn(startGithub, { flags: ['--auth', 'keys'], owners: ['ada'] })
    const { token } = await rig.signIn()
    const { key } = await make(rig.service.home)
    expect((await rig.ask(bearer(key))).status).toBe(200)
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
    expect(statusAndCode(await rig.ask({ cookie: `token=${token}`, ...bearer(newKey('program')) }))).toBe(
      '401 invalid_api_key',
    )
    expect(statusAndCode(await rig.ask())).toBe('401 authentication_required')
    const made = await send(rig.service.url, '/v1/keys', {
      method: 'POST',
      body: '{"name":"by ada"}',
      headers: bearer(token),
    })
    expect(made.json).toMatchObject({ made_by: 'ada' })
    rig.remember(key, keyOf(made.text).key)
    await rig.service.configure({ providers: [{ id: 'echo' }] })
    expect(await rig.logged('owners: found nothing', 'was not reloaded')).toContain('names of users')
    expect((await rig.ask(bearer(key))).status).toBe(200)
  }, 30_000)

  test('need owners, at the start and in a changed file', async () => {
    const failure = await startSignIn(startGithub, { flags: ['--auth', 'keys'] }).catch((error: unknown) =>
      String(error),
    )
    expect(failure).toMatch(/exited with 2[^]*owners: found nothing, allowed: names of users, or \[\]/)
  }, 30_000)
})

describe('the database', () => {
  const config = { providers: [{ id: 'echo' }] }
  test.each([
    ['damaged', 'text'.repeat(2_000), 1, 'svc.db is damaged: put back a copy'],
    ['newer', undefined, 2, `svc.db has schema 99, this version of svc knows ${migrations.length}`],
  ])('that is %s ends the start', async (_name, text, code, message) => {
    const files = text === undefined ? {} : { 'svc.db': text }
    if (text !== undefined) {
      const failure = startService(config, { files, flags: auth })
      await expect(failure).rejects.toThrow(new RegExp(`exited with ${code} before it listened:[^]*${message}`))
      return
    }
    const home = mkdtempSync(join(tmpdir(), 'svc-newer-'))
    try {
      await svcKeys(home, 'list')
      const { Database } = await import('bun:sqlite')
      const database = new Database(join(home, 'svc.db'))
      database.run('PRAGMA user_version = 99')
      database.close()
      expect(await svcKeys(home, 'list')).toMatchObject({ code, err: expect.stringContaining(message) })
    } finally {
      rmSync(home, { recursive: true })
    }
  })

  test('is not made without keys, and its modules are not loaded', async () => {
    await using service = await startService(config)
    expect((await chat(service.url, question({ model: 'echo' }))).status).toBe(200)
    expect(await Bun.file(join(service.home, 'svc.db')).exists()).toBe(false)
    const maps = readFileSync(`/proc/${service.pid}/maps`, 'utf8')
    expect(maps).not.toContain('svc.db')
    const code = reachable('main.ts')
    expect(code.size).toBeGreaterThan(3)
    const serving = reachable('app/service-parts.ts')
    expect(serving.size).toBeGreaterThan(150)
    // Interfaces with bounds and classes of errors, and the names of lines and people, are all that it has.
    const loaded = new Set([...code, ...serving].filter((file) => /^(ledger|people)\//.test(file)))
    expect([...loaded].toSorted()).toEqual([
      'ledger/history/history.ts',
      'ledger/ledger.ts',
      'ledger/use/shortened.ts',
      'people/caller-of.ts',
      'people/keys/file-key.ts',
      'people/owners.ts',
      'people/person.ts',
      'people/teams.ts',
    ])
  })
})

/** Files of src that are loaded with a file: its static imports, and theirs. */
function reachable(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(join(import.meta.dir, '..', 'src', file), 'utf8')
  for (const [, target = ''] of text.matchAll(/^(?:import|export) (?!type )[^'"]*?from '(\.[^']+\.ts)'/gm))
    reachable(normalize(join(dirname(file), target)), found)
  return found
}
