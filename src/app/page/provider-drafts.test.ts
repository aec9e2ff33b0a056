import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import type { ProviderDraft } from '../../http/page/page-api.ts'
import { brandEntries, entryOfDraft, providerOfDraft } from './provider-drafts.ts'

const environment = { GROQ_API_KEY: 'a-key', SVC_KEY_LAB: 'another', HOME: '/root' }

function refusal(make: () => unknown): unknown {
  try {
    return make()
  } catch (error) {
    return error instanceof WireError ? [error.status, error.param] : error
  }
}

describe('the entry of a draft', () => {
  test.each<[ProviderDraft, object]>([
    [{ id: 'groq', brand: 'groq' }, { id: 'groq' }],
    [
      { id: 'work', brand: 'groq', keyVariable: 'SVC_KEY_WORK' },
      { id: 'work', brand: 'groq', api_key: '$SVC_KEY_WORK' },
    ],
    [
      { id: 'groq', brand: 'groq', keyVariable: 'GROQ_API_KEY' },
      { id: 'groq', api_key: '$GROQ_API_KEY' },
    ],
    [
      { id: 'lab', baseUrl: 'http://10.0.0.7/v1', protocol: 'anthropic', keyVariable: 'SVC_KEY_LAB', models: ['m'] },
      { id: 'lab', protocol: 'anthropic', base_url: 'http://10.0.0.7/v1', api_key: '$SVC_KEY_LAB', models: ['m'] },
    ],
    [
      { id: 'lab', baseUrl: 'http://10.0.0.7/v1', protocol: 'openai' },
      { id: 'lab', base_url: 'http://10.0.0.7/v1' },
    ],
  ])('%j', (draft, entry) => {
    expect<object>(entryOfDraft(draft)).toEqual(entry)
  })

  test.each<[string, ProviderDraft, string]>([
    ['an unknown brand', { id: 'a', brand: 'nothing' }, 'entry.brand'],
    ['the echo', { id: 'a', brand: 'echo' }, 'entry.brand'],
    ['a brand at another address', { id: 'openai', brand: 'openai', baseUrl: 'http://evil.test' }, 'entry.baseUrl'],
    ['a server with the name of a brand', { id: 'openai', baseUrl: 'http://evil.test' }, 'entry.id'],
    ['a server without address', { id: 'lab' }, 'entry.baseUrl'],
    ['an address in a variable', { id: 'lab', baseUrl: '$HOME' }, 'entry.baseUrl'],
    [
      'the key of a brand for a server',
      { id: 'lab', baseUrl: 'http://evil.test', keyVariable: 'OPENAI_API_KEY' },
      'entry.keyVariable',
    ],
    [
      'another secret for a server',
      { id: 'lab', baseUrl: 'http://evil.test', keyVariable: 'HOME' },
      'entry.keyVariable',
    ],
    ['another secret for a brand', { id: 'groq', brand: 'groq', keyVariable: 'HOME' }, 'entry.keyVariable'],
    ['the key of another brand', { id: 'g', brand: 'groq', keyVariable: 'OPENAI_API_KEY' }, 'entry.keyVariable'],
    ['a key itself', { id: 'groq', brand: 'groq', keyVariable: 'gsk-not-a-variable' }, 'entry.keyVariable'],
  ])('is refused: %s', (_, draft, param) => {
    expect(refusal(() => entryOfDraft(draft))).toEqual([400, param])
  })
})

describe('the provider of a draft', () => {
  test('has the key of its variable, by the rules of the file', () => {
    const draft = { id: 'lab', baseUrl: 'http://10.0.0.7/v1/', keyVariable: 'SVC_KEY_LAB' }
    expect(providerOfDraft(draft, environment)).toMatchObject({ baseUrl: 'http://10.0.0.7/v1', apiKey: 'another' })
    expect(providerOfDraft({ id: 'openai', brand: 'openai' }, environment).unavailable).toBe(
      'OPENAI_API_KEY is not set',
    )
  })

  test.each<ProviderDraft>([
    { id: 'A B', baseUrl: 'http://x.test' },
    { id: 'lab', baseUrl: 'ftp://x.test' },
    { id: 'lab', baseUrl: 'http://user:word@x.test' },
    { id: 'lab', baseUrl: 'http://x.test/?q=1' },
    { id: 'lab', baseUrl: 'http://x.test', keyVariable: 'SVC_KEY_LAB x' },
  ])('is refused by the rules of the file: %j', (draft) => {
    expect(refusal(() => providerOfDraft(draft, environment))).toEqual([400, 'entry'])
  })
})

test('the catalogue tells which variables are set, and no value', () => {
  const entries = brandEntries(environment)
  expect(entries.find(({ id }) => id === 'groq')).toMatchObject({
    name: 'Groq',
    keys: [{ variable: 'GROQ_API_KEY', isSet: true }],
    isFree: true,
  })
  expect(entries.find(({ id }) => id === 'openai')?.keys).toEqual([{ variable: 'OPENAI_API_KEY', isSet: false }])
  expect(entries.some(({ id }) => id === 'echo')).toBe(false)
  expect(JSON.stringify(entries)).not.toContain('a-key')
})
