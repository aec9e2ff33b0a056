import { describe, expect, test } from 'bun:test'
import type { Contribution } from '../extensions/extension.ts'
import { extendedRouting } from './extended-routing.ts'
import type { Route } from './route.ts'
import { exchangeOf } from './testing.ts'

const own: readonly Route[] = [{ method: 'GET', path: '/own', isPublic: false, handle: () => new Response('own') }]

describe('an extension', () => {
  test('adds routes, closed unless it says otherwise', async () => {
    const seen: unknown[] = []
    const { router } = extendedRouting(own, { routes: [
      { method: 'GET', path: '/its', handle: async ({ path, address }) => { seen.push(path, address); return new Response('its') } },
      { method: 'GET', path: '/open', isPublic: true, handle: async () => new Response('open') },
    ] }, [])
    expect(router.isPublic('GET', '/its')).toBe(false)
    expect(router.isPublic('GET', '/open')).toBe(true)
    const response = await router.find('GET', '/its').handle(exchangeOf(new Request('http://x/its')))
    expect([await response.text(), response.headers.get('x-request-id')]).toEqual(['its', 'request-1'])
    expect(seen).toEqual(['/its', '127.0.0.1'])
  })

  test('cannot take a route over, nor open it', async () => {
    const { router } = extendedRouting(own, { routes: [{ method: 'GET', path: '/own', isPublic: true, handle: async () => new Response('taken') }] }, [])
    expect(router.isPublic('GET', '/own')).toBe(false)
    expect(await (await router.find('GET', '/own').handle(exchangeOf(new Request('http://x/own')))).text()).toBe('own')
  })

  const guard: Contribution['guard'] = async () => undefined
  test.each([
    ['none', undefined, '*'],
    ['one without a guard', {}, '*'],
    ['one with a guard', { guard }, ['https://other.example']],
    ['one with a guard and an origin', { guard, origin: 'https://svc.example' }, ['https://svc.example', 'https://other.example']],
  ] as const)('closes the API to pages from elsewhere: %s', (_name, contribution, expected) => {
    const { allowedOrigins } = extendedRouting(own, contribution, ['https://other.example'])
    expect(typeof allowedOrigins === 'string' ? allowedOrigins : [...allowedOrigins]).toEqual(expected === '*' ? '*' : [...expected])
  })
})
