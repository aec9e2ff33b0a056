import { afterAll, describe, expect, test } from 'bun:test'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { chat, metric, parseJson, pick, question } from '../client.ts'
import { faultUpstream, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { status } from '../fakes/faults/status.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { errorReply } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { startSignIn } from '../sign-in/rig.ts'

/** Answer of the API. */
interface Reply {
  readonly status: number
  readonly json: unknown
  /** `error.code`. */
  readonly code: unknown
}

async function call(
  service: ServiceUnderTest,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const response = await fetch(
    `${service.url}${path}`,
    body === undefined
      ? { headers }
      : {
          method: 'POST',
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
        },
  )
  const json = parseJson(await response.text())
  return { status: response.status, json, code: pick(json, 'error', 'code') }
}

const state = (service: ServiceUnderTest): Promise<Reply> => call(service, '/api/providers')
const askTest = (service: ServiceUnderTest, id: string, more: object = {}): Promise<Reply> =>
  call(service, '/api/providers/test', { id, ...more })

function entriesOf({ json }: Reply): readonly unknown[] {
  const providers = pick(json, 'providers')
  return Array.isArray(providers) ? providers : []
}

/** `id state`, in try-order. */
function order(reply: Reply): readonly string[] {
  return entriesOf(reply).map((entry) => `${String(pick(entry, 'id'))} ${String(pick(entry, 'state', 'kind'))}`)
}

function entryOf(reply: Reply, id: string): unknown {
  return entriesOf(reply).find((entry) => pick(entry, 'id') === id)
}

/** Sends one change. Default version: the current one of the file. */
async function change(service: ServiceUnderTest, id: string, what: string, version?: unknown): Promise<Reply> {
  return call(service, '/api/providers', {
    version: version ?? pick((await state(service)).json, 'version'),
    id,
    change: what,
  })
}

/** Body of the last request to an upstream. */
function lastBody({ hits }: FaultUpstream): string {
  return new TextDecoder().decode(hits.at(-1)?.body)
}

async function servedBy(service: ServiceUnderTest): Promise<string | null> {
  return (await chat(service.url, question())).headers.get('x-svc-provider')
}

/** Polls until a value is as expected. @throws after 300 rounds */
async function eventually<Value>(look: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  for (let round = 0; round < 300; round++) {
    const value = await look()
    if (isSo(value)) return value
    await Bun.sleep(10)
  }
  throw new Error('it did not come to be')
}

const upstreams: FaultUpstream[] = []
afterAll(() => {
  for (const each of upstreams) each.stop()
})

function upstream(script: Script): FaultUpstream {
  const made = faultUpstream(script)
  upstreams.push(made)
  return made
}

const a = upstream(good({ name: 'a' })),
  b = upstream(good({ name: 'b' }))

const modelOfB = '{ "name": "m", "upstream": "m-b", "price": { "input": 1, "output": 2 } }'

/** A file with comments. */
const text = `{
  // cheap first
  "providers": [
    // free
    { "id": "a", "base_url": "${a.url}", "models": ["m"] }, // slow at night
    { "id": "b", "base_url": "${b.url}", "models": [${modelOfB}] },
    /* not mine */ { "id": "c", "base_url": "http://127.0.0.1:9/v1", "models": ["m"], "enabled": false },
    { "id": "groq" },
  ],
}
`

describe('GET /api/models', () => {
  test('lists every model with its providers', async () => {
    await using service = await startService(text)
    expect((await call(service, '/api/models')).json).toEqual({
      firstModel: 'm',
      models: [
        {
          name: 'm',
          offers: [
            { provider: 'a', upstream: 'm' },
            { provider: 'b', upstream: 'm-b', price: { input: 1, output: 2 } },
          ],
        },
      ],
      isEchoOnly: false,
      file: service.file,
    })
  })
})

describe('GET /api/providers', () => {
  test('has the try-order with what each is doing, and no key', async () => {
    const service = await startService(
      text.replace(
        '"id": "a",',
        '"id": "a", "api_key": "a-key-that-is-not-shown", "headers": { "x-team": "a-header-that-is-not-shown" },',
      ),
    )
    await using _ = service
    const reply = await state(service)
    expect(order(reply)).toEqual(['a ok', 'b ok', 'c off', 'groq unavailable'])
    expect(reply.json).toMatchObject({
      source: 'file',
      file: service.file,
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(entryOf(reply, 'a')).toEqual({
      id: 'a',
      protocol: 'openai',
      baseUrl: a.url,
      enabled: true,
      state: { kind: 'ok' },
      coolingModels: [],
      models: ['m'],
      modelCount: 1,
      attempts: { count: 0, ok: 0 },
    })
    expect(entryOf(reply, 'groq')).toMatchObject({
      brand: 'Groq',
      state: { kind: 'unavailable', lacks: [{ code: 'unset', variables: ['GROQ_API_KEY'], isKey: true }] },
    })
    expect(JSON.stringify(reply.json)).not.toContain('not-shown')
  })

  test('shows attempts, failing providers and providers that cool down', async () => {
    const down = upstream(status(500))
    const busy = upstream(status(429, { 'retry-after': '100' }))
    await using service = await startService({
      providers: [provider('down', down.url), provider('busy', busy.url), provider('b', b.url)],
    })
    const before = Date.now()
    expect(await servedBy(service)).toBe('b')
    const reply = await eventually(
      () => state(service),
      (found) => pick(entryOf(found, 'b'), 'attempts', 'count') === 1,
    )
    expect(order(reply)).toEqual(['down failing', 'busy cooling', 'b ok'])
    expect(entryOf(reply, 'down')).toMatchObject({
      attempts: { count: 1, ok: 0 },
      lastError: { model: 'm', status: 500, failure: 'server_error', detail: expect.stringContaining('status 500') },
    })
    expect(entryOf(reply, 'busy')).toMatchObject({
      state: { failure: 'rate_limit', askedToWait: true },
      coolingModels: [],
    })
    expect(pick(entryOf(reply, 'busy'), 'state', 'until')).toBeGreaterThan(before + 95_000)
    expect(pick(entryOf(reply, 'busy'), 'state', 'until')).toBeLessThan(Date.now() + 101_000)
  })
})

describe('POST /api/providers', () => {
  test('moves, switches off and on › the next request knows, and the file keeps its comments', async () => {
    await using service = await startService(text)
    await chmod(service.file, 0o600)
    expect(await servedBy(service)).toBe('a')

    expect(order(await change(service, 'b', 'up'))).toEqual(['b ok', 'a ok', 'c off', 'groq unavailable'])
    expect(await servedBy(service)).toBe('b')
    expect(order(await change(service, 'b', 'disable'))).toEqual(['b off', 'a ok', 'c off', 'groq unavailable'])
    expect(await servedBy(service)).toBe('a')
    expect(order(await change(service, 'c', 'enable'))).toEqual(['b off', 'a ok', 'c ok', 'groq unavailable'])
    expect(order(await change(service, 'a', 'down'))).toEqual(['b off', 'c ok', 'a ok', 'groq unavailable'])

    expect(await readFile(service.file, 'utf8')).toBe(`{
  // cheap first
  "providers": [
    { "id": "b", "base_url": "${b.url}", "models": [${modelOfB}], "enabled": false },
    /* not mine */ { "id": "c", "base_url": "http://127.0.0.1:9/v1", "models": ["m"], "enabled": true },
    // free
    { "id": "a", "base_url": "${a.url}", "models": ["m"] }, // slow at night
    { "id": "groq" },
  ],
}
`)
    expect((await stat(service.file)).mode & 0o777).toBe(0o600)
  })

  test('a change made meanwhile in the file › 409, nothing is lost, and the list is the new one', async () => {
    await using service = await startService(text)
    const { json } = await state(service)
    const edited = text
      .replace('cheap first', 'edited meanwhile')
      .replace('{ "id": "groq" }', '{ "id": "groq", "enabled": false }')
    await writeFile(service.file, edited)
    expect(await change(service, 'b', 'up', pick(json, 'version'))).toMatchObject({ status: 409, code: 'conflict' })
    expect(await readFile(service.file, 'utf8')).toBe(edited)
    // At once: the API reads the file itself, and does not wait for the watcher.
    expect(order(await state(service))).toEqual(['a ok', 'b ok', 'c off', 'groq off'])
    expect(order(await change(service, 'b', 'up'))).toEqual(['b ok', 'a ok', 'c off', 'groq off'])
  })

  test('a faulty file › the faults are listed, the order stays, changes are refused until it is repaired', async () => {
    await using service = await startService(text)
    await service.configure(
      text.replace('"models": ["m"] }, // slow', '"modles": ["a-secret-that-is-not-shown"] }, // slow'),
    )
    const reply = await eventually(
      () => state(service),
      ({ json }) => pick(json, 'notice') !== undefined,
    )
    expect(order(reply)).toEqual(['a ok', 'b ok', 'c off', 'groq unavailable'])
    expect(pick(reply.json, 'notice', 'faults')).toEqual([
      expect.stringMatching(
        /providers\.json:5:\d+: providers\[0\]\.modles: found an unknown field.*did you mean "models"/,
      ),
    ])
    expect(pick(reply.json, 'notice', 'time')).toBeGreaterThan(Date.now() - 60_000)
    expect((await call(service, '/api/models')).json).toMatchObject({ notice: pick(reply.json, 'notice') })
    expect(JSON.stringify(reply.json)).not.toContain('not-shown')

    const before = await readFile(service.file, 'utf8')
    const refused = await change(service, 'b', 'up')
    expect(refused).toMatchObject({ status: 409, code: 'faulty_file' })
    expect(pick(refused.json, 'error', 'message')).toContain('providers[0].modles')
    expect(await readFile(service.file, 'utf8')).toBe(before)

    await service.configure(text)
    const mended = await eventually(
      () => state(service),
      ({ json }) => pick(json, 'notice') === undefined,
    )
    expect(order(mended)).toEqual(['a ok', 'b ok', 'c off', 'groq unavailable'])
    expect((await call(service, '/api/models')).json).not.toHaveProperty('notice')
    expect((await change(service, 'b', 'up')).status).toBe(200)
  })

  test('no file › lists providers, refuses changes with a hint how to begin; a new file is loaded', async () => {
    await using service = await startService(undefined)
    const reply = await state(service)
    // This machine may have a local model server.
    expect(pick(reply.json, 'source')).toBeOneOf(['echo', 'detected'])
    expect((await call(service, '/api/models')).json).toMatchObject({
      isEchoOnly: pick(reply.json, 'source') === 'echo',
      file: service.file,
    })
    expect(pick(reply.json, 'version')).toBeUndefined()
    expect(entriesOf(reply).length).toBeGreaterThan(0)
    const refused = await change(service, 'echo', 'disable', 'v')
    expect([refused.status, refused.code, pick(refused.json, 'error', 'message')]).toEqual([
      409,
      'no_file',
      expect.stringMatching(/^There is no .*providers\.json, .*init' writes one$/),
    ])
    await service.configure(text)
    expect(order(await state(service))).toEqual(['a ok', 'b ok', 'c off', 'groq unavailable'])
    expect((await call(service, '/api/models')).json).toMatchObject({ isEchoOnly: false })
    expect((await change(service, 'b', 'up')).status).toBe(200)
  })
})

describe('POST /api/providers/test', () => {
  test('asks one provider for one token › enabled or not, answering or not, and is not recorded', async () => {
    const down = upstream(status(401))
    await using service = await startService({
      providers: [
        provider('a', a.url),
        provider('b', b.url, ['m'], { enabled: false }),
        provider('down', down.url),
        { id: 'echo' },
        { id: 'groq' },
        { id: 'mistral', enabled: false },
      ],
    })
    const hits = a.hits.length
    expect(await askTest(service, 'a')).toMatchObject({
      status: 200,
      json: { ok: true, model: 'm', status: 200, ms: expect.any(Number) },
    })
    expect(a.hits.length).toBe(hits + 1)
    expect(lastBody(a)).toContain('"max_tokens":1')
    expect((await askTest(service, 'b')).json).toMatchObject({ ok: true, model: 'm' })
    expect((await askTest(service, 'echo')).json).toMatchObject({ ok: true, model: 'echo' })
    expect((await askTest(service, 'down')).json).toMatchObject({
      ok: false,
      status: 401,
      model: 'm',
      failure: 'credential',
      detail: expect.stringContaining('status 401'),
    })
    expect((await askTest(service, 'groq')).json).toEqual({
      ok: false,
      ms: 0,
      lacks: [{ code: 'unset', variables: ['GROQ_API_KEY'], isKey: true }],
    })
    expect((await askTest(service, 'mistral')).json).toEqual({
      ok: false,
      ms: 0,
      lacks: [{ code: 'unset', variables: ['MISTRAL_API_KEY'], isKey: true }],
    })
    expect(await askTest(service, 'unknown')).toMatchObject({ status: 404, code: 'not_found' })

    expect(pick((await call(service, '/api/requests')).json, 'requests')).toEqual([])
    expect(entriesOf(await state(service)).map((entry) => pick(entry, 'attempts', 'count'))).toEqual([0, 0, 0, 0, 0, 0])
    expect(service.output).not.toContain('"message":"chat"')
    expect(await readFile(service.file, 'utf8')).toContain('"enabled": false')
    expect(order(await state(service))[1]).toBe('b off')
  })

  test('asks for the model that is named, by any of its names', async () => {
    await using service = await startService({
      providers: [{ id: 'b', base_url: b.url, models: ['x', { name: 'm', upstream: 'm-b' }] }],
    })
    expect((await askTest(service, 'b', { model: 'm' })).json).toMatchObject({ ok: true, model: 'm-b' })
    expect(lastBody(b)).toContain('"model":"m-b"')
    expect((await askTest(service, 'b', { model: 'other' })).json).toMatchObject({ ok: true, model: 'other' })
  })

  test('reaches a provider whose breaker is open › and closes it when it is answered', async () => {
    const flaky = upstream(status(500))
    await using service = await startService({ providers: [provider('flaky', flaky.url), provider('b', b.url)] })
    for (let round = 0; round < 5; round++) await servedBy(service)
    expect(order(await state(service))).toEqual(['flaky cooling', 'b ok'])
    expect((await askTest(service, 'flaky')).json).toMatchObject({ ok: false, status: 500 })
    expect(order(await state(service))).toEqual(['flaky cooling', 'b ok'])
    flaky.use(good({ name: 'flaky' }))
    expect((await askTest(service, 'flaky')).json).toMatchObject({ ok: true })
    expect(order(await state(service))).toEqual(['flaky ok', 'b ok'])
    expect(await metric(service.url, 'svc_breaker_open{provider="flaky",model="m"}')).not.toBe(1)
    expect(await servedBy(service)).toBe('flaky')
  })

  test('shows no key that a provider repeats', async () => {
    const key = ['sk', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('-')
    const telling = upstream((exchange) =>
      exchange.write(
        errorReply(401, { message: `Incorrect API key provided: ${key}. See https://me:pass@keys.test/?key=hidden` }),
      ),
    )
    await using service = await startService(
      { providers: [provider('telling', telling.url, ['m'], { api_key: '$TELLING' })] },
      { environment: { TELLING: key } },
    )
    const reply = await askTest(service, 'telling')
    expect(reply.json).toMatchObject({ ok: false, status: 401 })
    expect(JSON.stringify(reply.json)).not.toMatch(/abcdefghij|pass@|hidden/)
  })

  test('four at once, the others wait', async () => {
    let underWay = 0,
      most = 0
    const answer = good({ name: 'slow' })
    const slow = upstream(async (exchange) => {
      underWay += 1
      most = Math.max(most, underWay)
      await exchange.pause(50)
      underWay -= 1
      await answer(exchange)
    })
    await using service = await startService({ providers: [provider('slow', slow.url)] })
    const replies = await Promise.all(Array.from({ length: 12 }, () => askTest(service, 'slow')))
    expect(replies.every(({ json }) => pick(json, 'ok') === true)).toBe(true)
    expect([most, slow.hits.length]).toEqual([4, 12])
  })
})

test('where people sign in › owners change the providers, others look at less', async () => {
  await using rig = await startSignIn(startGithub)
  const { service } = rig
  const [ada, bob] = [await rig.signIn('ada'), await rig.signIn('bob')].map(({ token }) => ({
    'x-session-token': token,
  }))
  await service.configure({ providers: [provider('a', a.url), provider('b', b.url)], owners: ['ADA'] })
  await rig.logged('configuration reloaded')
  const [own, others, nobodys] = [
    await call(service, '/api/providers', undefined, ada),
    await call(service, '/api/providers', undefined, bob),
    await call(service, '/api/providers'),
  ]
  const up = { version: pick(own.json, 'version'), id: 'b', change: 'up' }
  expect(up.version).toBeString()
  expect(own.json).toMatchObject({ file: service.file, providers: [{ baseUrl: a.url }, { baseUrl: b.url }] })
  expect([
    order(others),
    Object.keys(Object(others.json)).toSorted(),
    JSON.stringify(others.json).includes('127.0.0.1'),
  ]).toEqual([['a ok', 'b ok'], ['providers', 'source'], false])
  expect((await call(service, '/api/models', undefined, bob)).json).not.toHaveProperty('file')
  const metrics = async (session = {}) => (await fetch(`${service.url}/metrics`, { headers: session })).status
  expect([await metrics(ada), await metrics(bob)]).toEqual([200, 403])
  expect([nobodys.status, nobodys.code]).toEqual([401, 'authentication_required'])

  const before = await readFile(service.file, 'utf8')
  const hits = a.hits.length
  expect(await call(service, '/api/providers', up, bob)).toMatchObject({ status: 403, code: 'owners_only' })
  expect(await call(service, '/api/providers/test', { id: 'a' }, bob)).toMatchObject({
    status: 403,
    code: 'owners_only',
  })
  expect(await call(service, '/api/providers', up)).toMatchObject({ status: 401 })
  expect([await readFile(service.file, 'utf8'), a.hits.length]).toEqual([before, hits])

  expect(order(await call(service, '/api/providers', up, ada))).toEqual(['b ok', 'a ok'])
  expect(await rig.logged('providers.json was changed on the page')).toContain('"user":"ada"')
  expect(await readFile(service.file, 'utf8')).toContain('"ADA"')
})
