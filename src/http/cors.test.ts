import { describe, expect, test } from 'bun:test'
import { preflight, withCors } from './cors.ts'

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
