import { describe, expect, test } from 'bun:test'
import { isSafe, looksLikeBrowser, mayBeNavigation, showsPage } from './browser.ts'

function request(headers: Readonly<Record<string, string>>): Request {
  return new Request('http://svc.test/auth/provider', { headers })
}

describe('looksLikeBrowser', () => {
  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-site': 'none' }],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    [{ cookie: 'a=1' }],
    [{ cookie: '' }],
    [{ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0' }],
    [{ 'user-agent': 'Something (Mozilla/5.0 compatible)' }],
  ])('is true for %j', (headers) => {
    expect(looksLikeBrowser(request(headers))).toBeTrue()
  })

  const nodeFetch = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' }

  test.each<[Record<string, string>]>([
    [{}],
    [{ 'user-agent': 'curl/8.1' }],
    [{ accept: 'text/html', origin: 'https://svc.test' }],
    [{ 'x-sec-fetch-site': 'none' }],
    [nodeFetch],
  ])('is false for %j', (headers) => {
    expect(looksLikeBrowser(request(headers))).toBeFalse()
  })
})

describe('a navigation', () => {
  test.each<[Record<string, string>]>([
    [{}],
    [{ 'sec-fetch-mode': 'navigate' }],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-purpose': '' }],
    [{ 'sec-fetch-mode': 'cors' }],
  ])('may be %j', (headers) => {
    expect(mayBeNavigation(request(headers))).toBeTrue()
  })

  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [{ 'sec-fetch-dest': 'frame' }],
    [{ 'sec-fetch-dest': 'object' }],
    [{ 'sec-fetch-dest': 'empty' }],
    [{ 'sec-purpose': 'prefetch' }],
    [{ 'sec-purpose': 'prefetch;prerender' }],
    [{ purpose: 'prefetch' }],
    [{ 'x-moz': 'prefetch' }],
    [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': '' }],
    [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate, cors' }],
  ])('is not %j', (headers) => {
    expect(mayBeNavigation(request(headers))).toBeFalse()
  })
})

describe('an answer', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' }, true],
    [{ accept: 'text/html' }, true],
    [{ accept: 'text/html', 'sec-fetch-mode': 'cors' }, false],
    [{ accept: '*/*' }, false],
    [{}, false],
  ])('to %j is shown as a page: %p', (headers, expected) => {
    expect(showsPage(request(headers))).toBe(expected)
  })
})

test('only GET, HEAD and OPTIONS are safe', () => {
  expect(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'get', 'QUERY'].filter(isSafe)).toEqual([
    'GET',
    'HEAD',
    'OPTIONS',
  ])
})
