import { describe, expect, test } from 'bun:test'
import pricesSchema from '../../../schema/prices.schema.json' with { type: 'json' }
import providersSchema from '../../../schema/providers.schema.json' with { type: 'json' }
import { ConfigError } from '../config.ts'
import { parsePrices } from './parse-prices.ts'

function faultsOf(text: string): string {
  try {
    parsePrices(text, 'prices.json')
    return ''
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

describe('prices.json', () => {
  test('has prices by provider and model, with comments and all fields of a price', () => {
    const text = `{
      "$schema": "prices.schema.json", // for editors
      "prices": {
        "openai": {
          "gpt-5": { "input": 1.25, "cached_input": 0.125, "output": 10, "flex": { "input": 0.625 } },
          "gpt-*": { "input": 2, "output": 8, "above": [{ "tokens": 272000, "input": 4 }] },
        },
        "vllm": { "*": { "input": 0, "output": 0 } },
      },
    }`
    expect(parsePrices(text, 'prices.json')).toEqual(
      new Map([
        [
          'openai',
          new Map([
            ['gpt-5', { input: 1.25, cachedInput: 0.125, output: 10, flex: { input: 0.625 } }],
            ['gpt-*', { input: 2, output: 8, above: [{ tokens: 272_000, input: 4 }] }],
          ]),
        ],
        ['vllm', new Map([['*', { input: 0, output: 0 }]])],
      ]),
    )
  })

  test('may be missing', () => {
    expect(parsePrices(undefined, 'prices.json').size).toBe(0)
  })

  test.each([
    ['', 'prices.json:1:1: found no value, allowed: an object'],
    ['[]', 'prices.json:1:1: found an array, allowed: an object'],
    ['{}', 'prices.json:1:1: prices: found nothing, allowed: this field is required'],
    ['{"prices":{"openai":[]}}', 'prices.json:1:21: prices.openai: found an array, allowed: an object'],
    [
      '{"prices":{"openai":{"m":{"input":-1,"output":"2"}}}}',
      'prices.json:1:35: prices.openai.m.input: found -1, allowed: a number from 0 to 1000000\n' +
        'prices.json:1:47: prices.openai.m.output: found "2", allowed: a number from 0 to 1000000',
    ],
    [
      '{"prices":{"openai":{"m":{"input":1}}}}',
      'prices.openai.m.output: found nothing, allowed: this field is required',
    ],
    ['{"prices":{"Open AI":{}}}', 'prices["Open AI"]: found an invalid name'],
    [
      '{"prices":{"a":{"m":{"input":1,"output":1,"above":[{"tokens":9},{"tokens":9}]}}}}',
      'found a second entry for 9, allowed: each number of tokens once',
    ],
    ['{"price":{}}', 'did you mean "prices"?'],
  ])('%s is refused as a whole, with all faults', (text, faults) => {
    expect(faultsOf(text)).toContain(faults)
  })

  test('has a schema, whose prices are those of providers.json', () => {
    const [free, inFull] = pricesSchema.properties.prices.additionalProperties.additionalProperties.anyOf
    const [file, pointer] = inFull?.$ref?.split('#/$defs/') ?? []
    expect(free).toEqual({ const: 0 })
    expect(file).toBe('providers.schema.json')
    expect(Object.keys(providersSchema.$defs)).toContain(pointer ?? '')
  })
})
