import { describe, expect, test } from 'bun:test'
import { hostNames, hostNotAllowed, isLoopbackAddress, type OriginFacts, originPolicy } from './origin-policy.ts'

type Headers = Readonly<Record<string, string>>

/** `passed`, or the code of the refusal. */
function check(headers: Headers, facts: Partial<OriginFacts> = {}, path = '/v1/chat/completions'): string {
  const origins = originPolicy({ isGuarded: false, isLoopback: true, ownOrigins: [], corsOrigins: [], ...facts })
  const request = new Request(`http://x${path}`, { method: 'POST', headers: { host: '127.0.0.1:8000', ...headers } })
  try {
    origins.check(request, path)
    return 'passed'
  } catch (error) {
    return error instanceof Error && 'code' in error && 'status' in error ? `${error.status} ${error.code}` : `${error}`
  }
}

const loopbackAndApps = [
  'http://localhost:3000',
  'https://localhost',
  'http://127.0.0.1:9000',
  'http://[::1]:5173',
  'app://obsidian.md',
  'file://',
  'tauri://localhost',
  'capacitor://localhost',
  'vscode-webview://1a2b',
  'moz-extension://1a2b',
  'chrome-extension://1a2b',
]
const foreign = [
  'https://evil.example',
  'http://evil.example:8000',
  'null',
  '',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://evil.example@127.0.0.1',
  'http://127.0.0.2:9000',
  'http://localhost:123456',
  'http://localhost/',
  'evil://localhost',
  'evil-app://x',
  'evil://127.0.0.1:8000',
  'https://evil.example, http://localhost',
]

describe('without a guard', () => {
  test.each(loopbackAndApps)('the origin %s may call', (origin) => {
    expect(check({ origin })).toBe('passed')
  })

  test.each(foreign)('the origin %p may not', (origin) => {
    for (const path of ['/v1/chat/completions', '/', '/health', '/metrics', '/api/boot', '/nowhere'])
      expect(check({ origin }, {}, path)).toBe('403 origin_not_allowed')
  })

  test('a request without Origin passes', () => {
    expect(check({})).toBe('passed')
    expect(check({ 'sec-fetch-site': 'cross-site' })).toBe('passed')
  })

  test.each(['evil.example', 'localhost.evil.example:8000'])('the host %s is refused, but for /health', (host) => {
    for (const path of ['/v1/models', '/', '/ready', '/metrics', '/assets/a.js', '/nowhere'])
      expect(check({ host, origin: `http://${host}` }, {}, path)).toBe('403 host_not_allowed')
    expect(check({ host }, {}, '/health')).toBe('passed')
  })

  test('any host is called by, where the service does not listen on a loopback address', () => {
    expect(check({ host: 'svc.example', origin: 'http://svc.example' }, { isLoopback: false })).toBe('passed')
    expect(check({ host: 'svc.example', origin: 'http://evil.example' }, { isLoopback: false })).toBe(
      '403 origin_not_allowed',
    )
  })
})

describe('with a guard', () => {
  const facts = { isGuarded: true, ownOrigins: ['https://svc.example'] }

  test.each([...loopbackAndApps, ...foreign])('the origin %p may not call', (origin) => {
    expect(check({ origin }, facts)).toBe('403 origin_not_allowed')
    expect(check({ origin, cookie: 'token=x' }, facts)).toBe('403 cross_site_request')
  })

  test('any host is called by', () => {
    expect(check({ host: 'chat.example' }, facts)).toBe('passed')
  })
})

describe.each([false, true])('the service’s own origin, with a guard: %p,', (isGuarded) => {
  const facts = { isGuarded, isLoopback: false }

  test.each<[string, Headers]>([
    ['the host that is called', { origin: 'http://127.0.0.1:8000' }],
    ['that host by https, which a proxy ends', { host: 'SVC.example', origin: 'https://svc.example' }],
    ['what an extension names', { origin: 'https://own.example' }],
    ['what the browser says is the same', { origin: 'https://chat.example', 'sec-fetch-site': 'same-origin' }],
    ['the same, without a referrer', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
  ])('is %s', (_name, headers) => {
    expect(check(headers, { ...facts, ownOrigins: ['https://own.example'] })).toBe('passed')
  })

  test.each<[string, Headers]>([
    ['another port', { host: 'svc.example', origin: 'http://svc.example:8080' }],
    ['a neighbour', { origin: 'https://www.svc.example', 'sec-fetch-site': 'same-site' }],
    ['what only X-Forwarded-Host names', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('is not %s', (_name, headers) => {
    expect(check(headers, facts)).toBe('403 origin_not_allowed')
  })

  test('is joined by SVC_CORS_ORIGINS', () => {
    const corsOrigins = ['https://app.example', 'app://obsidian.md']
    for (const origin of corsOrigins) expect(check({ origin }, { ...facts, corsOrigins })).toBe('passed')
    expect(check({ origin: 'https://b.example' }, { ...facts, corsOrigins })).toBe('403 origin_not_allowed')
    for (const origin of ['https://b.example', 'null'])
      expect(check({ origin }, { ...facts, corsOrigins: ['*'] })).toBe('passed')
  })
})

test('the host of a listed origin may be called by, * names none', () => {
  expect(check({ host: 'svc.example' }, { corsOrigins: ['https://svc.example'] })).toBe('passed')
  expect(check({ host: 'svc.example' }, { corsOrigins: ['*'] })).toBe('403 host_not_allowed')
})

test('the refusal names the origin, and how to allow it', () => {
  const { check, allows } = originPolicy({ isGuarded: false, isLoopback: true, ownOrigins: [], corsOrigins: [] })
  const request = new Request('http://x/', { headers: { host: 'localhost', origin: `https://${'e'.repeat(200)}` } })
  expect(allows(request)).toBe(false)
  expect(() => check(request, '/')).toThrow(/^Pages of the origin 'https:\/\/e{92}' .* SVC_CORS_ORIGINS$/)
})

const isKnown = hostNames(['https://svc.example', '*', 'app://obsidian.md'])
const by = (host: string) => new Request('http://x/', { headers: { host } })

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
])('no other website can own the host %s', (host) => {
  expect(isKnown(by(host))).toBe(true)
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
  'obsidian.md',
  '127.1',
  '0x7f000001',
  '1.2.3.4.5',
  '[::1',
  '',
  '.',
])('another website can own the host %p', (host) => {
  expect(isKnown(by(host))).toBe(false)
})

test('the refusal names the host and every way out', () => {
  const refusal = hostNotAllowed(by('evil.example'))
  expect([refusal.status, refusal.code]).toEqual([403, 'host_not_allowed'])
  expect(refusal.message).toMatch(/'evil\.example'[^]*IP address[^]*sign-in on \(--auth\)[^]*SVC_CORS_ORIGINS/)
  expect(hostNotAllowed(by('x'.repeat(9_000))).message.length).toBeLessThan(400)
})

test.each([
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['localhost', true],
  ['::1', true],
  ['LOCALHOST', true],
  ['127.1', true],
  ['2130706433', true],
  ['0:0:0:0:0:0:0:1', true],
  ['::1%lo', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:192.0.2.7', false],
  ['localhost.example', false],
  ['0', false],
  ['0.0.0.0', false],
  ['::', false],
  ['192.0.2.7', false],
  ['127.example', false],
])('listening on %s is on a loopback address: %p', (host, expected) => {
  expect(isLoopbackAddress(host)).toBe(expected)
})
