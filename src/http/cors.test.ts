import { describe, expect, test } from 'bun:test'
import { preflight, withCors } from './cors.ts'

const own = new Set(['https://own.example'])

function request(headers: Readonly<Record<string, string>>): Request {
  return new Request('http://x/v1/chat/completions', { method: 'OPTIONS', headers })
}

describe('a preflight', () => {
  test('from any page is allowed, with the headers it asks for and without credentials', () => {
    const response = preflight(
      request({ origin: 'https://page.example', 'access-control-request-headers': 'authorization, x-stainless-os' }),
      'POST, OPTIONS',
      '*',
    )
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toEqual({
      allow: 'POST, OPTIONS',
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization, x-stainless-os',
      'access-control-max-age': '86400',
    })
  })

  test("from the service's own page is allowed where only that may", () => {
    const response = preflight(request({ origin: 'https://own.example' }), 'POST', own)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://own.example')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test.each(['https://other.example', 'null', 'https://own.example.evil.example', 'http://own.example'])(
    'from %s is not allowed where only the own page may',
    (origin) => {
      const response = preflight(request({ origin }), 'POST', own)
      expect(response.status).toBe(204)
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  test('that is none is just told the methods', () => {
    expect(preflight(request({}), 'GET, HEAD', own).headers.get('allow')).toBe('GET, HEAD')
  })
})

describe('a response', () => {
  const respond = (headers: Readonly<Record<string, string>>, allowed: Parameters<typeof withCors>[2]) =>
    withCors(request(headers), new Response('{}', { status: 502 }), allowed)

  test('to a page can be read by it, errors and our headers too', () => {
    const { headers } = respond({ origin: 'https://page.example' }, '*')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    for (const name of ['x-request-id', 'x-svc-provider', 'x-svc-trail', 'retry-after', 'x-should-retry'])
      expect(headers.get('access-control-expose-headers')).toContain(name)
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('to the own page names it, and says that it depends on the origin', () => {
    const { headers } = respond({ origin: 'https://own.example' }, own)
    expect(headers.get('access-control-allow-origin')).toBe('https://own.example')
    expect(headers.get('vary')).toBe('Origin')
  })

  test.each([
    [{}, '*'],
    [{}, own],
    [{ origin: 'https://other.example' }, own],
  ] as const)('to %j that is no allowed page has nothing of it', (headers, allowed) => {
    expect([...respond(headers, allowed).headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    )
  })
})
