import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import type { ProviderDraft, ProviderEdits } from '../../http/page/page-api.ts'
import { defaultTimeouts } from '../defaults.ts'
import { brandEntries, entryOfDraft, membersOfEdit, providerOfDraft, settingsOf } from './provider-drafts.ts'

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
      { id: 'groq', brand: 'groq', timeouts: { firstTokenMs: 9 } },
      { id: 'groq', timeouts: { first_token_ms: 9 } },
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

describe('an edit of an entry', () => {
  const lab = { id: 'lab', base_url: 'http://10.0.0.7/v1', api_key: '$SVC_KEY_LAB' }
  const evil = 'http://evil.test/v1'

  test.each<[object, ProviderEdits, object]>([
    [lab, {}, {}],
    [lab, { baseUrl: evil }, { base_url: evil }],
    [{ ...lab, api_key: undefined }, { baseUrl: evil }, { base_url: evil }],
    [
      { ...lab, api_key: '$OPENAI_API_KEY' },
      { baseUrl: evil, keyVariable: 'SVC_KEY_X' },
      { base_url: evil, api_key: '$SVC_KEY_X' },
    ],
    [
      { ...lab, api_key: 'literal' },
      { baseUrl: evil, keyVariable: null },
      { base_url: evil, api_key: undefined },
    ],
    [{ id: 'groq' }, { keyVariable: 'GROQ_API_KEY', models: null }, { api_key: '$GROQ_API_KEY', models: undefined }],
    [{ id: 'groq', headers: { a: '$SECRET' } }, { models: ['m'] }, { models: ['m'] }],
    [lab, { timeouts: { idleMs: 9, attemptMs: 8 } }, { timeouts: { idle_ms: 9, attempt_ms: 8 } }],
    [{ ...lab, timeouts: { idle_ms: 9 } }, { timeouts: {} }, { timeouts: undefined }],
  ])('of %j: %j', (entry, edit, members) => {
    expect<object>(membersOfEdit({ ...entry }, edit)).toEqual(members)
  })

  test.each<[string, object, ProviderEdits, string]>([
    ['the key of a brand to a new address', { ...lab, api_key: '$OPENAI_API_KEY' }, { baseUrl: evil }, 'baseUrl'],
    ['any other variable to a new address', { ...lab, api_key: '$HOME' }, { baseUrl: evil }, 'baseUrl'],
    ['a key of the file to a new address', { ...lab, api_key: 'literal' }, { baseUrl: evil }, 'baseUrl'],
    ['a key that is no text to a new address', { ...lab, api_key: ['$A'] }, { baseUrl: evil }, 'baseUrl'],
    ['headers to a new address', { ...lab, headers: { 'x-key': '$SECRET' } }, { baseUrl: evil }, 'baseUrl'],
    ['overrides to a new address', { ...lab, overrides: { user: 'secret' } }, { baseUrl: evil }, 'baseUrl'],
    [
      'headers to a new address, with a new key',
      { ...lab, headers: {} },
      { baseUrl: evil, keyVariable: 'SVC_KEY_X' },
      'baseUrl',
    ],
    [
      'another path of the same host',
      { ...lab, api_key: '$OPENAI_API_KEY' },
      { baseUrl: 'http://10.0.0.7/x' },
      'baseUrl',
    ],
    ['a brand to a new address', { id: 'openai' }, { baseUrl: evil }, 'baseUrl'],
    ['a brand by its member', { id: 'x', brand: 'openai' }, { baseUrl: evil, keyVariable: null }, 'baseUrl'],
    ['a brand that has an address', { ...lab, id: 'openai' }, { baseUrl: evil, keyVariable: null }, 'baseUrl'],
    ['the echo', { id: 'x', protocol: 'echo' }, { baseUrl: evil }, 'baseUrl'],
    ['an address in a variable', lab, { baseUrl: '$HOME' }, 'baseUrl'],
    ['another secret', { id: 'groq' }, { keyVariable: 'HOME' }, 'keyVariable'],
    ['the key of another brand', { id: 'groq' }, { keyVariable: 'OPENAI_API_KEY' }, 'keyVariable'],
    ['a key of a brand at another server', lab, { keyVariable: 'OPENAI_API_KEY' }, 'keyVariable'],
    [
      'the key of a brand at an address of the file',
      { id: 'openai', base_url: evil },
      { keyVariable: 'OPENAI_API_KEY' },
      'keyVariable',
    ],
    [
      'the key of a brand at an address in a variable',
      { id: 'openai', base_url: '$EVIL' },
      { keyVariable: 'OPENAI_API_KEY' },
      'keyVariable',
    ],
    ['a key itself', lab, { keyVariable: 'gsk-not-a-variable' }, 'keyVariable'],
  ])('is refused: %s', (_, entry, edit, field) => {
    expect(refusal(() => membersOfEdit({ ...entry }, edit))).toEqual([400, `edit.${field}`])
  })

  test('is of settings without keys and headers', () => {
    expect(settingsOf({ ...lab, api_key: 'literal', headers: { a: 'b' } })).toEqual({
      baseUrl: lab.base_url,
      key: { kind: 'hidden' },
      variables: [],
      timeouts: {},
      defaultTimeouts,
    })
    expect(settingsOf({ id: 'groq', models: ['a', { name: 'b', upstream: 'c' }], timeouts: { idle_ms: 9 } })).toEqual({
      brand: 'groq',
      key: { kind: 'none' },
      variables: ['GROQ_API_KEY'],
      models: ['a', 'c'],
      hasModelFacts: true,
      timeouts: { idleMs: 9 },
      defaultTimeouts,
    })
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
