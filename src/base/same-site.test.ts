import { describe, expect, test } from 'bun:test'
import { isFromOwnPages, isJson } from './same-site.ts'

function request(headers: Readonly<Record<string, string>>): Request {
  return new Request('http://svc.test/auth/provider', { headers })
}

describe('a request from own pages', () => {
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
  ])('with %j: %p', (headers, expected) => {
    expect(isFromOwnPages(request(headers), (origin) => origin === own)).toBe(expected)
  })
})

test.each<[string | undefined, boolean]>([
  ['application/json', true],
  ['Application/JSON ;x', true],
  ['application/jsonp', false],
  ['text/plain; application/json', false],
  [undefined, false],
])('a body of type %p is JSON: %p', (type, expected) => {
  expect(isJson(request(type === undefined ? {} : { 'content-type': type }))).toBe(expected)
})
