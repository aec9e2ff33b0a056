import { describe, expect, test } from 'bun:test'
import { hasBrowserMark, isFromOwnPages, isSafe, mayBeNavigation, showsPage } from './browser.ts'

function request(headers: Readonly<Record<string, string>>): Request {
  return new Request('http://svc.test/auth/provider', { headers })
}

describe('a mark of a browser', () => {
  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-mode': 'navigate' }],
    [{ 'Sec-Fetch-User': '?1' }],
    [{ 'sec-fetch-storage-access': 'none' }],
    [{ cookie: 'a=1' }],
    [{ cookie: '' }],
    [{ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0' }],
    [{ 'user-agent': 'Something (Mozilla/5.0 compatible)' }],
  ])('is in %j', (headers) => {
    expect(hasBrowserMark(request(headers))).toBeTrue()
  })

  test.each<[Record<string, string>]>([
    [{}],
    [{ 'user-agent': 'curl/8.1' }],
    [{ accept: 'text/html', origin: 'https://svc.test' }],
    [{ 'x-sec-fetch-mode': 'navigate' }],
  ])('is not in %j', (headers) => {
    expect(hasBrowserMark(request(headers))).toBeFalse()
  })
})

describe('a navigation', () => {
  test.each<[Record<string, string>]>([
    [{}],
    [{ 'sec-fetch-mode': 'navigate' }],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-purpose': '' }],
  ])('may be %j', (headers) => {
    expect(mayBeNavigation(request(headers))).toBeTrue()
  })

  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-mode': 'cors' }],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [{ 'sec-fetch-dest': 'frame' }],
    [{ 'sec-fetch-dest': 'object' }],
    [{ 'sec-fetch-dest': 'empty' }],
    [{ 'sec-purpose': 'prefetch' }],
    [{ 'sec-purpose': 'prefetch;prerender' }],
    [{ purpose: 'prefetch' }],
    [{ 'x-moz': 'prefetch' }],
    [{ 'sec-fetch-mode': '' }],
    [{ 'sec-fetch-mode': 'navigate, cors' }],
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

describe('a request from our own pages', () => {
  const own = 'https://svc.test'

  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': '' }, false],
    [{ 'sec-fetch-site': 'same-origin, cross-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: own }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
    [{ origin: own }, true],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
    [{ origin: 'https://svc.test.evil.example' }, false],
    [{ origin: 'https://SVC.test' }, false],
    [{ origin: 'http://svc.test' }, false],
    [{ origin: 'https://svc.test:444' }, false],
    [{ origin: `${own}, https://evil.example` }, false],
    [{ referer: 'https://evil.example/' }, true],
  ])('shows in %j: %p', (headers, expected) => {
    expect(isFromOwnPages(request(headers), own)).toBe(expected)
  })

  test('is none where our origin is not known, unless it is from no page', () => {
    expect(isFromOwnPages(request({ origin: own }), undefined)).toBeFalse()
    expect(isFromOwnPages(request({ origin: 'undefined' }), undefined)).toBeFalse()
    expect(isFromOwnPages(request({}), undefined)).toBeTrue()
  })
})

test('POST, PUT, PATCH, DELETE and whatever else there may be are not safe', () => {
  expect(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'get', 'QUERY'].filter(isSafe)).toEqual([
    'GET',
    'HEAD',
    'OPTIONS',
  ])
})
