import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { claimedKey, hashOfKey, hintOfKey, newKey, readKey, type KeyKind } from './key-form.ts'

const kinds: readonly KeyKind[] = ['program', 'management']
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** More by the environment, for a longer run. */
const keysMade = Number(process.env['SVC_TEST_KEYS'] ?? 50_000)

function formed(text: string) {
  const key = readKey(text)
  if (key === undefined || key === 'malformed') throw new Error(`${key} key`)
  return key
}

describe('a new key', () => {
  test.each([
    ['program', /^sk-svc_[0-9A-Za-z]{44}$/, 51],
    ['management', /^svcm_[0-9A-Za-z]{44}$/, 49],
  ] as const)('of kind %s has its form and is read as that', (kind, form, length) => {
    const text = newKey(kind)
    expect(text).toMatch(form)
    expect(text).toHaveLength(length)
    expect(readKey(text)).toEqual({ kind, text })
  })

  test(`is distinct and valid, ${keysMade} times, and each with a changed character is malformed`, () => {
    const made = new Set<string>()
    for (let count = 0; count < keysMade; count += 1) {
      const text = newKey('program')
      if (readKey(text) === 'malformed') throw new Error(`malformed: ${text}`)
      made.add(text)
      const position = 7 + (count % 44)
      const digit = alphabet[(alphabet.indexOf(text[position] ?? '') + 1 + (count % 61)) % 62] ?? ''
      const changed = text.slice(0, position) + digit + text.slice(position + 1)
      if (readKey(changed) !== 'malformed') throw new Error(`valid: ${text} as ${changed}`)
    }
    expect(made.size).toBe(keysMade)
  })

  test('uses every digit about equally', () => {
    const counts = new Map<string, number>()
    for (let count = 0; count < 10_000; count += 1)
      for (const digit of newKey('program').slice(7, 45)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    // 6,129 expected each; the standard deviation is 78.
    expect(counts.size).toBe(62)
    expect(Math.min(...counts.values())).toBeGreaterThan(5_600)
    expect(Math.max(...counts.values())).toBeLessThan(6_700)
  })
})

describe('readKey', () => {
  test.each(kinds)('finds each changed character of a %s key', (kind) => {
    const text = newKey(kind)
    const start = text.indexOf('_') + 1
    for (let position = start; position < text.length; position += 1)
      for (const digit of alphabet) {
        const changed = text.slice(0, position) + digit + text.slice(position + 1)
        if (changed !== text) expect([position, digit, readKey(changed)]).toEqual([position, digit, 'malformed'])
      }
  })

  test('finds two swapped neighbours', () => {
    const text = newKey('program')
    for (let position = 7; position < text.length - 1; position += 1) {
      const [one = '', other = ''] = text.slice(position, position + 2)
      const changed = text.slice(0, position) + other + one + text.slice(position + 2)
      if (one !== other) expect(readKey(changed)).toBe('malformed')
    }
  })

  test('finds a key that was cut, or has more at its end or beginning', () => {
    const text = newKey('program')
    for (let length = 7; length < text.length; length += 1) expect(readKey(text.slice(0, length))).toBe('malformed')
    for (const more of ['0', ' ', '\n', '=', 'ü']) expect(readKey(text + more)).toBe('malformed')
    expect(readKey(` ${text}`)).toBeUndefined()
  })

  test('accepts a program key without its sk-', () => {
    const text = newKey('program')
    expect(readKey(text.slice(3))).toEqual({ kind: 'program', text })
  })

  test.each([
    '',
    'sk-',
    'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ',
    'sk-ant-api03-abcdefghijklmnopqrstuvwxyz',
    'sk-or-v1-0123456789abcdef0123456789abcdef',
    'gsk_abcdefghijklmnopqrstuvwxyz',
    'AIzaSyA0123456789abcdefghijklmnopqrstu',
    'SK-SVC_0123456789',
    'sk-svc-0123456789',
  ])('leaves the key of another service alone: %j', (text) => {
    expect(readKey(text)).toBeUndefined()
  })

  test('never throws, and says no text is a key', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'sk-svc_', 'svc_', 'svcm_'), fc.string({ unit: 'binary' }), (prefix, text) => {
        expect(readKey(prefix + text)).toBe(prefix === '' ? undefined : 'malformed')
      }),
    )
  })
})

test('the hash is SHA-256 of the whole key, with or without its sk-', () => {
  const text = newKey('program')
  const expected = new Bun.CryptoHasher('sha256').update(text).digest('base64')
  expect([hashOfKey(formed(text)), hashOfKey(formed(text.slice(3)))]).toEqual([expected, expected])
})

test('the hint shows ten and four characters', () => {
  const text = newKey('program')
  expect(hintOfKey(formed(text))).toBe(`${text.slice(0, 10)}…${text.slice(47)}`)
})

test('tokens of agents are no keys, and are left to sign-in', () => {
  expect(['svc_at_', 'svc_rt_'].map((prefix) => claimedKey(prefix + 'a'.repeat(43)))).toEqual([undefined, undefined])
})
