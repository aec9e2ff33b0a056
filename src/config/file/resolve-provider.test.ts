import { describe, expect, test } from 'bun:test'
import type { ParsedProvider } from './parse-provider.ts'
import { resolveProvider } from './resolve-provider.ts'

describe('resolveProvider', () => {
  test.each<[string, ParsedProvider, Record<string, string>, string | undefined]>([
    ['a brand whose key is set', { id: 'groq' }, { GROQ_API_KEY: 'k' }, undefined],
    ['a brand whose key is not set', { id: 'groq' }, {}, 'GROQ_API_KEY is not set'],
    ['a brand whose key is empty', { id: 'groq' }, { GROQ_API_KEY: ' ' }, 'GROQ_API_KEY is not set'],
    ['a brand with several variables', { id: 'gemini' }, {}, 'none of GEMINI_API_KEY, GOOGLE_API_KEY is set'],
    ['a brand under another id', { id: 'quick', brand: 'groq' }, {}, 'GROQ_API_KEY is not set'],
    ['a local brand', { id: 'ollama' }, {}, undefined],
    [
      'a named variable that is not set',
      { id: 'a', baseUrl: 'https://a.test', apiKey: '$A_KEY' },
      {},
      'A_KEY is not set',
    ],
    [
      'several variables that are not set',
      { id: 'a', baseUrl: '$A_URL', apiKey: '$A_KEY', headers: { x: '$A_KEY' } },
      {},
      'A_URL is not set, A_KEY is not set',
    ],
    ['an address that is none', { id: 'a', baseUrl: '$A_URL' }, { A_URL: 'a.test' }, 'A_URL has an invalid value'],
    [
      'a key with a line break in it',
      { id: 'a', baseUrl: 'https://a.test', apiKey: '$A_KEY' },
      { A_KEY: 'a\nb' },
      'A_KEY has an invalid value',
    ],
    [
      'a variable inherited by every object',
      { id: 'a', baseUrl: 'https://a.test', apiKey: '$constructor' },
      {},
      'constructor is not set',
    ],
    ['a disabled one', { id: 'groq', enabled: false }, {}, undefined],
    ['the echo', { id: 'x', protocol: 'echo' }, {}, undefined],
    ['no key at all', { id: 'a', baseUrl: 'https://a.test' }, {}, undefined],
  ])('%s', (_, entry, environment, unavailable) => {
    expect(resolveProvider(entry, environment).unavailable).toBe(unavailable)
  })

  test('reports what a disabled provider lacks', () => {
    const lacks = [{ code: 'unset', variables: ['GROQ_API_KEY'] }] as const
    expect(resolveProvider({ id: 'groq', enabled: false }, {})).toMatchObject({ lacks })
    expect(resolveProvider({ id: 'groq', enabled: false }, {}).unavailable).toBeUndefined()
    expect(resolveProvider({ id: 'groq', enabled: false }, { GROQ_API_KEY: 'key-for-tests' }).lacks).toBeUndefined()
    expect(resolveProvider({ id: 'groq' }, {})).toMatchObject({ lacks, unavailable: 'GROQ_API_KEY is not set' })
  })

  test('uses the first set variable of a brand, without surrounding blanks', () => {
    expect(resolveProvider({ id: 'gemini' }, { GOOGLE_API_KEY: ' key-for-tests\n' })).toMatchObject({
      apiKey: 'key-for-tests',
      protocol: 'gemini',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    })
  })

  test('knows the brand of an address, without its key', () => {
    const entry = { id: 'mine', baseUrl: 'https://api.openai.com/v1', models: '*' } as const
    const resolved = resolveProvider(entry, { OPENAI_API_KEY: 'k' })
    expect(resolved).toMatchObject({ brand: 'openai', listedBrand: 'openai', quirks: { formats: ['responses'] } })
    expect(resolved).not.toHaveProperty('apiKey')
    const here = { ...entry, baseUrl: 'http://127.0.0.1:11434/v1' }
    expect(resolveProvider(here, {})).not.toHaveProperty('brand')
  })

  test("does not send a brand's key to another host", () => {
    const provider = resolveProvider(
      { id: 'openai', baseUrl: 'http://127.0.0.1:9000/v1' },
      { OPENAI_API_KEY: 'key-for-tests' },
    )
    expect([provider.apiKey, provider.unavailable]).toEqual([undefined, undefined])
  })

  test("does not resolve variables in a variable's value", () => {
    const provider = resolveProvider(
      { id: 'a', baseUrl: 'https://a.test', apiKey: '$A' },
      { A: '$B', B: 'key-for-tests' },
    )
    expect(provider).toMatchObject({ unavailable: 'A has an invalid value' })
  })

  test('lists the models of a brand that has no list of its own', () => {
    expect(resolveProvider({ id: 'perplexity', models: '*' }, {}).models).toContainEqual({
      name: 'sonar',
      upstream: 'sonar',
      aliases: [],
    })
    expect(resolveProvider({ id: 'echo' }, {}).models).toEqual([{ name: 'echo', upstream: 'echo', aliases: [] }])
  })

  test("has the owner's reasoning history in the profile of its models", () => {
    const historyOf = (entry: ParsedProvider) => resolveProvider(entry, {}).profile.reasoning
    expect([
      historyOf({ id: 'mistral' }),
      historyOf({ id: 'own', brand: 'mistral', reasoningHistory: 'reasoning' }),
    ]).toEqual([undefined, 'reasoning'])
  })
})
