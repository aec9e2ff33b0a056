import { expect, test } from 'bun:test'
import { UsageError } from './arguments.ts'
import { readCorsOrigins } from './cors-origins.ts'

test.each([
  [undefined, []],
  ['', []],
  ['https://a.example', ['https://a.example']],
  [
    ' https://a.example, http://localhost:3000\thttps://b.example:8443,',
    ['https://a.example', 'http://localhost:3000', 'https://b.example:8443'],
  ],
])('SVC_CORS_ORIGINS %p is understood', (text, origins) => {
  expect(readCorsOrigins({ SVC_CORS_ORIGINS: text })).toEqual(origins)
})

test.each([
  '*',
  'null',
  'a.example',
  'https://a.example/',
  'https://A.example',
  'https://a.example:443',
  'ftp://a.example',
  'https://user@a.example',
  'http://*',
  'https://*.a.example',
  'https://',
])('SVC_CORS_ORIGINS %p is refused', (text) => {
  expect(() => readCorsOrigins({ SVC_CORS_ORIGINS: `https://ok.example ${text}` })).toThrow(UsageError)
})
