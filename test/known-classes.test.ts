import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { resolveProvider } from '../src/config/file/resolve-provider.ts'
import type { RequestFilter, RequestPlace } from '../src/ledger/use/request-question.ts'
import { batchOf, usedRequest } from '../src/ledger/use/testing.ts'
import type { UseReader } from '../src/ledger/use/use-reader.ts'
import { makeKey, parseKeyRequest } from '../src/people/keys/manage-keys.ts'
import { pick, question, rawRequest } from './client.ts'
import { databases, type TestDatabase } from './fakes/databases.ts'
import { faultUpstream, type FaultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'
import { price, startLedgerRig, type LedgerRig } from './ledger-rig.ts'
import { documentedRoutes } from './routes.ts'

/** Classes of faults that other gateways and chat pages had, by the CVE that made them known. Each is tried here. */

const root = join(import.meta.dir, '..')
const sources = [...new Bun.Glob('src/**/*.ts').scanSync(root)].filter((file) => !/\.test\.ts$|testing\.ts$/.test(file))
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

let rig: LedgerRig
let victim = ''
let other = ''
beforeAll(async () => {
  rig = await startLedgerRig([good()], {
    every: { models: [{ name: 'm', upstream: 'm-1', aliases: ['alias'], price }] },
  })
  victim = await rig.makeKey({ name: 'victim', scopes: ['chat', 'log:read'] })
  other = await rig.makeKey({ name: 'other', scopes: ['chat', 'log:read'], models: ['m'] })
}, 40_000)
afterAll(() => rig[Symbol.asyncDispose]())

const json = { 'content-type': 'application/json' }
const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })

async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: object) {
  const response = await fetch(`${rig.service.url}${path}`, {
    method,
    headers: body === undefined ? headers : { ...json, ...headers },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A path of the documents with its open places filled. */
const filled = (path: string): string => path.replaceAll(/\{(?:model)\}/g, 'm').replaceAll(/\{\w+\}/g, 'some-id')

describe.each(databases)('CVE-2026-42208: SQL in the key of a caller, on %s', (_kind, make) => {
  let database: TestDatabase
  let service: ServiceUnderTest
  let upstream: FaultUpstream
  let key = ''
  beforeAll(async () => {
    database = await make()
    const ledger = await database.open()
    key = (await makeKey(ledger.keys, parseKeyRequest({ name: 'good' }), { by: 'test', now: Date.now() })).key
    upstream = faultUpstream(good())
    const { place } = database
    const environment = place.kind === 'file' ? { SVC_HOME: dirname(place.path) } : { SVC_DATABASE: place.url }
    service = await startService(
      { providers: [provider('a', upstream.url)] },
      { flags: ['--auth', 'keys'], environment },
    )
  }, 40_000)
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    await upstream.stop()
    await database.remove()
  })

  const body = JSON.stringify(question())
  /** Values as bytes, in latin1. */
  const hostile: readonly (readonly [name: string, make: (known: string) => string])[] = [
    ['a quote that is always true', () => `' OR '1'='1`],
    ['a second statement', () => `"; DROP TABLE key;--`],
    ['a union', () => `sk' UNION SELECT 1,2,3--`],
    ['a comment behind a key', (known) => `${known}'--`],
    ['a part of a key and a wildcard', (known) => `${known.slice(0, -4)}%`],
    ['a backslash', (known) => `${known}\\`],
    ['a NUL', (known) => `${known}\0`],
    ['bytes that are not UTF-8', () => '\xff\xfe\xc0\xaf'],
    ['1 MiB', () => 'a'.repeat(1_048_576)],
  ]
  const places = ['authorization: Bearer ', 'x-api-key: ', 'x-goog-api-key: ', 'x-session-token: ', 'cookie: token=']

  async function answerTo(place: string, value: string): Promise<string> {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n`
    return rawRequest(
      service.port,
      Buffer.from(`${head}connection: close\r\n${place}${value}\r\n\r\n${body}`, 'latin1'),
    )
  }

  test.each(hostile)('%s › is an unknown key or a malformed request, in each header', async (_name, valueOf) => {
    for (const place of places) {
      const answer = await answerTo(place, valueOf(key))
      expect([place, answer.slice(0, 12)]).toEqual([place, expect.stringMatching(/^HTTP\/1\.1 4(?:00|01|31)$/)])
      expect(answer).not.toMatch(/sql|syntax|unrecognized|relation|column/i)
    }
    expect(upstream.hits).toEqual([])
  })

  test('the keys are as they were, and the good one works', async () => {
    expect(await database.query('SELECT name FROM key')).toEqual([{ name: 'good' }])
    expect(await answerTo('authorization: Bearer ', key)).toStartWith('HTTP/1.1 200')
    expect(upstream.hits.length).toBe(1)
    upstream.forget()
  })
})

describe('CVE-2026-42208: SQL that is built from values', () => {
  /** Names that values of callers have in the code. Functions such as `place(team)` make parameters of them. */
  const names = 'user|caller|person|people|subject|model|provider|team|text|value|id|query|search|filter'
  const valueName = new RegExp(`^(?:key|hash|token|password|content|title|name|(?:${names})s?)(?:$|[.[ ?])`, 'i')

  /** Interpolations of such names in statements, but for those of the tag `sql`, which makes parameters. */
  function builtIn(text: string): readonly string[] {
    return Array.from(text.matchAll(/(\w*)`((?:[^`\\]|\\.)*)`/g)).flatMap(([, tag, statement = '']) =>
      tag === 'sql' || !/\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|VALUES)\b/.test(statement)
        ? []
        : Array.from(statement.matchAll(/\$\{([^}]*)\}/g), ([, inner = '']) => inner).filter((inner) =>
            valueName.test(inner),
          ),
    )
  }

  test('is found by this check', () => {
    expect(builtIn("`SELECT 1 FROM key WHERE hash = '${hash}' AND name = ${name ?? ''} OR ${user.id}`")).toEqual([
      'hash',
      "name ?? ''",
      'user.id',
    ])
    expect(builtIn('sql`SELECT 1 WHERE hash = ${hash}`')).toEqual([])
  })

  test('is nowhere', () => {
    expect(sources.flatMap((file) => builtIn(textOf(file)).map((each) => `${file}: ${each}`))).toEqual([])
  })
})

describe('CVE-2026-42271, CVE-2026-22252: a test of a connection that runs a command', () => {
  test('nothing that serves a request starts a process', () => {
    const rooms = /^src\/(?:http|gateway|upstream|protocols|transport|formats|limits|ledger|extensions|service)\//
    const starting = /child_process|Bun\.spawn|Bun\.\$|new Function|\beval\(/
    expect(sources.filter((file) => rooms.test(file) && starting.test(textOf(file)))).toEqual([])
  })

  describe('the form of a provider asks only for owners', () => {
    const entry = { baseUrl: 'http://127.0.0.1:1/v1' }
    const bodies: readonly (readonly [path: string, body: object])[] = [
      ['/api/providers/test', { id: 'a' }],
      ['/api/providers/look', { id: 'x', entry }],
      ['/api/providers', { version: 'missing', id: 'x', change: 'add', entry }],
    ]
    let open: ServiceUnderTest
    let upstream: FaultUpstream
    beforeAll(async () => {
      upstream = faultUpstream(good())
      open = await startService({ providers: [provider('a', upstream.url)] })
    })
    afterAll(async () => {
      await open[Symbol.asyncDispose]()
      await upstream.stop()
    })

    test.each(bodies)('POST %s › is for no key', async (path, body) => {
      expect((await send('POST', path, bearer(victim), body)).status).toBe(403)
      expect((await send('POST', path, {}, body)).status).toBe(401)
    })

    test.each(bodies)('POST %s › is for no other website, also without sign-in', async (path, body) => {
      const foreign = [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: open.url.replace('127.0.0.1', '127.0.0.2') },
        { 'sec-fetch-site': 'cross-site' },
        { host: 'evil.example' },
      ]
      for (const headers of foreign) {
        const { status } = await fetch(`${open.url}${path}`, {
          method: 'POST',
          headers: { ...json, ...headers },
          body: JSON.stringify(body),
        })
        expect([headers, status]).toEqual([headers, 403])
      }
      expect(upstream.hits).toEqual([])
    })

    test.each(['file:///etc/passwd', 'ftp://127.0.0.1/v1', 'http://user:word@127.0.0.1/v1', 'http://127.0.0.1/v1?x=1'])(
      'the address %s is refused, and nothing is asked',
      async (baseUrl) => {
        const body = JSON.stringify({ id: 'x', entry: { baseUrl } })
        const answer = await fetch(`${open.url}/api/providers/look`, { method: 'POST', body, headers: json })
        expect([answer.status, pick(await answer.json(), 'error', 'code')]).toEqual([400, 'invalid_value'])
      },
    )

    test('an address of the form gets no secret of the environment or of another provider', async () => {
      using other = faultUpstream(good())
      const look = (more: object) =>
        fetch(`${open.url}/api/providers/look`, {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ id: 'x', entry: { baseUrl: other.url, ...more } }),
        })
      expect((await look({ keyVariable: 'PATH' })).status).toBe(400)
      expect((await look({})).status).toBe(200)
      expect(other.hits.map(({ headers }) => headers.get('authorization'))).toEqual([undefined])
    })
  })
})

describe('CVE-2026-48710, CVE-2026-49468: guards and routes that see different paths or hosts', () => {
  const heads = [
    ['GET /api/audit HTTP/1.1', '127.0.0.1?x'],
    ['GET /api/audit HTTP/1.1', '127.0.0.1/health#'],
    ['GET /api/audit HTTP/1.1', 'x@127.0.0.1'],
    ['GET /api/audit HTTP/1.1', '127.0.0.1:99999'],
    ['GET http://127.0.0.1/api/audit HTTP/1.1', '127.0.0.1'],
    ['GET //api/audit HTTP/1.1', '127.0.0.1'],
    ['GET /health/../api/audit HTTP/1.1', '127.0.0.1'],
    ['GET /health%2f..%2fapi/audit HTTP/1.1', '127.0.0.1'],
    ['GET /assets/../api/audit HTTP/1.1', '127.0.0.1'],
    ['GET \\api\\audit HTTP/1.1', '127.0.0.1'],
  ] as const
  test.each(heads)('%s with Host %s › opens nothing', async (line, host) => {
    const answer = await rawRequest(rig.service.port, `${line}\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d/)
    expect(answer).not.toContain('"entries"')
  })

  test.each(['api_base', 'base_url', 'api_key', 'fallbacks', 'endpoint', 'host', 'custom_llm_provider'])(
    'the member %s moves no request',
    async (member) => {
      using elsewhere = faultUpstream(good())
      const body = question({ [member]: elsewhere.url })
      expect((await send('POST', '/v1/chat/completions', bearer(victim), body)).status).toBe(200)
      expect(elsewhere.hits).toEqual([])
    },
  )
})

describe('LiteLLM 1.82.7, hono: packages that change under a version', () => {
  test.each(['.', 'test'])('in %s versions are exact, and the lock file has the checksum of each', (folder) => {
    const manifest: unknown = JSON.parse(textOf(`${folder}/package.json`))
    const wanted = ['dependencies', 'devDependencies'].flatMap((kind) => Object.values(pick(manifest, kind) ?? {}))
    expect(wanted.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)))).toEqual([])
    const lock: unknown = JSON.parse(textOf(`${folder}/package-lock.json`))
    const packages = Object.entries(pick(lock, 'packages') ?? {})
    const loose = packages.filter(([name, entry]) => name.includes('node_modules/') && pick(entry, 'link') !== true)
    expect(loose.filter(([, entry]) => pick(entry, 'integrity') === undefined).map(([name]) => name)).toEqual([])
  })

  test('only one package may run a script when it is installed', () => {
    expect(pick(JSON.parse(textOf('package.json')), 'allowScripts')).toEqual({ bun: true })
    expect(textOf('.ci/run')).toContain('npm ci')
    expect(textOf('scripts/install-test-packages.ts')).toContain("'npm', 'ci', '--ignore-scripts'")
  })
})

describe.each(databases)('CVE-2026-25591: wildcards in a search that stop the database, on %s', (_kind, make) => {
  let database: TestDatabase
  let reader: UseReader
  beforeAll(async () => {
    database = await make()
    await (await database.open()).close()
    const store = database.useStore()
    const records = Array.from({ length: 2_000 }, (_, index) =>
      usedRequest({ time: Date.now() - index, id: `r-${index}`, listedAs: `${'a'.repeat(90)}${index}` }),
    )
    await store.write([batchOf(1, records)])
    await store.close()
    reader = await database.useReader()
  }, 30_000)
  afterAll(() => database.remove())

  /** Goes on where the search of a page ended without requests, as it does on a busy machine. */
  async function found(filter: RequestFilter, before?: RequestPlace): Promise<readonly string[]> {
    const place = before === undefined ? {} : { before }
    const { requests, next } = await reader.requests.page({ scope: {}, filter, rowsMax: 10, ...place })
    if (requests.length === 0 && next !== undefined) return found(filter, next)
    return requests.map(({ id }) => id)
  }

  test.each(['%%%', '%'.repeat(200), '_'.repeat(95), '%a'.repeat(90), '%_'.repeat(100), '\\%', '*', '?a'])(
    '%s › is text that no name has, and is searched at once',
    async (text) => {
      const started = performance.now()
      for (const filter of [{ text }, { model: text }, { provider: text }, { person: text }, { key: text }])
        expect(await found(filter)).toEqual([])
      expect(performance.now() - started).toBeLessThan(2_000)
    },
  )

  test('names are found by a part of them', async () => {
    // The newest one: a search that takes long goes on with the next page.
    expect((await found({ text: 'AA7' }))[0]).toBe('r-7')
  })
})

test('CVE-2026-25591: a filter of a request is bounded', async () => {
  for (const name of ['text', 'model', 'person', 'provider', 'key'])
    expect((await send('GET', `/api/log?${name}=${'%25'.repeat(5_000)}`, bearer(victim))).status).toBe(400)
})

describe("CVE-2026-30886: another's request by its id", () => {
  test('is seen by its own line of keys alone, on every route', async () => {
    const id = 'of-the-victim'
    expect(
      (await send('POST', '/v1/chat/completions', { ...bearer(victim), 'x-request-id': id }, question())).status,
    ).toBe(200)
    const seen = async (key: string) => {
      const paths = [`/api/requests/${id}`, '/api/requests', '/api/log', '/api/running']
      const answers = await Promise.all(paths.map((path) => send('GET', path, bearer(key))))
      return answers.map(({ text }) => text.includes(id))
    }
    expect(await seen(other)).toEqual([false, false, false, false])
    expect((await seen(victim)).slice(0, 2)).toEqual([true, true])
  })
})

describe('CVE-2026-41432, GHSA-g53w-w6mj-hrpp: empty and default secrets', () => {
  const starting = (options: Partial<Parameters<typeof startService>[1]>, more: object = {}) =>
    startService({ providers: [provider('a', 'http://127.0.0.1:1/v1')], ...more }, options).then(
      (service) => service.stop().then(() => 'it started'),
      String,
    )
  const empty = ['', ' \t ']

  test.each(empty)('a history whose SVC_HISTORY_KEY is %j › does not start', async (SVC_HISTORY_KEY) => {
    const options = { flags: ['--auth', 'keys'], environment: { SVC_HISTORY_KEY } }
    expect(await starting(options, { history: 'server' })).toContain('exited with 2')
  })

  test.each(empty)('access.json with the hash %j of a key › does not start', async (hash) => {
    const files = { 'access.json': JSON.stringify({ keys: [{ name: 'ci', hash }] }) }
    const said = await starting({ flags: ['--auth', 'keys'], files })
    expect(said).toContain('exited with 2')
    expect(said).toContain('keys[0].hash')
  })

  test.each(empty)('a provider with the key %j › does not start', async (api_key) => {
    const providers = [{ ...provider('a', 'http://127.0.0.1:1/v1'), api_key }]
    expect(await starting({}, { providers })).toContain('exited with 2')
  })

  test('the hash of nothing is no key: an empty credential never passes', async () => {
    const hash = new Bun.CryptoHasher('sha256').update('').digest('hex')
    const files = { 'access.json': JSON.stringify({ keys: [{ name: 'ci', hash }] }) }
    await using service = await startService(
      { providers: [provider('a', 'http://127.0.0.1:1/v1')] },
      { flags: ['--auth', 'keys'], files },
    )
    const body = JSON.stringify(question())
    for (const line of [
      'authorization: Bearer ',
      'authorization: Bearer',
      'x-api-key: ',
      'x-goog-api-key:',
      'cookie: token=',
    ]) {
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n`
      expect(await rawRequest(service.port, `${head}connection: close\r\n${line}\r\n\r\n${body}`)).toStartWith(
        'HTTP/1.1 401',
      )
    }
  })

  test('no secret has a default', () => {
    const given = /(?:secret|password|token|apiKey)\w*\s*(?:\?\?|\|\||=)\s*'[\w-]{6,}'/i
    expect(sources.filter((file) => given.test(textOf(file)))).toEqual([])
  })

  test("headers that are svc's own choose nothing when a caller sends them, and go to no provider", async () => {
    using first = faultUpstream(good({ name: 'first' }))
    using second = faultUpstream(good({ name: 'second' }))
    const models = [{ name: 'm', upstream: 'm-1' }]
    await using service = await startService({
      providers: [provider('a', first.url, [], { models }), provider('b', second.url, [], { models })],
    })
    const names = [
      'provider',
      'model',
      'user',
      'attempts',
      'trail',
      'dropped',
      'adjusted',
      'base-url',
      'upstream',
      'owner',
    ]
    const headers = Object.fromEntries(names.map((name) => [`x-svc-${name}`, name === 'provider' ? 'b' : second.url]))
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'x-forwarded-host': new URL(second.url).host },
      body: JSON.stringify(question()),
    })
    expect([response.status, response.headers.get('x-svc-provider'), response.headers.get('x-svc-model')]).toEqual([
      200,
      'a',
      'm-1',
    ])
    expect(second.hits).toEqual([])
    const sent = [...(first.hits[0]?.headers.keys() ?? [])]
    expect(sent.filter((name) => /^x-(?:svc|forwarded)/.test(name))).toEqual([])
  })
})

describe('CVE-2026-45400, CVE-2026-31943, CVE-2025-66405: addresses that parsers read differently', () => {
  /** What a brand of free servers costs at an address, if no price is set. */
  const isFree = (host: string): boolean =>
    resolveProvider({ id: 'ollama', baseUrl: `http://${host}:11434/v1` }, {}).quirks.isFree

  // More spellings: src/base/this-machine.test.ts
  test.each(['127.0.0.1', '[::1]', 'localhost', 'localhost.', '127.1', '0x7f.1', '[::ffff:7f00:1]', '0.0.0.0'])(
    '%s › is this machine, where servers of your own are free',
    (host) => {
      expect(isFree(host)).toBe(true)
    },
  )

  test.each([
    'example.org',
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:7f:1]',
    '10.0.0.1',
    'localhost.example.org',
    '127.0.0.1.evil.example',
    'localtest.me',
  ])('%s › is not this machine, so nothing there counts as free', (host) => {
    expect(isFree(host)).toBe(false)
  })

  test('a redirect of a provider is never followed', async () => {
    using target = faultUpstream(good())
    using moved = faultUpstream((exchange) =>
      exchange.write(`HTTP/1.1 307 x\r\nlocation: ${target.url}\r\ncontent-length: 0\r\n\r\n`),
    )
    await using service = await startService({ providers: [provider('a', moved.url)] })
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question()),
    })
    expect(response.status).toBe(502)
    expect(target.hits).toEqual([])
  })
})

const messages = [{ role: 'user', content: 'x' }]
const content = { parts: [{ text: 'x' }] }
/** Requests of all endpoints that ask a model, by the end of the path, the longest first. */
const bodies: readonly (readonly [end: string, fields: object])[] = [
  ['/chat/completions', { messages }],
  ['/api/chat', { messages }],
  ['/messages', { messages, max_tokens: 1 }],
  ['/messages/count_tokens', { messages }],
  ['/responses', { input: 'x' }],
  ['/responses/input_tokens', { input: 'x' }],
  ['/responses/compact', { input: 'x' }],
  [':generateContent', { contents: [content] }],
  [':streamGenerateContent', { contents: [content] }],
  [':countTokens', { contents: [content] }],
  [':embedContent', { content }],
  [':batchEmbedContents', { requests: [{ content }] }],
  ['/embeddings', { input: 'x' }],
  ['/completions', { prompt: 'x' }],
  ['/moderations', { input: 'x' }],
  ['/rerank', { query: 'x', documents: ['x'] }],
  ['/images/generations', { prompt: 'x' }],
  ['/audio/speech', { input: 'x', voice: 'a' }],
  ['/images/edits', { prompt: 'x', image: new Blob(['x'], { type: 'image/png' }) }],
  ['/images/variations', { image: new Blob(['x'], { type: 'image/png' }) }],
  ['/audio/transcriptions', { file: new Blob(['x'], { type: 'audio/wav' }) }],
  ['/audio/translations', { file: new Blob(['x'], { type: 'audio/wav' }) }],
]
/** A request for a model: its address below the service, and its members. */
function requestFor(path: string, model: string) {
  const fields = bodies.find(([end]) => path.endsWith(end))?.[1] ?? expect.unreachable(path)
  const address = path.replace('{model}', encodeURIComponent(model)) + (path.includes(':stream') ? '?alt=sse' : '')
  const isForm = Object.values(fields).some((value) => value instanceof Blob)
  return { address, isForm, members: { ...(path.includes('{model}') ? {} : { model }), ...fields } }
}

function formOf(members: object, ...more: readonly (readonly [string, string])[]): FormData {
  const form = new FormData()
  for (const [name, value] of [...Object.entries(members), ...more]) form.append(name, value)
  return form
}

const asking = documentedRoutes().filter(
  ({ method, path }) =>
    method === 'POST' &&
    /^\/(?:v1|v1beta|api\/chat)(?:\/|$)/.test(path) &&
    !/^\/v1\/(?:keys|metrics|logs|traces)/.test(path),
)

describe("CVE-2026-44563: side endpoints that skip a key's models", () => {
  async function ask(path: string, model: string, key: string) {
    const { address, isForm, members } = requestFor(path, model)
    const answer = await fetch(rig.service.url + address, {
      method: 'POST',
      headers: bearer(key),
      body: isForm ? formOf(members) : JSON.stringify(members),
    })
    return { status: answer.status, text: await answer.text(), attempts: answer.headers.get('x-svc-attempts') }
  }

  test.each(asking)('POST $path › refuses another model, in each spelling of its name', async ({ path }) => {
    const limited = await rig.makeKey({ name: 'limited', scopes: ['chat'], models: ['none'] })
    for (const model of ['m', 'M', 'a/m', 'A/M', 'alias', 'ALIAS']) {
      const { status, attempts } = await ask(path, model, limited)
      expect([model, status, attempts ?? '0']).toEqual([model, 403, '0'])
    }
    // The same request is well-formed: a key for the model gets beyond the check.
    if (path !== '/api/chat') expect([200, 501, 502]).toContain((await ask(path, 'm', other)).status)
  })

  test.each(['/v1/models', '/v1beta/models', '/v1/models/m', '/v1beta/models/m', '/v1/models/a%2Fm'])(
    'GET %s › does not show another model',
    async (path) => {
      const limited = await rig.makeKey({ name: 'limited', scopes: ['models:read'], models: ['none'] })
      const { status, text } = await send('GET', path, bearer(limited))
      expect([status, text.includes('"a"')]).toEqual([path.endsWith('models') ? 200 : 404, false])
      expect((await send('GET', path, bearer(rig.key))).status).toBe(200)
    },
  )
})

describe('GHSA-4gph-2hhr-5mwg: two names of one member', () => {
  test('the model that is checked is the model that is asked', async () => {
    for (const name of ['Model', 'MODEL', 'mod\\u0065L', 'model'])
      for (const body of [
        `{"model":"m","messages":[],"${name}":"dear"}`,
        `{"${name}":"dear","model":"m","messages":[]}`,
      ]) {
        const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
          method: 'POST',
          body,
          headers: bearer(other),
        })
        expect(response.status).toBe(400)
      }
  })

  let upstream: FaultUpstream
  let service: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    upstream = faultUpstream(good())
    service = await startService({ providers: [provider('a', upstream.url)] })
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    await upstream.stop()
  })

  test.each(asking)('POST $path › names both spellings, and asks no provider', async ({ path }) => {
    const { address, isForm, members } = requestFor(path, 'm')
    const [meant = ''] = Object.keys(members)
    const name = meant.charAt(0).toUpperCase() + meant.slice(1)
    const response = await fetch(service.url + address, {
      method: 'POST',
      body: isForm ? formOf(members, [name, 'x']) : `${JSON.stringify(members).slice(0, -1)},"${name}":{}}`,
      headers: isForm ? {} : { 'content-type': 'application/json', 'x-svc-answer': 'some-answer-of-16' },
    })
    const message = pick(await response.json(), 'error', 'message')
    expect([response.status, message]).toEqual([
      400,
      expect.stringContaining(`'${name}' is another spelling of '${meant}'`),
    ])
    expect(upstream.hits).toEqual([])
  })
})

describe('bifrost#7830: a fresh instance that belongs to the first visitor', () => {
  const edits: readonly (readonly [path: string, body?: object])[] = [
    ['/api/providers', { version: 'missing', id: 'x', change: 'add', entry: { baseUrl: 'http://127.0.0.1:1/v1' } }],
    ['/api/providers', { version: 'x', id: 'a', change: 'edit', edit: { baseUrl: 'http://127.0.0.1:1/v1' } }],
    ['/api/providers', { version: 'x', id: 'a', change: 'remove' }],
    ['/api/providers/look', { id: 'x', entry: { baseUrl: 'http://127.0.0.1:1/v1' } }],
    ['/api/providers/brands'],
    ['/api/providers/settings?id=a'],
    ['/api/limits/file', { text: '{}', version: 'missing' }],
    ['/api/limits/check', { text: '{}' }],
    ['/api/limits/draft', {}],
    ['/api/limits/file'],
    ['/api/program-keys', { key: { name: 'x' }, limit: {} }],
  ]

  test.each([[[]], [['--workers', '2']]])(
    'on all addresses without sign-in › no visitor decides where prompts and keys go: %j',
    async (flags) => {
      await using service = await startService(
        { providers: [provider('a', 'http://127.0.0.1:1/v1')] },
        { flags: ['--host', '0.0.0.0', ...flags] },
      )
      const before = await Bun.file(service.file).text()
      for (const [path, body] of edits) {
        const request = body && { method: 'POST', body: JSON.stringify(body), headers: json }
        const response = await fetch(`${service.url}${path}`, request)
        expect([path, response.status, pick(await response.json(), 'error', 'code')]).toEqual([
          path,
          403,
          'not_from_here',
        ])
      }
      expect(pick(await (await fetch(`${service.url}/api/providers`)).json(), 'mayAdd')).toBeUndefined()
      expect(await Bun.file(service.file).text()).toBe(before)
    },
  )

  test('with keys › a visitor without one is refused everywhere', async () => {
    await using service = await startService(
      { providers: [provider('a', 'http://127.0.0.1:1/v1')] },
      { flags: ['--host', '0.0.0.0', '--auth', 'keys'] },
    )
    for (const path of ['/api/providers', '/api/requests', '/v1/models', '/v1/keys', '/metrics'])
      expect((await fetch(`${service.url}${path}`)).status).toBe(401)
    const made = await fetch(`${service.url}/v1/keys`, { method: 'POST', body: '{"name":"mine"}', headers: json })
    expect(made.status).toBe(401)
  })
})

describe('every answer', () => {
  test.each(documentedRoutes())('$method $path › its type must not be guessed', async ({ method, path }) => {
    for (const each of [method, 'OPTIONS', 'PUT']) {
      const { headers } = await send(each, filled(path), bearer(other), each === 'GET' ? undefined : {})
      expect([each, headers.get('x-content-type-options')]).toEqual([each, 'nosniff'])
    }
  })

  test('says so as a stream, an unchanged page, without a body, and where nothing is', async () => {
    const page = await send('GET', '/')
    const answers = [
      page,
      await send('GET', '/', { 'if-none-match': page.headers.get('etag') ?? '' }),
      await send('HEAD', '/health'),
      await send('GET', '/nothing'),
      await send('POST', '/v1/chat/completions', bearer(victim), question({ stream: true })),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 200, 401, 200])
    for (const { headers } of answers) expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  const ofSignIn =
    /^\/auth|^\/api\/sessions|^\/oauth|^\/device|^\/\.well-known|^\/managed|^\/v1\/(?:metrics|logs|traces)/
  test.each([...new Set(documentedRoutes().map(({ path }) => path))].filter((path) => !ofSignIn.test(path)))(
    'TRACE %s › is refused like an unknown method, and repeats no header',
    async (path) => {
      const head = `TRACE ${filled(path)} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${other}\r\n`
      const answer = await rawRequest(rig.service.port, `${head}connection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 405/)
      expect(answer).toMatch(/^allow: [A-Z, ]+\r$/im)
      expect(answer).not.toContain(other)
    },
  )
})
