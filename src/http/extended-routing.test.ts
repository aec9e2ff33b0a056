import { describe, expect, test } from 'bun:test'
import type { Contribution } from '../extensions/extension.ts'
import { extendedRouting } from './extended-routing.ts'
import type { Route } from './route.ts'
import { exchangeOf } from './testing.ts'

const own: readonly Route[] = [{ method: 'GET', path: '/own', isPublic: false, handle: () => new Response('own') }]

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
      [],
    )
    expect(router.isPublic('GET', '/its')).toBe(false)
    expect(router.isPublic('GET', '/open')).toBe(true)
    const response = await router.find('GET', '/its').handle(exchangeOf(new Request('http://x/its')))
    expect([await response.text(), response.headers.get('x-request-id')]).toEqual(['its', 'request-1'])
    expect(seen).toEqual(['/its', '127.0.0.1'])
  })

  test('cannot take a route over, nor open it', async () => {
    const { router } = extendedRouting(
      own,
      [{ routes: [{ method: 'GET', path: '/own', isPublic: true, handle: async () => new Response('taken') }] }],
      [],
    )
    expect(router.isPublic('GET', '/own')).toBe(false)
    expect(await (await router.find('GET', '/own').handle(exchangeOf(new Request('http://x/own')))).text()).toBe('own')
  })

  test('cannot take over a path below one that stands for all below it, be it the service’s or that of one named before it', async () => {
    const below = (path: string, word: string): Contribution => ({
      routes: [{ method: 'GET', path, isPublic: true, handle: async () => new Response(word) }],
    })
    const assets: Route = { method: 'GET', path: '/assets/', isPublic: false, handle: () => new Response('own') }
    const { router } = extendedRouting(
      [assets],
      [
        below('/assets/main.js', 'taken'),
        below('/its/', 'first'),
        below('/its/page', 'taken'),
        below('/its/', 'taken'),
        below('/', 'root'),
      ],
      [],
    )
    const answers = await Promise.all(
      ['/assets/main.js', '/its/page', '/'].map(async (path) =>
        (await router.find('GET', path).handle(exchangeOf(new Request(`http://x${path}`)))).text(),
      ),
    )
    expect(answers).toEqual(['own', 'first', 'root'])
    expect(router.isPublic('GET', '/assets/main.js')).toBe(false)
  })

  test('cannot take over a route of one that was named before it', async () => {
    const saying = (word: string, isPublic: boolean): Contribution => ({
      routes: [{ method: 'GET', path: '/its', isPublic, handle: async () => new Response(word) }],
    })
    const { router } = extendedRouting(own, [saying('first', false), saying('second', true)], [])
    expect(router.isPublic('GET', '/its')).toBe(false)
    expect(await (await router.find('GET', '/its').handle(exchangeOf(new Request('http://x/its')))).text()).toBe(
      'first',
    )
  })

  const guard: Contribution['guard'] = async () => undefined

  test('has its guard asked in its turn', () => {
    const other: Contribution['guard'] = async () => ({ user: 'ada' })
    expect(extendedRouting(own, [{ guard }, {}, { guard: other }], []).guards).toEqual([guard, other])
  })

  test('puts its routes below /api/ behind the wall too, as the service does its own', async () => {
    const route = (path: string) =>
      ({ method: 'POST', path, isPublic: true, handle: async () => new Response('done') }) as const
    const { router } = extendedRouting([route('/api/own')], [{ routes: [route('/api/its')] }], [])
    for (const path of ['/api/own', '/api/its']) {
      const exchange = exchangeOf(
        new Request(`http://127.0.0.1${path}`, { method: 'POST', headers: { host: '127.0.0.1' } }),
      )
      expect(Promise.resolve(router.find('POST', path).handle(exchange))).rejects.toMatchObject({ status: 415 })
    }
  })

  test.each([
    ['none', [], '*'],
    ['one without a guard', [{ origin: 'https://svc.example' }], '*'],
    ['one with a guard', [{ guard }], ['https://other.example']],
    [
      'one with a guard and an origin',
      [{ guard, origin: 'https://svc.example' }],
      ['https://svc.example', 'https://other.example'],
    ],
    [
      'one with a guard, and one with an origin',
      [{ guard }, { origin: 'https://svc.example' }],
      ['https://svc.example', 'https://other.example'],
    ],
  ] as const)('closes the API to pages from elsewhere: %s', (_name, contributions, expected) => {
    const { allowedOrigins } = extendedRouting(own, contributions, ['https://other.example'])
    expect(typeof allowedOrigins === 'string' ? allowedOrigins : [...allowedOrigins]).toEqual(
      expected === '*' ? '*' : [...expected],
    )
  })
})
