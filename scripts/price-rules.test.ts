import { expect, test } from 'bun:test'
import { shippedPrices } from '../src/app/shipped-prices.ts'
import type { Price } from '../src/formats/model.ts'
import list from '../src/prices/price-list.txt' with { type: 'text' }
import { listedName, withFacts } from './price-facts.ts'
import { priceFaults } from './price-rules.ts'

test('no price of the list breaks a rule', () => {
  const shipped = shippedPrices()
  const brands = list
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.slice(2, line.indexOf('"', 2)))
  const faults = brands.flatMap((brand) =>
    [...(shipped(brand) ?? [])].flatMap(([model, price]) =>
      priceFaults(model, price).map((fault) => [brand, model, fault]),
    ),
  )
  expect(faults).toEqual([])
})

test.each<[string, string, Price]>([
  ['flex input 40 is far from 2', 'm', { input: 2, output: 10, flex: { input: 40 } }],
  ['priority output 1 is far from 10', 'm', { input: 2, output: 10, priority: { output: 1 } }],
  ['flex has no audio_input', 'm', { input: 2, output: 10, audioInput: 4, flex: { input: 1 } }],
  ['reasoning repeats the output 10', 'm', { input: 2, output: 10, reasoning: 10 }],
  ['cached 0 is not below 2', 'm', { input: 2, output: 10, cachedInput: 0 }],
  ['cached 2 is not below 2', 'm', { input: 2, output: 10, cachedInput: 2 }],
  ['a cache write 1 is below 2', 'm', { input: 2, output: 10, cacheWrite: 1 }],
  ['pictures have no price of their own', 'gemini-9-image', { input: 2, output: 120 }],
  ['it is no name of a fine-tuned model', 'ft:m', { input: 2, output: 10 }],
])('a rule says: %s', (fault, model, price) => {
  expect(priceFaults(model, price)).toEqual([fault])
})

test('facts of a brand and its model are added, the later ones before the earlier', () => {
  const price: Price = { input: 1, output: 2 }
  expect(withFacts('gemini', 'gemini-3.1-flash-image-preview', price)).toMatchObject({ output: 3, imageOutput: 60 })
  expect(withFacts('perplexity', 'sonar-pro', price)).toMatchObject({ request: 0.006 })
  expect(withFacts('anthropic', 'claude-opus-5', price).multiples).toEqual({ us: 1.1, fast: 2 })
  expect(withFacts('groq', 'gpt-5', price)).toEqual(price)
  expect([listedName('ft:gpt-9'), listedName('ft:gpt-9:*'), listedName('gpt-9')]).toEqual([
    'ft:gpt-9:*',
    'ft:gpt-9:*',
    'gpt-9',
  ])
})
