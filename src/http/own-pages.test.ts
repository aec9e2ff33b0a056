import { describe, expect, test } from 'bun:test'
import { ownerCheck, ownPagesOnly, type Surroundings } from './own-pages.ts'
import type { Route } from './route.ts'
import { exchangeOf } from './testing.ts'

type Headers = Readonly<Record<string, string>>

interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly path?: string
  readonly isPublic?: boolean
  /** Who a guard said it is from. */
  readonly user?: string
  readonly surroundings?: Partial<Surroundings>
}

/** What comes of a request: `passed`, or the code of the error. */
async function ask(
  headers: Headers,
  { method = 'GET', path = '/api/thing', isPublic = false, user, surroundings }: Asked = {},
): Promise<unknown> {
  const route: Route = { method, path, isPublic, handle: () => new Response('passed') }
  const behindWall = ownPagesOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [], ...surroundings })(route)
  const exchange = exchangeOf(
    new Request(`http://x${path}`, { method, headers: { host: '127.0.0.1:8000', ...headers } }),
  )
  try {
    return await (await behindWall.handle(user === undefined ? exchange : { ...exchange, user })).text()
  } catch (error) {
    return error instanceof Error && 'code' in error && 'status' in error ? `${error.status} ${error.code}` : error
  }
}

describe('without a guard', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:8000',
    '192.0.2.7',
    '[::1]:8000',
    '[2001:db8::1]',
    'localhost',
    'LOCALHOST:8000',
    'localhost.',
    'svc.localhost:8000',
    'svc.example',
    'svc.example:8443',
    'SVC.example.',
  ])('the host %s is let pass', async (host) => {
    expect(await ask({ host }, { surroundings: { corsOrigins: ['https://svc.example'] } })).toBe('passed')
  })

  test.each([
    'evil.example',
    'evil.example:8000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evillocalhost',
    'svc.example.evil.example',
    'evil-svc.example',
    'sub.svc.example',
    '127.1',
    '0x7f000001',
    '1.2.3.4.5',
    '[::1',
    '',
    '.',
  ])('the host %p is refused', async (host) => {
    for (const method of ['GET', 'POST'] as const) {
      for (const isPublic of [true, false])
        expect(
          await ask(
            { host, 'content-type': 'application/json' },
            { method, isPublic, surroundings: { corsOrigins: ['https://svc.example'] } },
          ),
        ).toBe('403 host_not_allowed')
    }
  })

  test('the refusal names both ways out', async () => {
    const route = ownPagesOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [] })({
      method: 'GET',
      path: '/api/thing',
      isPublic: true,
      handle: () => new Response(),
    })
    const asked = Promise.resolve().then(() =>
      route.handle(exchangeOf(new Request('http://x/api/thing', { headers: { host: 'evil.example' } }))),
    )
    await expect(asked).rejects.toThrow(/sign-in \(--auth\)[^]*SVC_CORS_ORIGINS/)
  })
})

describe('with a guard', () => {
  const surroundings = { isGuarded: true }

  test('any host will do for what is public, and for whom a guard has named', async () => {
    expect(await ask({ host: 'svc.example' }, { isPublic: true, surroundings })).toBe('passed')
    expect(await ask({ host: 'svc.example' }, { user: 'ada', surroundings })).toBe('passed')
  })

  test('whom it lets pass without a name must come by a host that nobody else can have', async () => {
    expect(await ask({ host: 'svc.example' }, { surroundings })).toBe('403 host_not_allowed')
    expect(await ask({ host: '127.0.0.1' }, { surroundings })).toBe('passed')
  })
})

describe('a POST', () => {
  const json = { 'content-type': 'application/json' }
  const post = (headers: Headers, surroundings: Partial<Surroundings> = {}) =>
    ask(
      { host: '127.0.0.1:8000', ...json, ...headers },
      { method: 'POST', user: 'ada', surroundings: { isGuarded: true, ...surroundings } },
    )

  test.each<[string, Headers]>([
    ['a program', {}],
    ['our page', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8000' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['our page, of which a browser tells the origin only', { origin: 'http://127.0.0.1:8000' }],
    ['our page behind a proxy that tells another host', { origin: 'https://svc.example' }],
    ['a host in capitals', { host: 'BOX.example', origin: 'http://box.example' }],
  ])('of %s is let pass', async (_name, headers) => {
    expect(await post(headers, { ownOrigins: ['https://svc.example'] })).toBe('passed')
  })

  test.each<[string, Headers]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9000' }],
    ['another site that tells our origin', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:8000' }],
    ['an odd place', { 'sec-fetch-site': 'zq' }],
    ['another port, of which a browser tells the origin only', { origin: 'http://127.0.0.1:9000' }],
    ['nowhere', { origin: 'null' }],
    ['a page whose origin begins as ours', { origin: 'http://127.0.0.1:8000.evil.example' }],
    ['a page that may call the rest of the API', { origin: 'https://app.example' }],
  ])('of %s is refused', async (_name, headers) => {
    expect(await post(headers, { corsOrigins: ['https://app.example'] })).toBe('403 cross_site_request')
  })

  test('of our page behind a proxy that tells the host without its port is let pass, where its address is listed and nobody need sign in', async () => {
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
    'of %s is let pass',
    async (type) => {
      expect(await post({ 'content-type': type })).toBe('passed')
    },
  )

  // What a form of another site can send.
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

test('what is read only may be asked for from anywhere: nobody else can read the answer', async () => {
  const behindWall = ownPagesOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [] })({
    method: 'GET',
    path: '/api/thing',
    isPublic: true,
    handle: () => new Response('{}'),
  })
  const { headers } = await behindWall.handle(
    exchangeOf(
      new Request('http://x/api/thing', {
        headers: { host: 'localhost', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      }),
    ),
  )
  expect(Object.fromEntries(headers)).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
})

test.each(['/', '/v1/models', '/apis/x', '/api', '/auth/api/'])('%s has no wall', (path) => {
  const route: Route = { method: 'POST', path, isPublic: true, handle: () => new Response() }
  expect(ownPagesOnly({ isGuarded: false, ownOrigins: [], corsOrigins: [] })(route)).toBe(route)
})

describe('an owner', () => {
  const isOwner = (isGuarded: boolean, user?: string) =>
    ownerCheck(
      () => isGuarded,
      (name) => name === 'ada',
    )({ ...exchangeOf(new Request('http://x/')), ...(user === undefined ? {} : { user }) })

  test('is everybody while there is no guard, and then whom the list names', () => {
    expect([isOwner(false), isOwner(false, 'bob'), isOwner(true), isOwner(true, 'bob'), isOwner(true, 'ada')]).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
  })
})
