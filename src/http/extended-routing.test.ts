import { describe, expect, test } from 'bun:test'
import type { Contribution, ExtensionRoute } from '../extensions/extension.ts'
import { callerOf } from '../people/caller-of.ts'
import { extendedRouting, type RoutingOptions } from './extended-routing.ts'
import type { HandlerContext } from './handler-context.ts'
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
    const handle: ExtensionRoute['handle'] = async ({ user }) => new Response(user)
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
