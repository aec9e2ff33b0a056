import { describe, expect, test } from 'bun:test'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { makerOf } from './model-makers.ts'
import { sortModels, storedOrder, type ModelOrder } from './model-order.ts'

function model(name: string, ...offers: readonly Partial<ModelEntry['offers'][number]>[]): ModelEntry {
  return { name, offers: offers.map((offer, index) => ({ provider: `p${index}`, upstream: name, ...offer })) }
}

const models = [
  model('m10', {}),
  model('b', { price: { input: 3, output: 3 } }, { price: { input: 0, output: 1 } }),
  model('m9', { context: 8_000, price: { input: 0, output: 0, request: 0.5 } }),
  model('a', { context: 128_000 }),
]

describe('models', () => {
  test.each<readonly [ModelOrder, string]>([
    ['maker', 'm10 b m9 a'],
    ['name', 'a b m9 m10'],
    ['price', 'm9 b m10 a'],
    ['context', 'a m9 m10 b'],
  ])('by %s are %s', (order, names) => {
    expect(
      sortModels(models, order)
        .map(({ name }) => name)
        .join(' '),
    ).toBe(names)
  })
})

describe('the order', () => {
  test('is remembered, and that of makers without a known one', () => {
    const stored = new Map<string, string>()
    const storage = Object.assign(new EventTarget(), {
      localStorage: {
        getItem: (key: string) => stored.get(key) ?? null,
        setItem: (key: string, text: string) => void stored.set(key, text),
      },
    })
    expect(storedOrder(storage).get()).toBe('maker')
    storedOrder(storage).set('price')
    expect(storedOrder(storage).get()).toBe('price')
    for (const key of stored.keys()) stored.set(key, '"by magic"')
    expect(storedOrder(storage).get()).toBe('maker')
  })
})

describe('the maker', () => {
  test.each([
    ['gpt-6-mini', 'OpenAI'],
    ['openai/o3', 'OpenAI'],
    ['meta-llama/Llama-4', 'Meta'],
    ['open-mistral-nemo', 'Mistral'],
    ['codestral', 'Mistral'],
    ['deepseek-r1-distill-llama-70b', 'DeepSeek'],
    ['vendor/model-1', 'vendor'],
    ['my-llama', undefined],
    ['/x', undefined],
  ])('of %s is %p', (name, maker) => {
    expect(makerOf(name)).toBe(maker)
  })
})
