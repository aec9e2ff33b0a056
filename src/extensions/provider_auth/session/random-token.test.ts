import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { areEqualHashes, hashOf, isToken, randomToken } from './random-token.ts'

describe('a random token', () => {
  test('is 32 bytes in 43 characters that need no escaping', () => {
    expect(randomToken()).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(Buffer.from(randomToken(), 'base64url')).toHaveLength(32)
  })

  test('is new each time', () => {
    expect(new Set(Array.from({ length: 1_000 }, randomToken)).size).toBe(1_000)
  })

  test.each([
    '',
    'x',
    `${'a'.repeat(43)}\n`,
    'a'.repeat(42),
    'a'.repeat(44),
    `${'a'.repeat(42)}=`,
    `${'a'.repeat(42)}+`,
    `${'a'.repeat(42)}é`,
  ])('is not %j', (text) => {
    expect(isToken(text)).toBeFalse()
  })
})

describe('a hash', () => {
  test('is SHA-256 in base64url', () => {
    expect(hashOf('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  })

  test('equals itself and no other', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(areEqualHashes(one, one)).toBeTrue()
        expect(areEqualHashes(one, other)).toBe(Buffer.from(one).equals(Buffer.from(other)))
      }),
    )
  })
})
