import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { Access } from '../formats/access.ts'
import { WireError } from '../formats/error.ts'
import { formats } from '../formats/format-list.ts'
import { jsonResponse } from './json-response.ts'
import type { Guard } from './pass-guards.ts'
import { router, type Route } from './route.ts'
import {
  preflight,
  requestPath,
  startServer,
  withCors,
  type Routing,
  type Server,
  type ServerOptions,
} from './server.ts'
import { statusRoutes } from './status-routes.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
})

const mistakes: { readonly error: unknown; readonly id: string }[] = []

const routes: readonly Route[] = [
  { method: 'GET', path: '/open', isPublic: true, handle: ({ id, path }) => jsonResponse({ path }, id) },
  { method: 'GET', path: '/closed', isPublic: false, handle: ({ id }) => jsonResponse({ secret: true }, id) },
  {
    method: 'POST',
    path: '/v1/echo',
    format: formats.chat,
    isPublic: false,
    handle: async ({ request, id }) => jsonResponse({ body: await request.text() }, id),
  },
  {
    method: 'GET',
    path: '/refused',
    isPublic: true,
    handle: () => {
      throw new WireError(418, 'invalid_request_error', 'teapot', 'no', { headers: { 'x-own': '1' } })
    },
  },
  {
    method: 'GET',
    path: '/internal-error',
    isPublic: true,
    handle: () => {
      throw new TypeError('secret detail')
    },
  },
  { method: 'GET', path: '/v1/models/', isPublic: true, handle: ({ id, path }) => jsonResponse({ path }, id) },
]

type StartOptions = Partial<
  Omit<ServerOptions, 'routing'> & Pick<Routing, 'guards' | 'origins'> & { readonly routes: readonly Route[] }
>

const allOrigins: Routing['origins'] = { allows: () => true, check: () => undefined }

function start({ routes: given = routes, guards = [], origins = allOrigins, ...options }: StartOptions = {}): string {
  mistakes.length = 0
  const routing = { router: router(given), guards, origins }
  const server = startServer({
    host: '127.0.0.1',
    port: 0,
    isPortShared: false,
    routing: () => routing,
    isClosing: () => false,
    onInternalError: (error, id) => mistakes.push({ error, id }),
    ...options,
  })
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}

/** Status line and body of the answer to raw bytes. */
function raw(base: string, text: string): Promise<{ readonly status: number; readonly answer: string }> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(base).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (bytes) => {
      answer += bytes.toString()
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve({ status: Number(answer.slice(9, 12)), answer }))
    socket.on('error', reject)
  })
}

describe('the server', () => {
  test('sends a request to its route', async () => {
    const response = await fetch(`${start()}/v1/echo`, {
      method: 'POST',
      body: 'hi',
      headers: { 'x-request-id': 'mine-1' },
    })
    expect(await response.json()).toEqual({ body: 'hi' })
    expect(response.headers.get('x-request-id')).toBe('mine-1')
  })

  test('gives a request an id where it has none', async () => {
    expect((await fetch(`${start()}/open`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('answers HEAD as GET, without a body', async () => {
    const response = await fetch(`${start()}/open`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  test.each([
    ['GET', '/open', 200],
    ['GET', '/open?a=b', 200],
    ['GET', '/x/../open', 200],
    ['GET', 'http://127.0.0.1/open', 200],
    ['HEAD', '/open', 200],
    ['GET', '/open/', 404],
    ['GET', '//open', 404],
    ['GET', '/OPEN', 404],
    ['GET', '/ope%6e', 404],
    ['PUT', '/open', 405],
    ['TRACE', '/open', 405],
  ])('answers %s %s with %p, whether the path is common or not', async (method, target, status) => {
    const head = `${method} ${target} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
    const answers = [await raw(start(), head), await raw(start({ commonPaths: ['/open'] }), head)]
    expect(answers.map((answer) => answer.status)).toEqual([status, status])
  })

  test.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['POST', '/open', 405, 'method_not_allowed'],
    ['GET', '/v1/echo', 405, 'method_not_allowed'],
  ] as const)('answers %s %s with %p in the shape of docs/errors.md', async (method, path, status, code) => {
    const response = await fetch(`${start()}${path}`, { method })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: null, code } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('lists the allowed methods with 405', async () => {
    expect((await fetch(`${start()}/v1/echo`)).headers.get('allow')).toBe('POST, OPTIONS')
    const trace = 'TRACE /v1/echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
    expect((await raw(start(), trace)).answer).toMatch(/^allow: POST, OPTIONS\r$/im)
  })

  test('answers a preflight before any guard', async () => {
    const base = start({
      guards: [() => Promise.reject(new WireError(401, 'authentication_error', 'authentication_required', 'no'))],
    })
    const response = await fetch(`${base}/v1/echo`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-headers': 'authorization' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization')
    expect((await fetch(`${base}/nowhere`, { method: 'OPTIONS' })).status).toBe(401)
  })

  test.each([
    ['/v1/nowhere', 'https://page.example'],
    ['/metrics', null],
    ['/v1nowhere', null],
  ])('lets a page read errors of the API, and nothing else: %s', async (path, origin) => {
    const response = await fetch(`${start()}${path}`, { headers: { origin: 'https://page.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test('refuses another website before it reads a body or asks a guard, and preflights too', async () => {
    const asked: string[] = []
    const refused = new WireError(403, 'permission_error', 'origin_not_allowed', 'no')
    const base = start({
      guards: [async ({ path }) => void asked.push(path)],
      origins: {
        allows: () => false,
        check() {
          throw refused
        },
      },
    })
    const head = 'Host: x\r\nOrigin: https://page.example\r\nConnection: close\r\n'
    for (const start of ['POST /v1/echo HTTP/1.1\r\nContent-Length: 9\r\n', 'OPTIONS /v1/echo HTTP/1.1\r\n']) {
      const { status, answer } = await raw(base, `${start}${head}\r\n`)
      expect([status, answer.includes('"code":"origin_not_allowed"')]).toEqual([403, true])
      expect(answer.toLowerCase()).not.toContain('access-control')
    }
    expect(asked).toEqual([])
  })

  test('sends the headers of an error', async () => {
    const response = await fetch(`${start()}/refused`)
    expect(response.status).toBe(418)
    expect(response.headers.get('x-own')).toBe('1')
    expect(mistakes).toEqual([])
  })

  test('answers an internal error with a generic 500, and logs it with the request id', async () => {
    const response = await fetch(`${start()}/internal-error`, { headers: { 'x-request-id': 'mine-2' } })
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(text).toContain('internal_error')
    expect(text).not.toContain('secret')
    expect(mistakes).toMatchObject([{ id: 'mine-2', error: { message: 'secret detail' } }])
  })

  test('closes connections during shutdown', async () => {
    expect((await fetch(`${start({ isClosing: () => true })}/open`)).headers.get('connection')).toBe('close')
  })

  test('throws when it cannot listen', () => {
    const port = Number(new URL(start()).port)
    expect(() => start({ port })).toThrow(expect.objectContaining({ code: 'EADDRINUSE' }))
  })
})

describe('a key', () => {
  const route = (path: string, more: Partial<Route> = {}): Route => ({
    method: 'GET',
    path,
    isPublic: false,
    handle: ({ id }) => jsonResponse({}, id),
    ...more,
  })
  const access: Access = { mayDo: (scope) => scope === 'chat', mayUseModel: () => true, mayUseProvider: () => true }

  test('admits to the routes of its scopes alone', async () => {
    const routed = [route('/chat', { scope: 'chat' }), route('/metrics', { scope: 'metrics:read' }), route('/closed')]
    const url = start({ routes: routed, guards: [async () => ({ user: 'key:indexer', access })] })
    const statuses = ['/chat', '/metrics', '/closed', '/nowhere'].map(async (path) => (await fetch(url + path)).status)
    expect(await Promise.all(statuses)).toEqual([200, 403, 403, 404])
    expect(await (await fetch(`${url}/metrics`)).json()).toMatchObject({
      error: { code: 'scope_missing', message: 'This needs a key with the scope metrics:read' },
    })
  })
})

describe('a guard', () => {
  const refuse = {
    guards: [() => Promise.reject(new WireError(401, 'authentication_error', 'authentication_required', 'refused'))],
  }

  test('answers instead of routes that are not public', async () => {
    expect((await fetch(`${start(refuse)}/closed`)).status).toBe(401)
  })

  test('is not asked for public routes', async () => {
    expect((await fetch(`${start(refuse)}/open`)).status).toBe(200)
  })

  test('is also asked for unknown paths, so that strangers learn nothing about existing ones', async () => {
    expect((await fetch(`${start(refuse)}/nowhere`)).status).toBe(401)
    expect((await fetch(`${start(refuse)}/closed`, { method: 'POST' })).status).toBe(401)
    expect((await fetch(`${start(refuse)}/open`, { method: 'POST' })).status).toBe(405)
  })

  test('names the user', async () => {
    const whoami: Route = {
      method: 'GET',
      path: '/whoami',
      isPublic: false,
      handle: ({ caller: { name }, id }) => jsonResponse({ name }, id),
    }
    const base = start({ routes: [whoami], guards: [async () => ({ name: 'ada' }), async () => undefined] })
    expect(await (await fetch(`${base}/whoami`)).json()).toEqual({ name: 'ada' })
  })

  test('is asked again for the current visitor', async () => {
    const guards: Guard[] = [async () => ({ name: 'ada' })]
    const asked: unknown[] = []
    const route: Route = {
      method: 'GET',
      path: '/whoami',
      isPublic: false,
      async handle(context) {
        asked.push(await context.currentCaller())
        guards.push(() => Promise.reject(new WireError(401, 'authentication_error', 'invalid_session', 'over')))
        asked.push(await context.currentCaller().catch((error: unknown) => error))
        return jsonResponse({}, context.id)
      },
    }
    await fetch(`${start({ routes: [route], guards })}/whoami`)
    expect(asked).toMatchObject([{ name: 'ada' }, { code: 'invalid_session' }])
  })

  test('gets the remote address and the normalised path', async () => {
    const seen: unknown[] = []
    await fetch(
      `${start({
        guards: [
          async ({ path, address }) => {
            seen.push(path, address)
            return undefined
          },
        ],
      })}/a/../closed?x`,
    )
    expect(seen).toEqual(['/closed', '127.0.0.1'])
  })

  test('lets a request pass only together with all others', async () => {
    const asked: string[] = []
    const base = start({
      guards: [
        async () => {
          asked.push('a')
          return undefined
        },
        async () => {
          asked.push('b')
          return undefined
        },
      ],
    })
    expect(await (await fetch(`${base}/closed`)).json()).toEqual({ secret: true })
    expect(asked).toEqual(['a', 'b'])
  })

  test('with an internal error lets no request pass', async () => {
    expect((await fetch(`${start({ guards: [() => Promise.reject(new Error('broken'))] })}/closed`)).status).toBe(500)
  })

  test.each(['/open/../closed', '/./closed', '/%2e/closed', '/open/%2e%2e/closed', '\\closed'])(
    'cannot be bypassed by %s',
    async (path) => {
      const { answer } = await raw(start(refuse), `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(answer).not.toContain('secret')
    },
  )
})

describe('on the wire', () => {
  const odd: readonly (readonly [string, string, number])[] = [
    ['no Host', 'GET /open HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', 'GET /open HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
    ['an odd Host', 'GET /open HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 400],
    ['TRACE', 'TRACE /open HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
    ['a body on GET', 'GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi', 400],
    ['a query', 'GET /open?a=/closed HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
    ['a model with a slash', 'GET /v1/models/a/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
  ]
  test.each(odd)('%s is answered correctly', async (_name, text, status) => {
    expect((await raw(start(), text)).status).toBe(status)
  })
})

describe('the status routes', () => {
  const base = (unready?: string) =>
    start({
      routes: statusRoutes({
        unready: () => unready,
        metrics: async () => 'svc_up 1\n',
        isOwner: () => true,
        page: async () => new Response('page'),
      }),
      guards: [() => Promise.reject(new WireError(401, 'authentication_error', 'authentication_required', 'no'))],
    })

  test('report health to every client', async () => {
    const response = await fetch(`${base('stopping')}/health`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('ok\n')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('report readiness to every client', async () => {
    expect((await fetch(`${base()}/ready`)).status).toBe(200)
    const response = await fetch(`${base('stopping')}/ready`)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ error: { code: 'not_ready', message: 'Not ready: stopping' } })
  })

  test.each([
    undefined,
    '*/*',
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/json, text/plain, */*',
    'application/json, text/html',
    'text/*',
    'image/png',
    '',
    'application/jsonx',
  ])('show the page at / to who sends Accept: %p', async (accept) => {
    const response = await fetch(base(), { headers: accept === undefined ? {} : { accept } })
    expect([response.status, await response.text()]).toEqual([200, 'page'])
  })

  test('show the page at / without Accept', async () => {
    expect((await raw(base(), 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).answer).toEndWith('page')
  })

  test.each(['application/json', 'text/plain', 'Application/JSON; charset=utf-8', 'image/png, text/plain;q=0.5'])(
    'answer / with the address of the API for Accept: %p',
    async (accept) => {
      const response = await fetch(base(), { headers: { accept } })
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(response.headers.get('vary')).toBe('accept')
      expect(await response.text()).toBe('svc is running. Its API is at /v1, its health at /health.\n')
    },
  )

  test('show the metrics to owners only', async () => {
    expect((await fetch(`${base()}/metrics`)).status).toBe(401)
    const routes = statusRoutes({
      unready: () => undefined,
      metrics: async () => 'svc_up 1\n',
      isOwner: ({ caller }) => caller.name === 'ada',
      page: async () => new Response('page'),
    })
    const metricsFor = (name: string) => fetch(`${start({ routes, guards: [async () => ({ name })] })}/metrics`)
    const refused = await metricsFor('bob')
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { error: expect.objectContaining({ type: 'permission_error', code: 'owners_only' }) },
    ])
    const response = await metricsFor('ada')
    expect(await response.text()).toBe('svc_up 1\n')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  })
})

const origin = 'https://page.example'

function request(headers: Readonly<Record<string, string>>): Request {
  return new Request('http://x/v1/chat/completions', { method: 'OPTIONS', headers })
}

describe('a preflight', () => {
  test('is answered with the headers it asks for', () => {
    const headers = { origin, 'access-control-request-headers': 'authorization, x-stainless-os' }
    const response = preflight(request(headers), 'POST, OPTIONS', true)
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toEqual({
      allow: 'POST, OPTIONS',
      vary: 'Access-Control-Request-Headers',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization, x-stainless-os',
      'access-control-max-age': '86400',
    })
  })

  test.each([
    ['without Origin', request({}), true],
    ['for a path outside the API', request({ origin }), false],
  ])('%s lists the methods only', (_name, asked, isApi) => {
    expect(Object.fromEntries(preflight(asked, 'GET, HEAD', isApi).headers)).toEqual({ allow: 'GET, HEAD' })
  })
})

describe('a response', () => {
  test('can be read by the page, errors and our headers too, without credentials', () => {
    const { headers } = withCors(origin, new Response('{}', { status: 502 }))
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('vary')).toBe('Origin')
    for (const name of ['x-request-id', 'x-svc-provider', 'x-svc-trail', 'retry-after', 'x-should-retry'])
      expect(headers.get('access-control-expose-headers')).toContain(name)
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })
})

function pathOf(
  url: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const { method = 'GET', headers = {} } = init
  return () => requestPath(new Request(url, { method, headers: { host: 'localhost:8000', ...headers } }))
}

describe('the path of a request', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['http://localhost:8000/v1/models', '/v1/models'],
    ['http://localhost:8000/v1/models?limit=5', '/v1/models'],
    ['http://localhost:8000/?a=/b', '/'],
    ['http://localhost:8000', '/'],
    ['http://localhost:8000/v1/models#top', '/v1/models'],
    ['http://localhost:8000/v1/models/openai%2Fgpt-4o', '/v1/models/openai%2Fgpt-4o'],
    ['http://localhost:8000/v1/../health', '/health'],
    ['http://localhost:8000//v1', '//v1'],
    ['http://[::1]:8000/v1/models', '/v1/models'],
  ]
  test.each(paths)('of %s is %s', (url, expected) => {
    expect(pathOf(url)()).toBe(expected)
  })

  test.each([
    'localhost',
    'localhost:8000',
    'x:65535',
    '127.0.0.1:80',
    '[::1]:8000',
    '[::1]',
    'api.example.com',
    'a_b-c.d',
  ])('is known with Host %s', (host) => {
    expect(pathOf('http://x/v1', { headers: { host } })()).toBe('/v1')
  })

  test.each([
    '',
    'a b',
    'a, b',
    'a,b',
    'a/b',
    'user@host',
    'host:port',
    'host:123456',
    'host:65536',
    'host:99999',
    '[::1',
    'a?b',
    'a#b',
    'höst',
  ])('is refused with Host %j', (host) => {
    expect(pathOf('http://x/v1', { headers: { host } })).toThrow(
      expect.objectContaining({ status: 400, code: 'bad_request' }),
    )
  })

  test('is refused without Host', () => {
    expect(() => requestPath(new Request('http://x/v1'))).toThrow(expect.objectContaining({ status: 400 }))
  })

  test.each(['GET', 'HEAD'])('is refused when %s has a body', (method) => {
    expect(pathOf('http://x/v1', { method, headers: { 'content-length': '5' } })).toThrow(
      expect.objectContaining({ status: 400 }),
    )
    expect(pathOf('http://x/v1', { method, headers: { 'transfer-encoding': 'chunked' } })).toThrow(
      expect.objectContaining({ status: 400 }),
    )
    expect(pathOf('http://x/v1', { method, headers: { 'content-length': '0' } })()).toBe('/v1')
  })

  test.each(['CONNECT', 'PURGE', 'PROPFIND'])('is refused with 501 for %s', (method) => {
    expect(pathOf('http://x/v1', { method })).toThrow(
      expect.objectContaining({ status: 501, code: 'method_not_allowed' }),
    )
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is known for %s', (method) => {
    expect(pathOf('http://x/v1', { method })()).toBe('/v1')
  })
})
