import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { languageOf } from './page-language.ts'

const languages = ['en', 'de']
const of = (accepted: string, cookie = ''): string =>
  languageOf(new Headers({ 'accept-language': accepted, cookie }), languages)

describe('the language of the page', () => {
  test.each([
    ['', 'en'],
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-de, en;q=0.9', 'de'],
    ['fr, de;q=0.5, en;q=0.4', 'de'],
    ['en;q=0.8, de;q=0.9', 'de'],
    ['de, en', 'de'],
    ['en, de', 'en'],
    ['de;q=0', 'en'],
    ['de;q=0, en;q=0.1', 'en'],
    ['fr, *', 'en'],
    ['den', 'en'],
    ['de;q=x', 'en'],
    ['zh-Hant-TW, de-CH-1996;q=0.3', 'de'],
  ])('for Accept-Language %j is %s', (accepted, language) => expect(of(accepted)).toBe(language))

  test.each([
    ['svc-language=de', 'de'],
    ['token=x; svc-language=de', 'de'],
    ['svc-language=de; token=x', 'de'],
    ['svc-language=fr', 'en'],
    ['x-svc-language=de', 'en'],
    ['svc-language=de-x', 'en'],
    ['svc-language=__proto__', 'en'],
  ])('is that of the cookie, if it exists: %j', (cookie, language) => expect(of('en', cookie)).toBe(language))

  test('is one that exists for any headers, and is found at once in long ones', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const headers = { get: (name: string) => (name === 'cookie' ? one : other) }
        expect(languages).toContain(languageOf(Object.assign(new Headers(), headers), languages))
      }),
    )
    for (const each of [',', ' ', 'de;q=0,', 'a-', 'de;q=0.0000', ';']) expect(of(each.repeat(8_000))).toBe('en')
  })
})
