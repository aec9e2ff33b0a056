import { describe, expect, test } from 'bun:test'
import { requestId } from './handler-context.ts'

const idOf = (given?: string) =>
  requestId(new Request('http://x/', given === undefined ? {} : { headers: { 'x-request-id': given } }))

describe("a request's id", () => {
  test.each(['a', 'A-b_c.9', 'x'.repeat(128)])("is the caller's: %s", (given) => {
    expect(idOf(given)).toBe(given)
  })

  test.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 'a,b', '<script>', 'a;b'])(
    'is a new one instead of %j',
    (given) => {
      expect(idOf(given)).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test('is a new one each time where the caller has none', () => {
    expect(idOf()).not.toBe(idOf())
  })

  test('is greater than those before it', () => {
    const ids = Array.from({ length: 1_000 }, () => idOf())
    expect(ids).toEqual(ids.toSorted())
  })
})
