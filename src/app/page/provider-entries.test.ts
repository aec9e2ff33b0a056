import { describe, expect, test } from 'bun:test'
import type { ParsedProvider } from '../../config/file/parse-provider.ts'
import { resolveProvider } from '../../config/file/resolve-provider.ts'
import type { OfferedModel } from '../../formats/model.ts'
import { offered } from '../../gateway/testing.ts'
import type { ProviderAttempts } from '../../observe/provider-attempts.ts'
import type { ModelHealth, ProviderHealth } from '../../service/health/health.ts'
import { ModelListError } from '../../upstream/list-models.ts'
import type { UnpricedModels } from '../unpriced-models.ts'
import { providerEntry } from './provider-entries.ts'

const now = 1_000_000
const none: ProviderAttempts = {
  count: 0,
  ok: 0,
  firstTokenP50: undefined,
  firstTokenP95: undefined,
  lastError: undefined,
}
const healthy: ProviderHealth = { unavailable: undefined, failure: undefined, models: [] }

function entryOf({
  entry = {},
  models,
  modelsFailure,
  unpriced,
  health,
  attempts = none,
}: {
  readonly entry?: Partial<ParsedProvider>
  readonly models?: readonly OfferedModel[]
  readonly modelsFailure?: Error
  readonly unpriced?: UnpricedModels
  readonly health?: Partial<ProviderHealth>
  readonly attempts?: ProviderAttempts
} = {}) {
  const config = resolveProvider(
    { id: 'a', ...(entry.protocol === 'echo' ? {} : { baseUrl: 'http://a.test/v1' }), ...entry },
    {},
  )
  return providerEntry(
    {
      ...{ config, models, modelsFailure, unpriced, attempts },
      health: health === undefined ? undefined : { ...healthy, ...health },
    },
    now,
  )
}

function left(model: string, remainingMs: number, failure: ModelHealth['failure'] = 'rate_limit'): ModelHealth {
  return { model, unavailable: { reason: 'retry_after', remainingMs }, failure }
}

const two = [offered('x', { upstream: 'x-2024' }), offered('y')]

describe('a provider as it is shown', () => {
  test('has its public facts, and neither key nor headers', () => {
    const entry = entryOf({
      entry: { id: 'mine', brand: 'groq', apiKey: 'a-key-for-tests', headers: { 'x-a': 'a-header-for-tests' } },
      models: two,
    })
    expect(entry).toEqual({
      id: 'mine',
      protocol: 'openai',
      brand: 'Groq',
      baseUrl: 'http://a.test/v1',
      enabled: true,
      state: { kind: 'ok' },
      coolingModels: [],
      models: ['x', 'y'],
      modelCount: 2,
      attempts: { count: 0, ok: 0 },
    })
  })

  test('has no address without one, and no models while they are unknown', () => {
    const entry = entryOf({ entry: { protocol: 'echo' } })
    expect([entry.baseUrl, entry.models, entry.modelCount]).toEqual([undefined, undefined, undefined])
  })

  test('has at most a thousand models, and says how many there are', () => {
    const { models, modelCount } = entryOf({
      models: Array.from({ length: 1_500 }, (_, index) => offered(`m${index}`)),
    })
    expect([models?.length, modelCount]).toEqual([1_000, 1_500])
  })

  test('has the lowest price of its models, and says whether all have it', () => {
    const [cheap, dear] = [
      { input: 0.05, output: 0.08 },
      { input: 2, output: 8, cachedInput: 1 },
    ]
    const of = (...prices: readonly (typeof dear | typeof cheap | undefined)[]) =>
      pick(entryOf({ models: prices.map((price) => offered('m', price === undefined ? {} : { price })) }))
    const pick = ({ price, hasOtherPrices }: ReturnType<typeof entryOf>) => [price, hasOtherPrices]
    expect(of(dear, cheap)).toEqual([cheap, true])
    expect(of(dear, dear)).toEqual([{ input: 2, output: 8 }, undefined])
    expect(of(undefined, cheap)).toEqual([cheap, true])
    expect(of(undefined)).toEqual([undefined, undefined])
  })

  test('has its models without a price, at most a thousand', () => {
    const names = Array.from({ length: 1_500 }, (_, index) => `m${index}`)
    expect(entryOf({ unpriced: { names: ['m'], areRefused: true } }).unpriced).toEqual({
      models: ['m'],
      areRefused: true,
    })
    expect(entryOf({ unpriced: { names, areRefused: false } }).unpriced?.models.length).toBe(1_000)
    expect(entryOf()).not.toHaveProperty('unpriced')
  })

  test('has the sums of its attempts, and its last error', () => {
    const lastError = { time: 5, failure: 'server_error', reason: 'status 500: oops', model: 'x', status: 500 }
    expect(entryOf({ attempts: { count: 3, ok: 2, firstTokenP50: 10, firstTokenP95: 20, lastError } })).toMatchObject({
      attempts: { count: 3, ok: 2, firstTokenP50: 10, firstTokenP95: 20 },
      lastError: { time: 5, failure: 'server_error', detail: 'status 500: oops', model: 'x', status: 500 },
    })
    expect(entryOf({ attempts: { ...none, lastError: { ...lastError, status: undefined } } }).lastError).toStrictEqual({
      time: 5,
      failure: 'server_error',
      detail: 'status 500: oops',
      model: 'x',
    })
  })
})

describe('the state of a provider', () => {
  const open = { reason: 'open', remainingMs: 4_000.4 } as const
  test.each([
    ['no request was sent yet', {}, { kind: 'ok' }],
    ['it answers', { health: {} }, { kind: 'ok' }],
    [
      'it did not list its models, and no other request was sent',
      { modelsFailure: new ModelListError('GET /models answered 500', 500) },
      { kind: 'failing', failure: 'model_list', detail: 'GET /models answered 500' },
    ],
    ...[401, 403].map(
      (status) =>
        [
          `its key was refused for the list with ${status}, and no other request was sent`,
          { models: two, modelsFailure: new ModelListError(`GET /models answered ${status}`, status) },
          { kind: 'failing', failure: 'credential', detail: `GET /models answered ${status}` },
        ] as const,
    ),
    [
      'it answers, although it did not tell its models',
      { modelsFailure: new ModelListError('GET /models answered 401', 401), health: {} },
      { kind: 'ok' },
    ],
    [
      'it told its models before',
      { modelsFailure: new ModelListError('GET /models answered 503', 503), models: two },
      { kind: 'ok' },
    ],
    ['its last attempt failed', { health: { failure: 'server_error' } }, { kind: 'failing', failure: 'server_error' }],
    [
      'its breaker is open',
      { health: { unavailable: open, failure: 'connect' } },
      { kind: 'cooling', until: now + 4_000, failure: 'connect' },
    ],
    [
      'it asked to be left alone',
      { health: { unavailable: { reason: 'retry_after', remainingMs: 9_000 }, failure: 'overloaded' } },
      { kind: 'cooling', until: now + 9_000, failure: 'overloaded', askedToWait: true },
    ],
    [
      'it is left alone for a reason that was forgotten',
      { health: { unavailable: open } },
      { kind: 'cooling', until: now + 4_000 },
    ],
    [
      'it is switched off, in any other state',
      { entry: { enabled: false, apiKey: '$A_KEY' }, health: { unavailable: open } },
      { kind: 'off' },
    ],
    [
      'something is missing',
      { entry: { apiKey: '$A_KEY' }, health: { failure: 'connect' } },
      { kind: 'unavailable', lacks: [{ code: 'unset', variables: ['A_KEY'], isKey: true }] },
    ],
    ['one of its models is left alone', { models: two, health: { models: [left('y', 9_000)] } }, { kind: 'ok' }],
    [
      'all of its models are left alone',
      { models: two, health: { models: [left('y', 9_000, 'model_gone'), left('x-2024', 5_000)] } },
      { kind: 'cooling', until: now + 5_000, failure: 'rate_limit', askedToWait: true },
    ],
    [
      'models are left alone that it does not list',
      { models: two, health: { models: [left('y', 9_000), left('z', 9_000)] } },
      { kind: 'ok' },
    ],
    ['its models are not known', { health: { models: [left('y', 9_000)] } }, { kind: 'ok' }],
    ['it has none', { models: [], health: { models: [left('y', 9_000)] } }, { kind: 'ok' }],
  ] as const)('%s', (_, facts, expected) => {
    expect(entryOf(facts).state).toEqual(expected)
  })
})

describe('the models that are left alone by themselves', () => {
  test('have the names that clients use', () => {
    expect(entryOf({ models: two, health: { models: [left('x-2024', 1), left('z', 1)] } }).coolingModels).toEqual([
      'x',
      'z',
    ])
  })

  test('have the first of several names, and are at most a thousand', () => {
    const twice = [offered('x', { upstream: 'same' }), offered('y', { upstream: 'same' }), offered('z')]
    expect(entryOf({ models: twice, health: { models: [left('same', 1)] } }).coolingModels).toEqual(['x'])
    expect(
      entryOf({ health: { models: Array.from({ length: 1_500 }, (_, index) => left(`made-up-${index}`, 1)) } })
        .coolingModels,
    ).toHaveLength(1_000)
  })

  test('are left out while the whole provider cools down', () => {
    expect(entryOf({ models: two, health: { models: [left('x-2024', 1), left('y', 1)] } }).coolingModels).toEqual([])
    expect(
      entryOf({ models: two, health: { unavailable: { reason: 'open', remainingMs: 1 }, models: [left('y', 1)] } })
        .coolingModels,
    ).toEqual([])
    expect(
      entryOf({ entry: { enabled: false }, models: two, health: { models: [left('y', 1)] } }).coolingModels,
    ).toEqual([])
  })
})
