import { describe, expect, test } from 'bun:test'
import type { Price } from '../../src/formats/model.ts'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import {
  formatContext,
  formatPrice,
  isFree,
  otherInputs,
  priceRange,
  spokenPrice,
  takesImages,
} from './describe-model.ts'
import { isOffered } from './offers.ts'

describe('formatContext', () => {
  test.each([
    [512, '512'],
    [8192, '8k'],
    [128_000, '128k'],
    [131_072, '131k'],
    [999_999, '1M'],
    [1_048_576, '1.05M'],
    [2_000_000, '2M'],
    [10_500_000, '10.5M'],
  ])('%d → %s', (tokens, text) => {
    expect(formatContext(tokens)).toBe(text)
  })
})

describe('formatPrice', () => {
  const cases: readonly (readonly [number, number, string])[] = [
    [0.15, 0.6, '$0.15 / $0.60'],
    [3, 15, '$3 / $15'],
    [2.5, 10, '$2.50 / $10'],
    [0, 0, 'free'],
    [0, 0.4, '$0 / $0.40'],
    [0.075, 0.3, '$0.075 / $0.30'],
    [0.0375, 12.5, '$0.0375 / $12.50'],
    [0.1 + 0.2, 1234, '$0.30 / $1234'],
    [0.0024, 0.00005, '$0.0024 / $0.00005'],
  ]
  test.each(cases)('%d, %d → %s', (input, output, text) => {
    expect(formatPrice({ input, output })).toBe(text)
  })

  test('a model that is paid by the request is not free', () => {
    const price = { input: 0, output: 0, request: 0.04 }
    expect([formatPrice(price), spokenPrice(price), isFree(model({ price }))]).toEqual([
      '$0.04 a request',
      '$0.04 a request',
      false,
    ])
  })

  test('spells out the numbers for screen readers', () => {
    expect([spokenPrice({ input: 0.15, output: 0.6 }), spokenPrice({ input: 0, output: 0 })]).toEqual([
      '$0.15 in, $0.60 out per million tokens',
      'free',
    ])
  })
})

const free: Price = { input: 0, output: 0 },
  paid: Price = { input: 0, output: 1 }

function model(...offers: readonly { readonly price?: Price; readonly input?: readonly string[] }[]): ModelEntry {
  return { name: 'm', offers: offers.map((offer, index) => ({ provider: `p${index}`, upstream: 'm', ...offer })) }
}

describe('priceRange', () => {
  const more: Price = { input: 0.15, output: 0.6 }
  test.each([
    [
      model({ price: free }, { price: more }),
      'free – $0.15 / $0.60',
      'free to $0.15 in, $0.60 out per million tokens, depending on the provider',
    ],
    [
      model({ price: more }, { price: free }),
      'free – $0.15 / $0.60',
      'free to $0.15 in, $0.60 out per million tokens, depending on the provider',
    ],
    [model({ price: more }, { price: more }), '$0.15 / $0.60', '$0.15 in, $0.60 out per million tokens'],
    [model({ price: free }, {}), 'free or unknown', 'free or not known, depending on the provider'],
    [
      model({}, { price: more }, { price: free }),
      'free – $0.15 / $0.60 or unknown',
      'free to $0.15 in, $0.60 out per million tokens or not known, depending on the provider',
    ],
  ])('%j → %s', (entry, text, spoken) => {
    expect(priceRange(entry)).toEqual({ text, spoken })
  })

  test('is undefined if no price is known', () => {
    expect(priceRange(model({}, {}))).toBeUndefined()
  })
})

describe('isFree', () => {
  test.each([
    [model({ price: free }, { price: free }), true],
    [model({ price: free }, { price: paid }), false],
    [model({ price: free }, {}), false],
    [model({}, { price: free }), false],
    [model(), false],
  ])('%j → %p', (entry, expected) => {
    expect(isFree(entry)).toBe(expected)
  })
})

describe('takesImages', () => {
  test.each([
    [model({ input: ['text'] }, { input: ['text', 'image'] }), true],
    [model({ input: ['text'] }), false],
    [model({}), false],
  ])('%j → %p', (entry, expected) => {
    expect(takesImages(entry)).toBe(expected)
  })
})

describe('otherInputs', () => {
  test.each([
    [model({ input: ['text', 'audio'] }, { input: ['image', 'audio', 'file'] }), ['audio', 'file']],
    [model({ input: ['text', 'image'] }), []],
    [model({}), []],
  ])('%j → %p', (entry, expected) => {
    expect(otherInputs(entry)).toEqual(expected)
  })
})

describe('isOffered', () => {
  const models: readonly ModelEntry[] = [
    { name: 'llama', offers: [{ provider: 'groq', upstream: 'llama-3' }] },
    { name: 'openai/gpt', offers: [{ provider: 'router', upstream: 'openai/gpt' }] },
  ]
  test.each([
    ['llama', true],
    ['LLAMA', true],
    ['groq/llama', true],
    ['openai/llama', false],
    ['openai/gpt', true],
    ['router/openai/gpt', true],
    ['gpt', false],
    ['', false],
  ])('%s → %p', (name, expected) => {
    expect(isOffered(models, name)).toBe(expected)
  })
})
