import { describe, expect, test } from 'bun:test'
import { requestPath } from './request-target.ts'

function pathOf(
  url: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const { method = 'GET', headers = {} } = init
  return () => requestPath(new Request(url, { method, headers: { host: 'localhost:8000', ...headers } }))
}

describe('the path of a request', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['http://localhost:8000/v1/models', '/v1/models'],
    ['http://localhost:8000/v1/models?limit=5', '/v1/models'],
    ['http://localhost:8000/?a=/b', '/'],
    ['http://localhost:8000', '/'],
    ['http://localhost:8000/v1/models#top', '/v1/models'],
    ['http://localhost:8000/v1/models/openai%2Fgpt-4o', '/v1/models/openai%2Fgpt-4o'],
    ['http://localhost:8000/v1/../health', '/health'],
    ['http://localhost:8000//v1', '//v1'],
    ['http://[::1]:8000/v1/models', '/v1/models'],
  ]
  test.each(paths)('of %s is %s', (url, expected) => {
    expect(pathOf(url)()).toBe(expected)
  })

  test.each([
    'localhost',
    'localhost:8000',
    'x:65535',
    '127.0.0.1:80',
    '[::1]:8000',
    '[::1]',
    'api.example.com',
    'a_b-c.d',
  ])('is known with Host %s', (host) => {
    expect(pathOf('http://x/v1', { headers: { host } })()).toBe('/v1')
  })

  test.each([
    '',
    'a b',
    'a, b',
    'a,b',
    'a/b',
    'user@host',
    'host:port',
    'host:123456',
    'host:65536',
    'host:99999',
    '[::1',
    'a?b',
    'a#b',
    'höst',
  ])('is refused with Host %j', (host) => {
    expect(pathOf('http://x/v1', { headers: { host } })).toThrow(
      expect.objectContaining({ status: 400, code: 'bad_request' }),
    )
  })

  test('is refused without Host', () => {
    expect(() => requestPath(new Request('http://x/v1'))).toThrow(expect.objectContaining({ status: 400 }))
  })

  test.each(['GET', 'HEAD'])('is refused when %s has a body', (method) => {
    expect(pathOf('http://x/v1', { method, headers: { 'content-length': '5' } })).toThrow(
      expect.objectContaining({ status: 400 }),
    )
    expect(pathOf('http://x/v1', { method, headers: { 'transfer-encoding': 'chunked' } })).toThrow(
      expect.objectContaining({ status: 400 }),
    )
    expect(pathOf('http://x/v1', { method, headers: { 'content-length': '0' } })()).toBe('/v1')
  })

  test.each(['CONNECT', 'PURGE', 'PROPFIND'])('is refused with 501 for %s', (method) => {
    expect(pathOf('http://x/v1', { method })).toThrow(
      expect.objectContaining({ status: 501, code: 'method_not_allowed' }),
    )
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is known for %s', (method) => {
    expect(pathOf('http://x/v1', { method })()).toBe('/v1')
  })
})
