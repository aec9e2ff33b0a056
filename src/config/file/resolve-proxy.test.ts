import { describe, expect, test } from 'bun:test'
import { resolveProvider } from './resolve-provider.ts'
import { parseProxy, proxyVariable } from './resolve-proxy.ts'

const at = (address: string, noProxy: string): string | undefined =>
  proxyVariable(new URL(address), { HTTP_PROXY: 'http://p', HTTPS_PROXY: 'http://q', no_proxy: noProxy })

describe('NO_PROXY', () => {
  test.each([
    ['example.test', 'http://a.example.test'],
    ['.example.test', 'http://example.test'],
    ['*.example.test', 'http://example.test'],
    ['*.example.test', 'http://a.example.test'],
    ['EXAMPLE.test', 'http://example.TEST'],
    ['example.test.', 'http://example.test'],
    ['example.test', 'http://example.test.'],
    ['example.test:80', 'http://example.test'],
    ['example.test:443', 'https://example.test'],
    ['x.test example.test', 'http://example.test'],
    ['x.test,*', 'http://any.test'],
    ['10.0.0.0/8', 'http://10.9.9.9'],
    ['10.1.2.3', 'http://10.1.2.3:8080'],
    ['10.0.0.0/8', 'http://[::ffff:10.0.0.1]'],
    ['fd00::/8', 'http://[fd12::1]'],
    ['[fd12::1]:8080', 'http://[fd12::1]:8080'],
    ['fd12::1', 'http://[fd12::1]'],
  ])('%s covers %s', (list, address) => {
    expect(at(address, list)).toBeUndefined()
  })

  test.each([
    ['ample.test', 'http://example.test'],
    ['example.test', 'http://test'],
    ['example.test:81', 'http://example.test'],
    ['10.0.0.0/33', 'http://10.0.0.1'],
    ['10.0.0.0/8/8', 'http://10.0.0.1'],
    ['10.0.0.1', 'http://10.0.0.11'],
    ['0.0.1', 'http://10.0.0.1'],
    ['[fd12::1]:8080', 'http://[fd12::1]'],
    ['.', 'http://example.test'],
    ['', 'http://example.test'],
    [',,', 'http://example.test'],
    ['http://example.test', 'http://example.test'],
  ])('%s does not cover %s', (list, address) => {
    expect(at(address, list)).toBe('HTTP_PROXY')
  })

  test.each(['http://localhost:1', 'http://127.0.0.9', 'https://[::1]', 'http://a.localhost'])(
    'this machine (%s) is asked directly',
    (address) => expect(at(address, '')).toBeUndefined(),
  )

  test('names in lower case come first, then those of the scheme', () => {
    const named = (address: string, environment: Record<string, string>): string | undefined =>
      proxyVariable(new URL(address), environment)
    expect(named('https://a.test', { HTTPS_PROXY: 'b', https_proxy: 'a' })).toBe('https_proxy')
    expect(named('https://a.test', { ALL_PROXY: 'b', HTTPS_PROXY: 'a' })).toBe('HTTPS_PROXY')
    expect(named('https://a.test', { ALL_PROXY: 'b', HTTP_PROXY: 'a' })).toBe('ALL_PROXY')
    expect(named('https://a.test', { HTTP_PROXY: 'a', HTTPS_PROXY: ' ' })).toBeUndefined()
  })
})

test.each([
  ['http://p.test:3128', { hostname: 'p.test', port: 3128 }],
  ['p.test:3128', { hostname: 'p.test', port: 3128 }],
  ['http://p.test/', { hostname: 'p.test', port: 80 }],
  ['http://[::1]:81', { hostname: '::1', port: 81 }],
  ['http://a%40b:c%3Ad@p.test', { hostname: 'p.test', port: 80, authorization: `Basic ${btoa('a@b:c:d')}` }],
  ['http://%ff@p.test', undefined],
  ['https://p.test', undefined],
  ['socks5://p.test', undefined],
  ['http://p.test/path', undefined],
  ['http://', undefined],
])('the proxy %s is read', (text, expected) => {
  expect(parseProxy(text)).toEqual(expected)
})

describe('the way to a provider', () => {
  const resolved = (entry: Record<string, unknown>, environment: Record<string, string> = {}) =>
    resolveProvider({ id: 'a', baseUrl: 'https://a.test/v1', ...entry }, environment)
  const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----'

  test('is the proxy of the entry, else that of the environment, else direct', () => {
    const environment = { HTTPS_PROXY: 'http://env.test:1' }
    expect(resolved({}).proxy).toBeUndefined()
    expect(resolved({}, environment).proxy).toEqual({ hostname: 'env.test', port: 1 })
    expect(resolved({ proxy: 'none' }, environment).proxy).toBeUndefined()
    expect(resolved({ proxy: 'http://own.test' }, environment).proxy).toEqual({ hostname: 'own.test', port: 80 })
    expect(resolved({ proxy: '$P' }, { P: 'http://named.test:2' }).proxy).toEqual({ hostname: 'named.test', port: 2 })
    const filed = resolved({ proxy: '$file:/run/p' }, { 'file:/run/p': 'http://filed.test:3' })
    expect([filed.proxy, filed.files]).toEqual([{ hostname: 'filed.test', port: 3 }, ['/run/p']])
  })

  test.each([
    [{ proxy: '$P' }, {}, 'P is not set'],
    [{ proxy: '$P' }, { P: 'https://p.test' }, 'P has an invalid value'],
    [{}, { https_proxy: 'socks5://p.test' }, 'https_proxy has an invalid value'],
    [{ proxy: '$file:/run/p' }, {}, 'the file /run/p is missing or empty'],
    [{ tls: { ca: '/run/ca' } }, {}, 'the file /run/ca is missing or empty'],
    [{ tls: { cert: '/run/c' } }, { 'file:/run/c': pem.slice(0, -3) }, 'the file /run/c does not hold what it should'],
  ])('%j is said to lack something, and never goes around it', (entry, environment, lack) => {
    expect(resolved(entry, environment).unavailable).toBe(lack)
  })

  test('has the certificates of its files', () => {
    const { tls, files } = resolved({ tls: { ca: '/ca', key: '/k' } }, { 'file:/ca': pem, 'file:/k': pem })
    expect([tls, files]).toEqual([{ ca: pem, key: pem }, ['/ca', '/k']])
  })
})
