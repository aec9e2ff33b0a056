import { describe, expect, test } from 'bun:test'
import type { LimitRowEntry, ModelEntry, ProviderEntry, ProviderState } from '../../src/http/page/page-api.ts'
import { badgesFrom, usedUpByAll, usedUpByReader, withKeyless } from './model-facts.ts'

const noKey: ProviderState = { kind: 'unavailable', lacks: [{ code: 'unset', variables: ['K'], isKey: true }] }

function provider(id: string, state: ProviderState = { kind: 'ok' }, models?: readonly string[]): ProviderEntry {
  const fixed = { protocol: 'openai', enabled: true, coolingModels: [], attempts: { count: 0, ok: 0 } }
  return { id, state, ...fixed, ...(models === undefined ? {} : { models }) }
}

const price = { input: 1, output: 2 }
const llama: ModelEntry = {
  name: 'llama',
  offers: [
    { provider: 'b', upstream: 'meta/llama', price },
    { provider: 'c', upstream: 'llama' },
  ],
}

function row(row: Partial<LimitRowEntry>, remaining: number): LimitRowEntry {
  const uses = [{ name: '', used: 5, remaining }]
  return { place: 'limits[0]', for: 'everyone', kind: 'usd', limit: 5, isApart: false, ...row, uses }
}

describe('models of providers without a key', () => {
  test('stand at the place of their provider, also those that no other one has', () => {
    const providers = [provider('a', noKey, ['llama', 'locked']), provider('b'), provider('c')]
    expect(withKeyless([llama], providers)).toEqual([
      { name: 'llama', offers: [{ provider: 'a', upstream: 'llama' }, ...llama.offers] },
      { name: 'locked', offers: [{ provider: 'a', upstream: 'locked' }] },
    ])
  })

  test('of providers that are off or lack something else are left out', () => {
    const other: ProviderState = { kind: 'unavailable', lacks: [{ code: 'no_base_url', variables: [] }] }
    expect(withKeyless([llama], [provider('a', { kind: 'off' }, ['x']), provider('d', other, ['y'])])).toEqual([llama])
  })
})

describe('used-up limits', () => {
  test.each([
    [row({}, 0), [{}]],
    [row({ models: ['gpt-*'] }, 0), [{ models: ['gpt-*'] }]],
    [row({ for: 'provider:b' }, 0), [{ provider: 'b' }]],
    [row({}, 0.01), []],
    [row({ kind: 'at_once' }, 0), []],
    [row({ for: 'each person', isApart: true }, 0), []],
    [row({ for: 'person:ann' }, 0), []],
  ])('of all callers: %j → %j', (limit, expected) => {
    expect(usedUpByAll([limit])).toEqual(expected)
  })

  test('of the reader are those whose amount is known', () => {
    const limit = { for: 'each person', kind: 'usd', limit: 5, per: 'day', models: ['gpt-*'], remaining: 0 }
    const shared = { ...limit, limit: null, remaining: null }
    expect(usedUpByReader([limit, shared, { ...limit, remaining: 1 }, { ...limit, models: null }])).toEqual([
      { models: ['gpt-*'] },
      {},
    ])
  })
})

describe('badges', () => {
  const bare: ModelEntry = { name: 'bare', offers: [{ provider: 'c', upstream: 'bare' }] }
  const unpriced = { models: ['llama'], areRefused: true }
  test.each([
    ['none without facts', llama, {}, []],
    ['no price where no provider has one', bare, {}, ['noPrice']],
    ['no price where a limit counts it', llama, { providers: [{ ...provider('c'), unpriced }] }, ['noPrice']],
    ['a key of one provider', llama, { providers: [provider('a', noKey, ['llama'])] }, ['keyMissing']],
    ['no key of other models', llama, { providers: [provider('a', noKey, ['x'])] }, []],
    ['a limit of all models', llama, { usedUp: [{}] }, ['overLimit']],
    ['a limit of its name', llama, { usedUp: [{ models: ['LLA*'] }] }, ['overLimit']],
    ['limits of each provider', llama, { usedUp: [{ provider: 'b' }, { models: ['c/llama'] }] }, ['overLimit']],
    ['no limit of one of two providers', llama, { usedUp: [{ provider: 'b' }] }, []],
    ['no limit of other models', llama, { usedUp: [{ models: ['gpt-*'] }] }, []],
  ] as const)('%s', (_, model, facts, expected) => {
    expect(badgesFrom({ providers: [], usedUp: [], ...facts })(model)).toEqual([...expected])
  })
})
