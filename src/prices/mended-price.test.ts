import { describe, expect, test } from 'bun:test'
import type { Price } from '../formats/model.ts'
import { mendedPrice } from './mended-price.ts'

const price: Price = { input: 2, output: 10 }

describe('a price of a public list', () => {
  test.each<[string, Price, Price]>([
    ['reasoning that repeats the output', { ...price, reasoning: 10 }, price],
    ['a cached price of 0', { ...price, cachedInput: 0 }, price],
    ['a cached price above that of the input', { ...price, cachedInput: 3 }, price],
    ['the cached price in the place of the write', { ...price, cacheWrite: 0.2 }, { ...price, cachedInput: 0.2 }],
    ['a free write', { ...price, cachedInput: 0.2, cacheWrite: 0 }, { ...price, cachedInput: 0.2, cacheWrite: 2 }],
    ['a write below the input', { ...price, cachedInput: 0.2, cacheWrite: 1 }, { ...price, cachedInput: 0.2 }],
    ['a tier fifty times the standard', { ...price, priority: { input: 100 } }, price],
    ['a tier fifty times less', { ...price, flex: { input: 1, output: 0.2 } }, { ...price, flex: { input: 1 } }],
    [
      'sound and pictures that stay in a tier',
      { ...price, audioInput: 6, imageOutput: 40, flex: { input: 1, output: 5 } },
      { ...price, audioInput: 6, imageOutput: 40, flex: { input: 1, output: 5, audioInput: 3, imageOutput: 20 } },
    ],
    [
      'long prompts that cost the same as others in a tier',
      { ...price, above: [{ tokens: 9, input: 4 }], priority: { input: 4, output: 20 } },
      {
        ...price,
        above: [{ tokens: 9, input: 4 }],
        priority: { input: 4, output: 20, above: [{ tokens: 9, input: 8 }] },
      },
    ],
  ])('is mended of %s', (_, given, mended) => {
    expect(mendedPrice(given)).toEqual(mended)
  })

  test('stays as it is without such slips', () => {
    const sound: Price = {
      ...price,
      cachedInput: 0.2,
      cacheWrite: 2.5,
      reasoning: 4,
      search: 0.01,
      tools: { maps: 0.025 },
      multiples: { us: 1.1 },
      flex: { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25, reasoning: 2 },
    }
    expect(mendedPrice(sound)).toEqual(sound)
    expect(mendedPrice(mendedPrice(sound))).toEqual(sound)
  })
})
