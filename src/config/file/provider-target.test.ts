import { describe, expect, test } from 'bun:test'
import { providerTarget } from './provider-target.ts'

const groq = {
  protocol: 'openai',
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'key',
  headers: { 'X-Team': 'red', 'x-project': 'one' },
} as const

describe('the fingerprint of a provider', () => {
  test('is 12 hex digits, the same on every machine', () => {
    expect(providerTarget(groq, 'one')).toMatch(/^[0-9a-f]{12}$/)
    expect(providerTarget(groq, 'one')).toBe(
      providerTarget({ ...groq, headers: { 'x-project': 'one', 'x-team': 'red' } }, 'other'),
    )
  })

  test.each([
    ['protocol', { protocol: 'anthropic' }],
    ['base URL', { baseUrl: 'https://api.example.com/v2' }],
    ['key', { apiKey: 'another' }],
    ['headers', { headers: { 'X-Team': 'blue', 'x-project': 'one' } }],
  ] as const)('is another with another %s', (_, changed) => {
    expect(providerTarget({ ...groq, ...changed }, 'one')).not.toBe(providerTarget(groq, 'one'))
  })

  test.each([
    'http://127.0.0.1:11434/v1',
    'http://localhost:1234/v1',
    'http://ollama.localhost',
    'http://[::1]:8000',
    'http://0.0.0.0:8000',
    'http://[::ffff:127.0.0.1]',
  ])('differs on each machine at %s', (baseUrl) => {
    expect(providerTarget({ ...groq, baseUrl }, 'one')).not.toBe(providerTarget({ ...groq, baseUrl }, 'other'))
  })

  test('is the same on each machine for addresses that only look local', () => {
    for (const baseUrl of ['https://127.example.com', 'https://localhost.example.com', ''])
      expect(providerTarget({ ...groq, baseUrl }, 'one')).toBe(providerTarget({ ...groq, baseUrl }, 'other'))
  })

  test('depends on at most 16 bits of a key', () => {
    const ofKey = (baseUrl: string): string => providerTarget({ ...groq, baseUrl }).slice(8)
    expect(ofKey('https://one.example.com')).toBe(ofKey('https://other.example.com'))
    const others = new Set(Array.from({ length: 1_000 }, (_, index) => providerTarget({ ...groq, apiKey: `${index}` })))
    expect(
      Array.from(others, (target) => target.slice(0, 8)).every((place) => place === providerTarget(groq).slice(0, 8)),
    ).toBe(true)
    expect(others.size).toBeGreaterThan(900)
  })
})
