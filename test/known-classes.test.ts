import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopback } from '../src/config/file/provider-target.ts'
import { pick, question, rawRequest } from './client.ts'
import { faultUpstream, type FaultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService } from './harness.ts'
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
  rig = await startLedgerRig([good()])
  victim = await rig.makeKey({ name: 'victim', scopes: ['chat', 'log:read'] })
  other = await rig.makeKey({ name: 'other', scopes: ['chat', 'log:read'], models: ['m'] })
})
afterAll(() => rig[Symbol.asyncDispose]())

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })

async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: object) {
  const response = await fetch(`${rig.service.url}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A path of the documents with its open places filled. */
const filled = (path: string): string => path.replaceAll(/\{(?:model)\}/g, 'm').replaceAll(/\{\w+\}/g, 'some-id')

describe('CVE-2026-42208: SQL in the key of a caller', () => {
  const hostile = [`' OR '1'='1`, `"; DROP TABLE keys;--`, `sk' UNION SELECT 1--`, 'a'.repeat(60_000), `%' --`]
  test.each(hostile.map((key) => [key.slice(0, 30), key] as const))('%s › is an unknown key', async (_shown, key) => {
    for (const headers of [bearer(key), { 'x-api-key': key }, { 'x-goog-api-key': key }]) {
      const { status, text } = await send('POST', '/v1/chat/completions', headers, question())
      expect([401, 431]).toContain(status)
      expect(text).not.toMatch(/sql|syntax|unrecognized token/i)
    }
    expect(rig.read('SELECT count(*) AS count FROM key')[0]?.['count']).toBeGreaterThan(0)
  })

  test('bytes that are no text are refused too', async () => {
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\nconnection: close\r\n'
    for (const key of ['\xff\xfe', "\x80' OR 1", "a\0'b"])
      expect(await rawRequest(rig.service.port, `${head}authorization: Bearer ${key}\r\n\r\n{}`)).toMatch(
        /^(?:HTTP\/1\.1 4\d\d|$)/,
      )
  })

  test('no statement is built from values: what stands in one is a name of the code', () => {
    // Places of parameters, names of columns and tables, and lists of both are made by functions and constants.
    const value = /`[^`]*\b(?:SELECT|INSERT|UPDATE|DELETE)\b[^`]*'\$\{(?!(?:forgotten|forgottenMark|table)\})/
    expect(sources.filter((file) => value.test(textOf(file)))).toEqual([])
  })
})

describe('CVE-2026-42271, CVE-2026-22252: a test of a connection that runs a command', () => {
  test('nothing that serves a request starts a process', () => {
    const rooms = /^src\/(?:http|gateway|upstream|protocols|transport|formats|limits|ledger|extensions|service)\//
    const starting = /child_process|Bun\.spawn|Bun\.\$|new Function|\beval\(/
    expect(sources.filter((file) => rooms.test(file) && starting.test(textOf(file)))).toEqual([])
  })

  test.each(['/api/providers/test', '/api/providers/look', '/api/providers'])(
    'POST %s › is for no key, and no other origin',
    async (path) => {
      const body = { provider: { id: 'x', base_url: 'http://127.0.0.1:1/v1' } }
      expect((await send('POST', path, bearer(victim), body)).status).toBe(403)
      expect((await send('POST', path, { origin: 'https://evil.example' }, body)).status).toBeGreaterThanOrEqual(401)
    },
  )
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
      await using elsewhere = stopping(faultUpstream(good()))
      const body = question({ [member]: elsewhere.upstream.url })
      expect((await send('POST', '/v1/chat/completions', bearer(victim), body)).status).toBe(200)
      expect(elsewhere.upstream.hits).toEqual([])
    },
  )
})

describe('LiteLLM 1.82.7, hono: packages that change under a version', () => {
  const manifest: unknown = JSON.parse(textOf('package.json'))

  test('versions are exact, and the lock file has the checksum of each', () => {
    const wanted = ['dependencies', 'devDependencies'].flatMap((kind) => Object.values(pick(manifest, kind) ?? {}))
    expect(wanted.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)))).toEqual([])
    const lock: unknown = JSON.parse(textOf('package-lock.json'))
    const packages = Object.entries(pick(lock, 'packages') ?? {})
    const loose = packages.filter(([name, entry]) => name.includes('node_modules/') && pick(entry, 'link') !== true)
    expect(loose.filter(([, entry]) => pick(entry, 'integrity') === undefined).map(([name]) => name)).toEqual([])
    expect(textOf('.ci/run')).toContain('npm ci')
  })

  test('only one package may run a script when it is installed', () => {
    expect(pick(manifest, 'allowScripts')).toEqual({ bun: true })
  })
})

describe('CVE-2026-25591: patterns in a search that stop the database', () => {
  test.each(['%'.repeat(500), '_'.repeat(500), '%_%'.repeat(300), '*'.repeat(500)])('%#', async (text) => {
    const started = performance.now()
    for (const name of ['model', 'user', 'provider', 'id'])
      expect((await send('GET', `/api/log?${name}=${encodeURIComponent(text)}`, bearer(victim))).status).toBeLessThan(
        500,
      )
    expect((await send('GET', `/api/keys?name=${encodeURIComponent(text)}`)).status).toBeLessThan(500)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe("CVE-2026-30886, CVE-2026-31950: another's things by their id", () => {
  test('a request is seen by its own line of keys alone, on every route', async () => {
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

  test.each(documentedRoutes().filter(({ path }) => /\{id\}/.test(path) && path.startsWith('/api/')))(
    '$method $path › is closed without a session, and for keys of others',
    async ({ method, path }) => {
      for (const headers of [{}, bearer(other)])
        expect([401, 403, 404, 405]).toContain((await send(method, filled(path), headers)).status)
    },
  )
})

describe('CVE-2026-41432, GHSA-g53w-w6mj-hrpp: empty and default secrets', () => {
  test.each([
    ['SVC_HISTORY_KEY', ''],
    ['SVC_HISTORY_KEY', '   '],
  ])('history with %s=%j › does not start', async (name, value) => {
    const config = { history: 'server' as const, providers: [provider('a', 'http://127.0.0.1:1/v1')] }
    await expect(startService(config, { flags: ['--auth', 'keys'], environment: { [name]: value } })).rejects.toThrow()
  })

  test('no secret has a default', () => {
    const given = /(?:secret|password|token|apiKey)\w*\s*(?:\?\?|\|\||=)\s*'[\w-]{6,}'/i
    expect(sources.filter((file) => given.test(textOf(file)))).toEqual([])
  })

  test("headers that are svc's own do nothing when a caller sends them", async () => {
    const headers = { ...bearer(other), 'x-svc-provider': 'b', 'x-svc-model': 'dear', 'x-svc-user': 'root' }
    const answer = await send('POST', '/v1/chat/completions', headers, question())
    expect(answer.headers.get('x-svc-provider')).toBe('a')
  })
})

describe('CVE-2026-45400, CVE-2026-31943, CVE-2025-66405: addresses that parsers read differently', () => {
  test.each(['127.0.0.1', '[::1]', 'localhost', '127.1', '0x7f.1', '2130706433', '[::ffff:7f00:1]'])(
    '%s › is this machine',
    (host) => {
      expect(isLoopback(`http://${host}:8080/v1`)).toBe(true)
    },
  )

  test.each([
    'example.org',
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '10.0.0.1',
    'localhost.example.org',
    '127.0.0.1.evil.example',
  ])('%s › is not this machine, so nothing there counts as free', (host) => {
    expect(isLoopback(`http://${host}:8080/v1`)).toBe(false)
  })

  test('a redirect of a provider is never followed', async () => {
    await using target = stopping(faultUpstream(good()))
    await using moved = stopping(
      faultUpstream((exchange) =>
        exchange.write(`HTTP/1.1 307 x\r\nlocation: ${target.upstream.url}\r\ncontent-length: 0\r\n\r\n`),
      ),
    )
    await using service = await startService({ providers: [provider('a', moved.upstream.url)] })
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question()),
    })
    expect(response.status).toBe(502)
    expect(target.upstream.hits).toEqual([])
  })
})

describe('CVE-2026-44571: what may be read may be written', () => {
  const writing = documentedRoutes().filter(
    ({ method, path }) => method !== 'GET' && !/^\/(?:v1|v1beta|auth)\//.test(path),
  )
  test.each(writing)('$method $path › is for no key with the scope log:read', async ({ method, path }) => {
    expect([401, 403, 404, 405]).toContain((await send(method, filled(path), bearer(victim), {})).status)
  })

  test.each(documentedRoutes().filter(({ path }) => path.startsWith('/v1/keys')))(
    '$method $path › is for management keys alone',
    async ({ method, path }) => {
      expect((await send(method, filled(path), bearer(victim), method === 'POST' ? {} : undefined)).status).toBe(403)
    },
  )
})

describe("CVE-2026-44563: side endpoints that skip a key's models", () => {
  const body = {
    messages: [{ role: 'user', content: 'x' }],
    input: 'x',
    prompt: 'x',
    query: 'q',
    documents: ['a'],
    voice: 'a',
    max_tokens: 1,
    contents: [{ parts: [{ text: 'x' }] }],
    content: { parts: [{ text: 'x' }] },
    requests: [{ model: 'models/secret', content: { parts: [{ text: 'x' }] } }],
  }
  const asking = documentedRoutes().filter(
    ({ method, path }) =>
      method === 'POST' &&
      /^\/(?:v1|v1beta)\//.test(path) &&
      !path.startsWith('/v1/keys') &&
      !/edits|variations|transcriptions|translations/.test(path),
  )
  test.each(asking)('POST $path › refuses another model, in each spelling of its name', async ({ path }) => {
    const limited = await rig.makeKey({ name: 'limited', scopes: ['chat'], models: ['none'] })
    for (const model of ['m', 'M', 'a/m', 'A/M']) {
      const address = path.replace('{model}', encodeURIComponent(model)).replace(':stream', ':stream')
      const query = path.includes('stream') ? '?alt=sse' : ''
      const answer = await send(
        'POST',
        `${address}${query}`,
        bearer(limited),
        path.includes('{model}') ? body : { ...body, model },
      )
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.headers.get('x-svc-attempts') ?? '0').toBe('0')
    }
  })
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
})

describe('bifrost#7830: a fresh instance that belongs to the first visitor', () => {
  test('on all addresses, without sign-in, no visitor may change the providers', async () => {
    await using service = await startService(
      { providers: [provider('a', 'http://127.0.0.1:1/v1', [], { models: [{ name: 'm', price }] })] },
      { flags: ['--host', '0.0.0.0'] },
    )
    const response = await fetch(`${service.url}/api/limits/file`, {
      method: 'POST',
      body: JSON.stringify({ text: '{}', fingerprint: 'x', version: 'x' }),
      headers: { origin: service.url, 'content-type': 'application/json' },
    })
    expect(pick(await (await fetch(`${service.url}/api/providers`)).json(), 'mayEdit')).not.toBe(true)
    expect([401, 403]).toContain(response.status)
  })
})

describe('every answer', () => {
  test.each(documentedRoutes())('$method $path › its type must not be guessed', async ({ method, path }) => {
    for (const each of [method, 'OPTIONS', 'PUT']) {
      const { headers } = await send(each, filled(path), bearer(other), each === 'GET' ? undefined : {})
      expect([each, headers.get('x-content-type-options')]).toEqual([each, 'nosniff'])
    }
  })

  test('TRACE is no method of any path', async () => {
    for (const path of ['/', '/health', '/v1/models', '/v1/chat/completions', '/api/boot']) {
      const lines = [`TRACE ${path} HTTP/1.1`, 'host: 127.0.0.1', `authorization: Bearer ${other}`, 'connection: close']
      const head = `${lines.join('\r\n')}\r\n\r\n`
      const answer = await rawRequest(rig.service.port, head)
      expect(answer).toMatch(/^HTTP\/1\.1 40[15]/)
      expect(answer).not.toContain(other)
    }
  })
})

function stopping(upstream: FaultUpstream) {
  return { upstream, [Symbol.asyncDispose]: async () => void (await upstream.stop()) }
}
