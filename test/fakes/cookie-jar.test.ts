import { describe, expect, test } from 'bun:test'
import { cookieJar, cookieParts, type CookieJar } from './cookie-jar.ts'

const at = 'http://127.0.0.1:1234/a/b'

function jarWith(...lines: readonly string[]): CookieJar {
  const jar = cookieJar()
  for (const line of lines) jar.store(at, new Headers([['set-cookie', line]]))
  return jar
}

describe('cookie jar', () => {
  test.each([
    ['a cookie', ['x=1; Path=/'], 'x=1'],
    ['two of one answer', ['x=1; Path=/', 'y=2=3; Path=/; HttpOnly'], 'x=1; y=2=3'],
    ['one in place of another', ['x=1; Path=/', 'x=2; Path=/'], 'x=2'],
    ['one of a path above', ['x=1; Path=/a'], 'x=1'],
    ['one of a path beside', ['x=1; Path=/a/bc'], undefined],
    ['one that is deleted', ['x=1; Path=/', 'x=; Path=/; Max-Age=0'], undefined],
    ['one that has expired', ['x=1; Path=/', 'x=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
    ['one deleted at another path', ['x=1; Path=/', 'x=; Path=/a; Max-Age=0'], 'x=1'],
    ['one for https', ['x=1; Path=/; Secure'], undefined],
  ])('sends %s: %j', (_, lines, header) => {
    expect(jarWith(...lines).header(at)).toBe(header)
  })

  test('sends nothing to other hosts, and ignores the port', () => {
    const jar = jarWith('x=1; Path=/')
    expect([jar.header('http://localhost:1234/'), jar.header('http://127.0.0.1:9/')]).toEqual([undefined, 'x=1'])
  })

  test('takes a line apart', () => {
    expect(cookieParts('t=a=b; Path=/; HttpOnly; Max-Age=5')).toEqual({
      name: 't',
      value: 'a=b',
      attributes: { path: '/', httponly: true, 'max-age': '5' },
    })
  })
})
