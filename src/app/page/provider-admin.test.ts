import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { parseConfig } from '../../config/file/parse-config.ts'
import { providerTarget } from '../../config/file/provider-target.ts'
import { fingerprint } from '../../config/watch/fingerprint.ts'
import { WireError } from '../../formats/error.ts'
import type { ReloadNotice } from '../../http/page/page-api.ts'
import { LedgerUnavailable, type Ledger, type NewEntry } from '../../ledger/ledger.ts'
import { completionJson, fakeBody, fakeTransport, transportError, type FakeAnswer } from '../../protocols/testing.ts'
import { unlimitedAnswerBudget } from '../../service/answer-budget.ts'
import { healthBook } from '../../service/health/health.ts'
import { failureOf, fakeClock } from '../../service/testing.ts'
import { assembleGateway, type AssembledGateway } from '../assemble.ts'
import { providerAdmin } from './provider-admin.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

const text = `{ "providers": [{ "id": "a", "base_url": "http://a.test/v1", "models": ["m"] },
  { "id": "b", "base_url": "http://b.test/v1", "models": ["m"], "enabled": false }] }`
const targetOfA = providerTarget({ protocol: 'openai', baseUrl: 'http://a.test/v1', headers: {} })
const good: FakeAnswer = {
  headers: { 'content-type': 'application/json' },
  body: [JSON.stringify(completionJson('Hello'))],
}

/** An admin of a loaded file. `fails`: reloads fail. */
function subject(
  answers: readonly (FakeAnswer | Error)[] = [good],
  options: {
    readonly active?: string
    readonly fails?: boolean
    readonly testMs?: number
    readonly record?: Ledger['record']
  } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-admin-'))
  const file = join(folder, 'providers.json')
  writeFileSync(file, text)
  const environment = {}
  const clock = fakeClock()
  const health = healthBook(clock.now, () => 0.5)
  const transport = fakeTransport(...answers)
  const dependencies = {
    transport,
    health,
    answerBudget: unlimitedAnswerBudget,
    log: { debug: () => undefined, warn: () => undefined },
  }
  const logged: unknown[] = []
  let notice: ReloadNotice | undefined
  let reloads = 0
  const take = (content: string): Config => ({
    ...parseConfig(content, { file, environment }),
    source: { kind: 'file', path: file, fingerprint: fingerprint(content) },
  })
  let config = take(options.active ?? text)
  let gateway: AssembledGateway = assembleGateway(config, dependencies)
  cleanUps.push(
    () => rmSync(folder, { recursive: true }),
    () => gateway.close(),
  )
  const admin = providerAdmin({
    file,
    environment,
    keys: { environment, isFixed: () => false, reload: async () => undefined },
    keysFile: join(folder, 'keys.env'),
    program: 'svc',
    dependencies,
    config: () => config,
    gateway: () => gateway,
    async reload() {
      reloads += 1
      if (options.fails === true) {
        notice = { time: 1, faults: ['a fault'] }
        return
      }
      const before = gateway
      config = take(await Bun.file(file).text())
      gateway = assembleGateway(config, dependencies, before)
      before.close(gateway)
    },
    notice: () => notice,
    record: () => options.record,
    policy: () => undefined,
    attemptsAt: async () => new Map(),
    log: {
      info: (message, fields) => logged.push([message, fields]),
      error: (message, fields) => logged.push([message, fields]),
    },
    now: () => 5,
    testMs: options.testMs ?? 5_000,
  })
  return {
    admin,
    file,
    health,
    transport,
    logged,
    reloads: () => reloads,
    write: (content: string) => writeFileSync(file, content),
  }
}

const never = new AbortController().signal

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => (error instanceof WireError ? error.code : error))
}

describe('the state', () => {
  test('belongs to the version it names, also when the change was not noticed yet', async () => {
    const { admin, write, reloads } = subject()
    expect(await admin.state()).toMatchObject({
      version: fingerprint(text),
      source: 'file',
      providers: [{ id: 'a' }, { id: 'b' }],
    })
    expect(reloads()).toBe(0)
    const other = text.replace('"enabled": false', '"enabled": true')
    write(other)
    expect(await admin.state()).toMatchObject({
      version: fingerprint(other),
      providers: [{ enabled: true }, { enabled: true }],
    })
    expect(reloads()).toBe(1)
  })

  test('does not reload a file that is known to be faulty', async () => {
    const { admin, write, reloads } = subject([], { fails: true })
    write('{')
    for (let round = 0; round < 3; round += 1)
      expect(await admin.state()).toMatchObject({
        version: fingerprint('{'),
        notice: { faults: ['a fault'] },
        providers: [{ id: 'a' }, { id: 'b' }],
      })
    expect(reloads()).toBe(1)
  })

  test('without a file is that of the active configuration', async () => {
    const { admin, file, reloads } = subject()
    rmSync(file)
    const state = await admin.state()
    expect([state.version, state.providers.length, reloads()]).toEqual([undefined, 2, 0])
  })

  test('has the configured models of disabled providers', async () => {
    expect((await subject().admin.state()).providers.map(({ models }) => models)).toEqual([['m'], ['m']])
  })

  test('shows health', async () => {
    const { admin, health } = subject()
    for (let time = 0; time < 5; time += 1) health.of('a', 'm', targetOfA).begin().failed(failureOf('connect'))
    expect((await admin.state()).providers.map(({ state }) => state)).toEqual([
      { kind: 'cooling', until: 5_005, failure: 'connect' },
      { kind: 'off' },
    ])
  })
})

describe('changes', () => {
  test('are active when they are answered, and logged with the user', async () => {
    const { admin, logged, reloads } = subject()
    const answer = await admin.change({ version: fingerprint(text), id: 'b', change: 'up' }, 'ann')
    expect(answer.providers.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(reloads()).toBe(1)
    expect(logged).toEqual([['providers.json was changed on the page', { provider: 'b', change: 'up', user: 'ann' }]])
  })

  test('are recorded with fingerprints before they are written, else refused', async () => {
    const entries: NewEntry[] = []
    const { admin, file, logged } = subject([], {
      async record(entry) {
        if (entries.length > 0) throw new LedgerUnavailable('the disk is full')
        expect(readFileSync(file, 'utf8')).toBe(text)
        entries.push(entry)
        return { seq: 7, chain: 'abc' }
      },
    })
    const { version } = await admin.change({ version: fingerprint(text), id: 'b', change: 'up' }, 'ann')
    expect(entries).toEqual([
      {
        ...{ time: 5, actor: 'ann', via: 'page', action: 'file.changed', object: 'providers.json' },
        before: { fingerprint: fingerprint(text) },
        after: { fingerprint: version },
      },
    ])
    expect(logged).toMatchObject([[expect.any(String), { audit: 7, chain: 'abc' }]])
    const changed = readFileSync(file, 'utf8')
    const refused = admin.change({ version: fingerprint(changed), id: 'a', change: 'up' }, undefined)
    expect(await outcome(refused)).toBe('store_unavailable')
    expect(readFileSync(file, 'utf8')).toBe(changed)
  })

  test('without an effect reload nothing', async () => {
    const { admin, reloads, logged } = subject()
    await admin.change({ version: fingerprint(text), id: 'a', change: 'up' }, undefined)
    expect([reloads(), logged]).toEqual([0, []])
  })

  test('are serialized: of two for the same version the second is a conflict', async () => {
    const { admin } = subject()
    const version = fingerprint(text)
    const outcomes = await Promise.all(
      (['up', 'enable'] as const).map((change) => outcome(admin.change({ version, id: 'b', change }, undefined))),
    )
    expect(outcomes[0]).toMatchObject({ providers: [{ id: 'b', enabled: false }, { id: 'a' }] })
    expect(outcomes[1]).toBe('conflict')
  })
})

describe('a look at a provider that is not in the file', () => {
  const lab = { id: 'lab', entry: { baseUrl: 'http://lab.test/v1' } }
  const list: FakeAnswer = { ...good, body: [JSON.stringify({ data: [{ id: 'm1' }, { id: 'm2' }] })] }

  test('lists its models, writes nothing, and changes no health', async () => {
    const { admin, transport, file, health, reloads } = subject([list])
    expect(await admin.look({ ...lab, entry: { ...lab.entry, models: ['other'] } }, never)).toEqual({
      ms: expect.any(Number),
      modelCount: 2,
      models: ['m1', 'm2'],
      pricedCount: 0,
    })
    expect(transport.requests.map(({ origin }) => origin.hostname)).toEqual(['lab.test'])
    expect([readFileSync(file, 'utf8'), reloads(), health.openBreakers()]).toEqual([text, 0, []])
  })

  test('says why there is no list', async () => {
    const refused = { status: 401, body: ['{"error":{"message":"no key"}}'] }
    const { admin } = subject([refused, refused])
    expect(await admin.look(lab, never)).toEqual({
      ms: expect.any(Number),
      detail: 'GET /models answered 401',
      status: 401,
    })
  })

  test('names a variable that is not set, and asks no server', async () => {
    const { admin, transport } = subject([list])
    expect(await admin.look({ ...lab, entry: { ...lab.entry, keyVariable: 'SVC_KEY_LAB' } }, never)).toEqual({
      ms: 0,
      lacks: [{ code: 'unset', variables: ['SVC_KEY_LAB'], isKey: true }],
    })
    expect(transport.requests).toEqual([])
  })

  test('asks one of the file with other settings, and writes nothing', async () => {
    const { admin, transport, file } = subject([list])
    expect(await admin.look({ id: 'a', edit: { baseUrl: 'http://new.test/v1' } }, never)).toMatchObject({
      models: ['m1', 'm2'],
    })
    expect(transport.requests.map(({ origin }) => origin.hostname)).toEqual(['new.test'])
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(await outcome(admin.look({ id: 'unknown', edit: {} }, never))).toBe('not_found')
  })

  test('ends at its timeout', async () => {
    const silent: FakeAnswer = { ...good, body: fakeBody([], { hangs: true }) }
    expect(await subject([silent], { testMs: 5 }).admin.look(lab, never)).toEqual({ ms: expect.any(Number) })
  })
})

describe('a test', () => {
  test('asks the active provider, and counts for its health', async () => {
    const { admin, transport, health } = subject()
    for (let time = 0; time < 5; time += 1) health.of('a', 'm', targetOfA).begin().failed(failureOf('server_error'))
    expect(await admin.test({ id: 'a' }, never)).toEqual({ ok: true, ms: expect.any(Number), model: 'm', status: 200 })
    expect(transport.requests.length).toBe(1)
    expect(health.openBreakers()).toEqual([])
  })

  test('asks a disabled provider', async () => {
    const { admin, transport } = subject()
    expect(await admin.test({ id: 'b' }, never)).toMatchObject({ ok: true, model: 'm' })
    expect(transport.requests.map(({ origin }) => origin.hostname)).toEqual(['b.test'])
    expect((await admin.state()).providers[1]?.state).toEqual({ kind: 'off' })
  })

  test.each([
    [
      'a status',
      [{ status: 500, body: ['{"error":{"message":"oops"}}'] }],
      { ok: false, status: 500, failure: 'server_error', detail: 'status 500: oops' },
    ],
    [
      'no connection',
      [transportError('connect')],
      { ok: false, failure: 'connect', detail: 'connection refused or unreachable' },
    ],
    [
      'an internal error, without details',
      [new TypeError('with a-key-for-tests in it')],
      { ok: false, failure: 'internal_error' },
    ],
  ] as const)('reports %s', async (_, answers, expected) => {
    const { admin, logged } = subject(answers)
    expect(await admin.test({ id: 'a' }, never)).toEqual({ ...expected, ms: expect.any(Number), model: 'm' })
    expect(logged.length).toBe(answers[0] instanceof TypeError ? 1 : 0)
  })

  test('of an unknown provider is refused', async () => {
    expect(await outcome(subject().admin.test({ id: 'unknown' }, never))).toBe('not_found')
  })

  test('of an unusable provider says why, and sends nothing', async () => {
    const lacking = text
      .replace('"id": "a",', '"id": "a", "api_key": "$A_KEY",')
      .replace('"id": "b", "base_url": "http://b.test/v1",', '"id": "b", "base_url": "$B_URL",')
    const { admin, transport } = subject([good], { active: lacking })
    expect(await admin.test({ id: 'a' }, never)).toEqual({
      ok: false,
      ms: 0,
      lacks: [{ code: 'unset', variables: ['A_KEY'], isKey: true }],
    })
    expect(await admin.test({ id: 'b' }, never)).toEqual({
      ok: false,
      ms: 0,
      lacks: [{ code: 'unset', variables: ['B_URL'] }],
    })
    expect(transport.requests.length).toBe(0)
  })

  test('ends at its timeout', async () => {
    const silent: FakeAnswer = { ...good, body: fakeBody([], { hangs: true }) }
    expect(await subject([silent], { testMs: 5 }).admin.test({ id: 'a' }, never)).toMatchObject({
      ok: false,
      model: 'm',
      failure: 'timeout',
    })
  })

  test('ends when the caller has left', async () => {
    expect(await subject().admin.test({ id: 'a' }, AbortSignal.abort())).toMatchObject({
      ok: false,
      failure: 'timeout',
    })
  })
})
