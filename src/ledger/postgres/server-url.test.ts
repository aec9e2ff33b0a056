import { describe, expect, test } from 'bun:test'
import { nameOfServer } from '../ledger-place.ts'
import { BadServerUrl, checkServerUrl } from './server-url.ts'

describe('the URL of a server', () => {
  test.each([
    ['postgres://svc:w%2Frd@db.internal:5432/svc', 'svc at db.internal:5432'],
    ['postgresql://svc@db/my%20base?sslmode=verify-full', 'my base at db'],
    ['postgres://svc@[::1]/svc', 'svc at [::1]'],
  ])('%s is accepted', (url, name) => {
    expect(nameOfServer(checkServerUrl(url))).toBe(name)
    // Bun's client would not use TLS otherwise.
    expect(checkServerUrl(url)).toContain('?sslmode=')
  })

  test.each([
    ['', 'not a URL'],
    ['db:5432/svc', 'another kind'],
    ['postgres://svc:a#b@db/svc', 'no host|no user|no name|not a URL'],
    ['mysql://svc:secret-word@db/svc', 'another kind'],
    ['postgres://svc:secret-word@db', 'no name of a database'],
    ['postgres://svc:secret-word@db/a/b', 'no name of a database'],
    ['postgres://db/svc', 'no user'],
    ['postgres://svc:secret-word%@db/svc', 'that is not %25'],
    ['postgres://svc:secret-word%00@db/svc', 'that is not %25'],
    ['postgres://svc:secret-word@db/svc?sslmode=maybe', 'sslmode allows disable, prefer'],
    ['postgres://svc:secret-word@db/svc?options=-c', 'only ?sslmode='],
    ['postgres://svc:secret-word@db/svc?sslmode=require&sslmode=disable', 'only ?sslmode='],
    ['postgres://svc:secret-word@db/svc#x', 'only ?sslmode='],
  ])('%s is refused, without its password', (url, words) => {
    let failure: unknown
    try {
      checkServerUrl(url)
    } catch (error) {
      failure = error
    }
    expect(failure).toBeInstanceOf(BadServerUrl)
    expect(words.split('|').some((word) => String(failure).includes(word))).toBe(true)
    expect(String(failure)).not.toContain('secret-word')
  })
})
