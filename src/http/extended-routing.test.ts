import { describe, expect, test } from 'bun:test'
import type { Contribution, ExtensionRoute } from '../extensions/extension.ts'
import { callerOf } from '../people/caller-of.ts'
import { extendedRouting, sameOriginOnly, type RoutingOptions } from './extended-routing.ts'
import type { HandlerContext } from './handler-context.ts'
import type { OriginFacts } from './origin-policy.ts'
import type { Route } from './route.ts'
import { contextOf } from './testing.ts'

const own: readonly Route[] = [{ method: 'GET', path: '/own', isPublic: false, handle: () => new Response('own') }]
const options: RoutingOptions = {
  corsOrigins: [],
  isLoopback: true,
  bodyTimes: { totalMs: 10_000, idleMs: 10_000 },
  isOwner: ({ caller }) => caller.name === 'ada',
}

describe('an extension', () => {
  test('adds routes, closed unless it says otherwise', async () => {
    const seen: unknown[] = []
    const { router } = extendedRouting(
      own,
      [
        {
          routes: [
            {
              method: 'GET',
              path: '/its',
              handle: async ({ path, address }) => {
                seen.push(path, address)
                return new Response('its')
              },
            },
            { method: 'GET', path: '/open', isPublic: true, handle: async () => new Response('open') },
          ],
        },
      ],
      options,
    )
    expect(router.isPublic('GET', '/its')).toBe(false)
    expect(router.isPublic('GET', '/open')).toBe(true)
    const response = await router.find('GET', '/its').handle(contextOf(new Request('http://x/its')))
    expect([await response.text(), response.headers.get('x-request-id')]).toEqual(['its', 'request-1'])
    expect(seen).toEqual(['/its', '127.0.0.1'])
  })

  test('reads bodies up to the size it names', async () => {
    const handle: ExtensionRoute['handle'] = async ({ body }) => new Response(await body(4))
    const { router } = extendedRouting(own, [{ routes: [{ method: 'POST', path: '/its', handle }] }], options)
    const send = async (body: string) =>
      router.find('POST', '/its').handle(contextOf(new Request('http://x/its', { method: 'POST', body })))
    expect(await (await send('four')).text()).toBe('four')
    await expect(send('fifth')).rejects.toMatchObject({ status: 413, code: 'request_too_large' })
  })

  test('has routes for owners, which are never public', async () => {
    const handle: ExtensionRoute['handle'] = async ({ caller }) => new Response(caller.name)
    const { router } = extendedRouting(
      own,
      [{ routes: [{ method: 'GET', path: '/its', isPublic: true, isForOwners: true, handle }] }],
      options,
    )
    expect(router.isPublic('GET', '/its')).toBe(false)
    const asking = (more: Partial<HandlerContext>) => async () =>
      (await router.find('GET', '/its').handle({ ...contextOf(new Request('http://x/its')), ...more })).text()
    expect(await asking({ caller: { name: 'ada' } })()).toBe('ada')
    for (const other of [{ caller: { name: 'grace' } }, {}])
      await expect(asking(other)()).rejects.toMatchObject({ status: 403, code: 'owners_only' })
  })

  test('cannot take a route over, nor open it', async () => {
    const { router } = extendedRouting(
      own,
      [{ routes: [{ method: 'GET', path: '/own', isPublic: true, handle: async () => new Response('taken') }] }],
      options,
    )
    expect(router.isPublic('GET', '/own')).toBe(false)
    expect(await (await router.find('GET', '/own').handle(contextOf(new Request('http://x/own')))).text()).toBe('own')
  })

  test('cannot replace paths below a prefix route of the service, or of an earlier extension', async () => {
    const below = (path: string, word: string): Contribution => ({
      routes: [{ method: 'GET', path, isPublic: true, handle: async () => new Response(word) }],
    })
    const assets: Route = { method: 'GET', path: '/assets/', isPublic: false, handle: () => new Response('own') }
    const open: Route = { ...assets, path: '/open/{name}:read' }
    const { router } = extendedRouting(
      [assets, open],
      [
        below('/assets/main.js', 'taken'),
        below('/open/a:read', 'taken'),
        below('/its/', 'first'),
        below('/its/page', 'taken'),
        below('/its/', 'taken'),
        below('/', 'root'),
      ],
      options,
    )
    const answers = await Promise.all(
      ['/assets/main.js', '/open/a:read', '/its/page', '/'].map(async (path) =>
        (await router.find('GET', path).handle(contextOf(new Request(`http://x${path}`)))).text(),
      ),
    )
    expect(answers).toEqual(['own', 'own', 'first', 'root'])
    expect(router.isPublic('GET', '/assets/main.js')).toBe(false)
  })

  test('cannot replace a route of an earlier extension', async () => {
    const saying = (word: string, isPublic: boolean): Contribution => ({
      routes: [{ method: 'GET', path: '/its', isPublic, handle: async () => new Response(word) }],
    })
    const { router } = extendedRouting(own, [saying('first', false), saying('second', true)], options)
    expect(router.isPublic('GET', '/its')).toBe(false)
    expect(await (await router.find('GET', '/its').handle(contextOf(new Request('http://x/its')))).text()).toBe('first')
  })

  const guard: Contribution['guard'] = async () => undefined

  test('has its guard asked in its turn', async () => {
    const other: Contribution['guard'] = async () => ({ user: 'ada' })
    const { guards } = extendedRouting(own, [{ guard }, {}, { guard: other }], options)
    const visit = { request: new Request('http://x/'), path: '/', address: '', id: '' }
    expect(await Promise.all(guards.map((each) => each(visit)))).toEqual([undefined, callerOf({ user: 'ada' })])
  })

  test('restricts its routes below /api/ as those of the service', async () => {
    const route = (path: string) =>
      ({ method: 'POST', path, isPublic: true, handle: async () => new Response('done') }) as const
    const { router } = extendedRouting([route('/api/own')], [{ routes: [route('/api/its')] }], options)
    for (const path of ['/api/own', '/api/its']) {
      const context = contextOf(
        new Request(`http://127.0.0.1${path}`, { method: 'POST', headers: { host: '127.0.0.1' } }),
      )
      expect(Promise.resolve(router.find('POST', path).handle(context))).rejects.toMatchObject({ status: 415 })
    }
  })

  test.each([
    ['none', [], true],
    ['one without a guard', [{ origin: 'https://svc.example' }], true],
    ['one with a guard', [{ guard }], false],
    ['one with a guard, and one with an origin', [{ guard }, { origin: 'https://svc.example' }], false],
  ] as const)('closes the API to pages of this machine with a guard: %s', (_name, contributions, expected) => {
    const { origins } = extendedRouting(own, contributions, { ...options, corsOrigins: ['https://other.example'] })
    const allows = (origin: string) => origins.allows(new Request('http://x/', { headers: { origin } }))
    expect(allows('http://localhost:3000')).toBe(expected)
    expect(allows('https://svc.example')).toBe(contributions.some((each) => 'origin' in each))
    expect([allows('https://other.example'), allows('https://evil.example')]).toEqual([true, false])
  })
})

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
