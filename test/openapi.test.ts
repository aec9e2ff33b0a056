import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import description from '../schema/openapi.json' with { type: 'json' }
import { pythonPackage } from './fakes/python.ts'
import { startService, type ServiceUnderTest } from './harness.ts'
import { needs } from './needs.ts'

/** What Python installs takes a minute, once. */
const schemathesis = await pythonPackage('schemathesis==4.32.5')
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ ...description, $id: 'api' })

/** Faults of a JSON answer in the schema at these places of the description. */
async function faultsOf(response: Response, ...places: readonly string[]): Promise<unknown> {
  const pointer = places.map((place) => encodeURIComponent(place.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validate = ajv.compile({ $ref: `api#/${pointer}` })
  return validate(await response.json()) ? [] : validate.errors
}

const ask = { model: 'echo', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 20 }
const geminiAsk = { contents: [{ parts: [{ text: 'Hello!' }] }] }

describe('the description of the API', () => {
  let service: ServiceUnderTest
  beforeAll(async () => {
    service = await startService({ providers: [{ id: 'echo' }] })
  })
  afterAll(() => service.stop())

  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-svc-answer': 'answer-0123456789' },
    })

  test('is served, also as a page without scripts, and not sent again to those that have it', async () => {
    const response = await fetch(`${service.url}/openapi.json`)
    expect(await response.json()).toEqual(description)
    const known = { headers: { 'if-none-match': response.headers.get('etag') ?? '' } }
    expect((await fetch(`${service.url}/openapi.json`, known)).status).toBe(304)
    const page = await fetch(`${service.url}/openapi`)
    expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none'; style-src 'sha256-")
    const html = await page.text()
    expect(html).toContain('<code>POST /v1/chat/completions</code>')
    expect(html).not.toContain('<script')
  })

  test('says what every GET without parameters answers', async () => {
    const paths = Object.entries(description.paths)
      .filter(([path, methods]) => 'get' in methods && !path.includes('{') && !path.startsWith('/auth'))
      .map(([path]) => path)
    const answered: string[] = []
    for (const path of paths) {
      const response = await fetch(service.url + path)
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
      if (response.ok) answered.push(path)
      if (!isJson) continue
      const places = response.ok
        ? ['paths', path, 'get', 'responses', '200', 'content', 'application/json', 'schema']
        : ['components', 'schemas', path.startsWith('/v1beta') ? 'GeminiError' : 'Error']
      expect([path, await faultsOf(response, ...places)]).toEqual([path, []])
    }
    expect(answered.length).toBeGreaterThan(15)
  })

  test.each([
    ['/v1/chat/completions', ask],
    ['/v1/messages', ask],
    ['/v1/responses', { model: 'echo', input: 'Hello!' }],
    ['/v1/embeddings', { model: 'echo', input: 'Hello!' }],
    ['/v1beta/models/{model}:generateContent', geminiAsk],
    ['/v1beta/models/{model}:embedContent', { content: { parts: [{ text: 'Hello!' }] } }],
    ['/api/chat', ask],
    ['/api/limits/check', { text: '{}' }],
    ['/api/providers/test', { id: 'echo' }],
  ])('says what POST %s answers', async (path, body) => {
    const response = await post(path.replace('{model}', 'echo'), body)
    expect(response.status).toBe(200)
    const places = ['paths', path, 'post', 'responses', '200', 'content', 'application/json', 'schema']
    expect(await faultsOf(response, ...places)).toEqual([])
  })

  test.each([
    ['Error', '/v1/chat/completions', {}],
    ['Error', '/v1/responses', {}],
    ['Error', '/api/providers/test', {}],
    ['MessagesError', '/v1/messages', {}],
    ['GeminiError', '/v1beta/models/echo:generateContent', { contents: 1 }],
  ])('says that a fault is an %s at %s', async (name, path, body) => {
    const response = await post(path, body)
    expect(response.status).toBe(400)
    expect(await faultsOf(response, 'components', 'schemas', name)).toEqual([])
  })

  test.skipIf(schemathesis === undefined)(
    'holds for what schemathesis makes of it',
    async () => {
      const { code, out } = await runSchemathesis(service.url)
      expect(code === 0 ? '' : out).toBe('')
      expect(out).toMatch(/Tested: \d\d/)
    },
    120_000,
  )
})

/** Patterns that schemathesis cannot make texts of, and paths that answer as others do. */
const leftOut = '^/api/(limits/check|limits/file|sign-in)|^/v1/models/.*:|_tokens$|/compact$'

/** Some requests for each route, always the same. Models are the one that the service has. */
async function runSchemathesis(url: string): Promise<{ readonly code: number; readonly out: string }> {
  // Its tables of characters take seconds to make.
  const cache = join(schemathesis ?? '', '.hypothesis')
  const folder = await mkdtemp(join(tmpdir(), 'svc-openapi-'))
  try {
    const known = JSON.stringify(description)
      .replaceAll('"model":{"type":"string"', '"model":{"const":"echo","type":"string"')
      .replaceAll(
        /("name":"(?:model|id)","in":"path","required":true,"schema":\{)(?=[^}]*\},"description")/g,
        '$1"const":"echo",',
      )
    await Bun.write(join(folder, 'openapi.json'), known)
    // Echo serves no relayed endpoint: 501.
    const settings = '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", 501]\n'
    await Bun.write(join(folder, 'schemathesis.toml'), settings)
    const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']
    const child = Bun.spawn(
      [
        ...[needs('python3') ?? '', '-m', 'schemathesis.cli', '--config-file', 'schemathesis.toml'],
        ...['run', 'openapi.json', '--url', url, '--phases', 'fuzzing', '--max-examples', '2', '--no-shrink'],
        ...['--seed', '1', '--generation-deterministic', '--request-timeout', '5', '--no-color'],
        ...['--checks', [...checks, 'response_schema_conformance'].join(',')],
        ...['--exclude-path-regex', leftOut],
      ],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: schemathesis ?? '', HYPOTHESIS_STORAGE_DIRECTORY: cache },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
      },
    )
    const [out, code] = await Promise.all([child.stdout.text(), child.exited])
    return { code, out }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
