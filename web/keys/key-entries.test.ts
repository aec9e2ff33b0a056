import { describe, expect, test } from 'bun:test'
import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { foundKeys, grantsOf, inOrder, modelsIn, rotatableOf } from './key-entries.ts'

const key = (more: Partial<KeyEntry> = {}): KeyEntry => ({
  id: 1,
  name: 'laptop',
  kind: 'program',
  hint: 'sk-svc_abc…wxyz',
  state: 'active',
  made: '2026-11-23T10:00:00.000Z',
  made_by: 'ann',
  source: 'database',
  expires: null,
  ended: null,
  ended_by: null,
  last_used: null,
  line: 1,
  person: 'ann',
  team: null,
  models: null,
  providers: null,
  networks: null,
  scopes: ['chat', 'models:read'],
  ...more,
})

test('models are read as people write them', () => {
  expect(modelsIn(' gpt-5*, claude\nllama  gpt-5* ,,')).toEqual(['gpt-5*', 'claude', 'llama'])
  expect(modelsIn(' , ')).toEqual([])
})

test('grants are told in words', () => {
  expect(grantsOf(key())).toBe('all models')
  expect(grantsOf(key({ models: ['gpt-5', '*'] }))).toBe('all models')
  expect(grantsOf(key({ models: ['a', 'b*'], scopes: ['chat', 'usage:read'] }))).toBe('a, b*, its own use')
  expect(grantsOf(key({ scopes: ['metrics:read'] }))).toBe('no models, metrics')
  expect(grantsOf(key({ kind: 'management', scopes: ['keys:write'] }))).toBe('makes and ends keys')
})

describe('keys', () => {
  const all = [key(), key({ id: 2, name: 'CI', person: null, made_by: 'command line' }), key({ id: 3, state: 'ended' })]

  test('are found by all words', () => {
    const ids = (text: string) => foundKeys(all, text).map(({ id }) => id)
    expect([ids(''), ids('ci'), ids('LAP ended'), ids('wxyz'), ids('nothing')]).toEqual([
      [1, 2, 3],
      [2],
      [3],
      [1, 2, 3],
      [],
    ])
  })

  test('that can be used come first, then the newest', () => {
    expect(
      inOrder([...all, key({ id: 4, state: 'expired' }), key({ id: 5, state: 'resting' })]).map(({ id }) => id),
    ).toEqual([5, 2, 1, 4, 3])
  })
})

test.each([
  ['of a team, which works', key({ person: null }), true],
  ['of a person', key(), false],
  ['that has ended', key({ person: null, state: 'ended' }), false],
  ['that has a successor', key({ person: null, line: 7 }), false],
])('a key %s: can it be replaced?', (_, entry, is) => {
  expect(rotatableOf([key({ id: 8, line: 7, person: null }), entry]).has(entry)).toBe(is)
})
