import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../../src/formats/model.ts'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { noFilters, providersOf, searchModels, type ModelFilters } from './search-models.ts'

function model(
  name: string,
  providers: readonly string[] = ['p'],
  more: { readonly upstream?: string; readonly price?: Price; readonly input?: readonly string[] } = {},
): ModelEntry {
  return { name, offers: providers.map((provider) => ({ provider, upstream: name, ...more })) }
}

/** Counts reads of the model's members. */
function watched(entry: ModelEntry, counted: { looks: number }): ModelEntry {
  return new Proxy(entry, {
    get(target, key) {
      counted.looks += 1
      return Reflect.get(target, key)
    },
  })
}

interface Wish {
  readonly text?: string
  readonly filters?: Partial<ModelFilters>
  readonly favourites?: readonly string[]
  readonly recent?: readonly string[]
}

function found(
  models: readonly ModelEntry[],
  { text = '', filters = {}, favourites = [], recent = [] }: Wish,
): readonly string[] {
  return searchModels(models, { text, filters: { ...noFilters, ...filters }, favourites, recent }).map(
    ({ entry }) => entry.name,
  )
}

describe('searchModels', () => {
  const gpts = ['my-gpt-4o-tuned', 'xgpt-4o', 'gpt-4o-mini', 'gpt-4o', 'llama'].map((name) => model(name))

  test('ranks exact matches before prefixes, words, and substrings', () => {
    expect(found(gpts, { text: 'gpt-4o' })).toEqual(['gpt-4o', 'gpt-4o-mini', 'my-gpt-4o-tuned', 'xgpt-4o'])
  })

  test('ignores case and surrounding spaces', () => {
    expect(found(gpts, { text: '  GPT-4o-MINI ' })).toEqual(['gpt-4o-mini'])
  })

  test('requires every word, in any order', () => {
    expect(found(gpts, { text: 'mini gpt' })).toEqual(['gpt-4o-mini'])
    expect(found(gpts, { text: 'mini llama' })).toEqual([])
  })

  test('ignores hyphens, after matches with them', () => {
    expect(found([model('gpt-4o'), model('gpt4o-x')], { text: 'gpt4o' })).toEqual(['gpt4o-x', 'gpt-4o'])
  })

  test('finds by provider and upstream name, after names', () => {
    const models = [
      model('fast', ['groq']),
      model('clever', ['openai'], { upstream: 'gpt-groq' }),
      model('groq-like', ['x']),
    ]
    expect(found(models, { text: 'groq' })).toEqual(['groq-like', 'fast', 'clever'])
    expect(found(models, { text: 'groq fast' })).toEqual(['fast'])
  })

  test('puts favourites first within a rank only', () => {
    expect(found([model('gpt-a'), model('gpt-b'), model('gpt')], { text: 'gpt', favourites: ['gpt-b'] })).toEqual([
      'gpt',
      'gpt-b',
      'gpt-a',
    ])
  })

  test('without text returns favourites, recent models, then the others in list order, each once', () => {
    const models = ['a', 'b', 'c', 'd'].map((name) => model(name))
    const groups = searchModels(models, {
      text: ' ',
      filters: noFilters,
      favourites: ['c', 'gone'],
      recent: ['d', 'c'],
    })
    expect(groups.map(({ entry, group }) => `${group} ${entry.name}`)).toEqual([
      'favourites c',
      'recent d',
      'others a',
      'others b',
    ])
  })

  test('filters by price, images and provider', () => {
    const models = [
      model('free', ['a'], { price: { input: 0, output: 0 } }),
      model('sees', ['b'], { input: ['text', 'image'] }),
      model('plain', ['a', 'c']),
    ]
    expect(found(models, { filters: { isFree: true } })).toEqual(['free'])
    expect(found(models, { filters: { takesImages: true } })).toEqual(['sees'])
    expect(found(models, { filters: { provider: 'c' } })).toEqual(['plain'])
    expect(found(models, { filters: { provider: 'a' }, text: 'fr' })).toEqual(['free'])
    expect(found(models, { filters: { isFree: true }, favourites: ['plain'] })).toEqual(['free'])
  })

  const anyModel = fc
    .tuple(fc.string({ minLength: 1 }), fc.array(fc.string(), { maxLength: 3 }))
    .map(([name, providers]) => model(name, providers))
  const anyModels = fc.uniqueArray(anyModel, { selector: ({ name }) => name, maxLength: 20 })

  test('returns each model at most once, for any text', () => {
    fc.assert(
      fc.property(anyModels, fc.string(), fc.array(fc.string()), (models, text, names) => {
        const result = found(models, { text, favourites: [...new Set(names)], recent: [...new Set(names)] })
        expect(new Set(result).size).toBe(result.length)
        if (text.trim() === '') expect(result.length).toBe(models.length)
      }),
    )
  })

  test('finds every model by its own name, first unless another has the same', () => {
    fc.assert(
      fc.property(
        anyModels.filter((models) => models.length > 0),
        (models) => {
          // Blanks around the query are ignored, so names with blanks around cannot match.
          for (const { name } of models.filter((each) => each.name.trim() !== '' && each.name.trim() === each.name)) {
            expect(found(models, { text: name })[0]?.toLowerCase()).toBe(name.toLowerCase())
          }
        },
      ),
    )
  })

  test('reads each of 2,000 models a few times at most', () => {
    const counted = { looks: 0 }
    const models = Array.from({ length: 2000 }, (_, index) =>
      watched(model(`vendor/model-${index}-instruct`, ['groq', 'openrouter', 'local']), counted),
    )
    expect(found(models, { text: 'ins mod 1999', favourites: ['vendor/model-1-instruct'] })).toHaveLength(1)
    expect(found(models, { text: 'mod ins', favourites: ['vendor/model-1-instruct'] })).toHaveLength(2000)
    // Sorting compares each model with about log2(2000) others.
    expect(counted.looks).toBeLessThan(2 * 2000 * 40)
  })
})

describe('providersOf', () => {
  test('returns each once, in order', () => {
    expect(providersOf([model('a', ['groq', 'openai']), model('b', ['openai', 'local'])])).toEqual([
      'groq',
      'openai',
      'local',
    ])
  })
})
