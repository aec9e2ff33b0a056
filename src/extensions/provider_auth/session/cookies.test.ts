import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { onlyValue, parseCookies, serialiseCookie } from './cookies.ts'

const parsed = (header: string | null) => Object.fromEntries(parseCookies(header))

describe('a Cookie header', () => {
  test.each([
    [null, {}],
    ['', {}],
    ['token=a', { token: ['a'] }],
    ['a=1; token=b;c=3', { a: ['1'], token: ['b'], c: ['3'] }],
    ['token=a; token=b; token=a', { token: ['a', 'b', 'a'] }],
    ['token = a ;\ttoken\t=\tb', { token: ['a', 'b'] }],
    ['token=a=b==', { token: ['a=b=='] }],
    ['token="a"', { token: ['"a"'] }],
    ['Token=a; TOKEN=b', { Token: ['a'], TOKEN: ['b'] }],
    ['token; ; ;;=x;token=', { '': ['x'], token: [''] }],
    ['tok%65n=a; token=%41', { 'tok%65n': ['a'], token: ['%41'] }],
    ['constructor=b', { constructor: ['b'] }],
  ])('%j is parsed', (header, expected) => {
    expect(parsed(header)).toEqual(expected)
  })

  test.each(['\u00a0', '\u0085', '\u000b', '\u000c', '\u2000', '\ufeff', '\u1680'])(
    'takes %j for a part of a name or value, as browsers do',
    (odd) => {
      const cookies = parseCookies(`${odd}__Host-token=a; __Host-token${odd}=b; other=${odd}c${odd}`)
      expect(cookies.get('__Host-token')).toBeUndefined()
      expect(cookies.get('other')).toEqual([`${odd}c${odd}`])
    },
  )

  test('may hold names such as __proto__', () => {
    expect(parseCookies('__proto__=a; toString=b').get('__proto__')).toEqual(['a'])
    expect(parseCookies('a=1').get('toString')).toBeUndefined()
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })

  test('of thousands of cookies is read, one beyond 64 KiB is not', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `c${index}=1`).join('; ')
    expect(parseCookies(`${many}; token=a`).get('token')).toEqual(['a'])
    expect(parseCookies(`token=a; ${'x'.repeat(65_536)}=1`).size).toBe(0)
  })

  test('never throws, and finds every cookie of a list', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        parseCookies(header)
      }),
    )
    const name = fc.stringMatching(/^[a-z_]{1,8}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.stringMatching(/^[A-Za-z0-9_=-]{0,8}$/))), (pairs) => {
        const cookies = parseCookies(pairs.map((pair) => pair.join('=')).join('; '))
        for (const [wanted] of pairs)
          expect(cookies.get(wanted)).toEqual(pairs.filter(([each]) => each === wanted).map(([, value]) => value))
      }),
    )
  })
})

describe('the only value of a cookie', () => {
  test.each([
    ['token=a', 'a'],
    ['token=a; token=a', 'a'],
    ['token=a; token=b', undefined],
    ['token=; token=a', undefined],
    ['other=a', undefined],
  ])('of %j is %j', (header, value) => {
    expect(onlyValue(parseCookies(header), 'token')).toBe(value)
  })
})

describe('a Set-Cookie header', () => {
  test('is Secure over https', () => {
    expect(serialiseCookie({ name: 'token', value: 'abc', maxAgeSeconds: 86_400, isSecure: true })).toBe(
      'token=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure',
    )
  })

  test('has the same attributes when it deletes', () => {
    expect(serialiseCookie({ name: 'token', value: '', maxAgeSeconds: 0, isSecure: false })).toBe(
      'token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    )
  })
})
