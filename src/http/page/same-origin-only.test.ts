import { describe, expect, test } from 'bun:test'
import type { OriginFacts } from '../origin-policy.ts'
import type { Route } from '../route.ts'
import { contextOf } from '../testing.ts'
import { sameOriginOnly } from './same-origin-only.ts'

type Headers = Readonly<Record<string, string>>

interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly path?: string
  readonly isPublic?: boolean
  /** The user that a guard named. */
  readonly user?: string
  readonly facts?: Partial<OriginFacts>
}

/** The outcome of a request: `passed`, or status and code of its error. */
async function ask(
  headers: Headers,
  { method = 'GET', path = '/api/thing', isPublic = false, user, facts }: Asked = {},
): Promise<unknown> {
  const route: Route = { method, path, isPublic, handle: () => new Response('passed') }
  const restricted = sameOriginOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [], ...facts })(route)
  const context = contextOf(new Request(`http://x${path}`, { method, headers: { host: '127.0.0.1:8000', ...headers } }))
  try {
    return await (await restricted.handle(user === undefined ? context : { ...context, caller: { name: user } })).text()
  } catch (error) {
    return error instanceof Error && 'code' in error && 'status' in error ? `${error.status} ${error.code}` : error
  }
}

describe('without a guard', () => {
  const facts = { corsOrigins: ['https://svc.example'] }

  test('a host name that no other website can own passes', async () => {
    for (const host of ['127.0.0.1:8000', 'svc.example']) expect(await ask({ host }, { facts })).toBe('passed')
  })

  test('any other host name is refused', async () => {
    for (const method of ['GET', 'POST'] as const)
      for (const isPublic of [true, false])
        expect(
          await ask({ host: 'evil.example', 'content-type': 'application/json' }, { method, isPublic, facts }),
        ).toBe('403 host_not_allowed')
  })
})

describe('with a guard', () => {
  const facts = { isGuarded: true }

  test('any host name passes for public routes, and for a user that a guard named', async () => {
    expect(await ask({ host: 'svc.example' }, { isPublic: true, facts })).toBe('passed')
    expect(await ask({ host: 'svc.example' }, { user: 'ada', facts })).toBe('passed')
  })

  test('a request without a user needs a host name that no other website can own', async () => {
    expect(await ask({ host: 'svc.example' }, { facts })).toBe('403 host_not_allowed')
    expect(await ask({ host: '127.0.0.1' }, { facts })).toBe('passed')
  })
})

describe('a POST', () => {
  const json = { 'content-type': 'application/json' }
  const post = (headers: Headers, facts: Partial<OriginFacts> = {}) =>
    ask(
      { host: '127.0.0.1:8000', ...json, ...headers },
      { method: 'POST', user: 'ada', facts: { isGuarded: true, ...facts } },
    )

  test.each<[string, Headers]>([
    ['a program', {}],
    ['our page', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8000' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['our page in a browser that sends only the origin', { origin: 'http://127.0.0.1:8000' }],
    ['our page behind a proxy that sends another host', { origin: 'https://svc.example' }],
    ['a host in capitals', { host: 'BOX.example', origin: 'http://box.example' }],
  ])('of %s passes', async (_name, headers) => {
    expect(await post(headers, { ownOrigins: ['https://svc.example'] })).toBe('passed')
  })

  test.each<[string, Headers]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9000' }],
    ['another site that claims our origin', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:8000' }],
    ['an unknown value', { 'sec-fetch-site': 'zq' }],
    ['another port in a browser that sends only the origin', { origin: 'http://127.0.0.1:9000' }],
    ['an opaque origin', { origin: 'null' }],
    ['a page whose origin starts like ours', { origin: 'http://127.0.0.1:8000.evil.example' }],
    ['a page that may call the rest of the API', { origin: 'https://app.example' }],
  ])('of %s is refused', async (_name, headers) => {
    expect(await post(headers, { corsOrigins: ['https://app.example'] })).toBe('403 cross_site_request')
  })

  test('of our page behind a proxy that drops the port passes without a guard if listed', async () => {
    const headers = { host: 'svc.example', origin: 'http://svc.example:8080' }
    for (const isGuarded of [true, false])
      expect(await post(headers, { isGuarded, corsOrigins: ['http://svc.example:8080'] })).toBe(
        isGuarded ? '403 cross_site_request' : 'passed',
      )
    expect(await post(headers, { isGuarded: false, corsOrigins: ['http://svc.example'] })).toBe(
      '403 cross_site_request',
    )
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON ;x'])(
    'of %s passes',
    async (type) => {
      expect(await post({ 'content-type': type })).toBe('passed')
    },
  )

  // Types that a form of another site can send.
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    'application/jsonp',
    '',
  ])('of %p is refused', async (type) => {
    expect(await post({ 'content-type': type })).toBe('415 unsupported_media_type')
  })
})

test('a GET passes from any site, with headers that keep other sites from reading the answer', async () => {
  const restricted = sameOriginOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [] })({
    method: 'GET',
    path: '/api/thing',
    isPublic: true,
    handle: () => new Response('{}'),
  })
  const { headers } = await restricted.handle(
    contextOf(
      new Request('http://x/api/thing', {
        headers: { host: 'localhost', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      }),
    ),
  )
  expect(Object.fromEntries(headers)).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  })
})

test.each(['/', '/v1/models', '/apis/x', '/api', '/auth/api/'])('%s is not restricted', (path) => {
  const route: Route = { method: 'POST', path, isPublic: true, handle: () => new Response() }
  expect(sameOriginOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [] })(route)).toBe(route)
})
