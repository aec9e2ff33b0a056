import { expect, test } from 'bun:test'
import { UsageError } from '../base/start-errors.ts'
import { readCorsOrigins } from './listen.ts'

test.each([
  [undefined, []],
  ['', []],
  ['https://a.example', ['https://a.example']],
  ['*', ['*']],
  ['app://obsidian.md file://', ['app://obsidian.md', 'file://']],
  [
    ' https://a.example, http://localhost:3000\thttps://b.example:8443,',
    ['https://a.example', 'http://localhost:3000', 'https://b.example:8443'],
  ],
])('SVC_CORS_ORIGINS %p is accepted', (text, origins) => {
  expect(readCorsOrigins({ SVC_CORS_ORIGINS: text })).toEqual(origins)
})

test.each([
  'null',
  'app://obsidian.md/',
  'evil://a.example',
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
