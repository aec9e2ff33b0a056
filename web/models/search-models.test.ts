import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ModelEntry, Price } from '../../src/http/page-api.ts'
import { noFilters, providersOf, searchModels } from './search-models.ts'
import type { ModelFilters } from './search-models.ts'

function model(
  name: string,
  providers: readonly string[] = ['p'],
  more: { readonly upstream?: string; readonly price?: Price; readonly input?: readonly string[] } = {},
): ModelEntry {
  return { name, offers: providers.map((provider) => ({ provider, upstream: name, ...more })) }
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

  test('ranks the whole name before its beginning, a word of it, and any part of it', () => {
    expect(found(gpts, { text: 'gpt-4o' })).toEqual(['gpt-4o', 'gpt-4o-mini', 'my-gpt-4o-tuned', 'xgpt-4o'])
  })

  test('takes case and spaces around for nothing', () => {
    expect(found(gpts, { text: '  GPT-4o-MINI ' })).toEqual(['gpt-4o-mini'])
  })

  test('wants every word, in any order', () => {
    expect(found(gpts, { text: 'mini gpt' })).toEqual(['gpt-4o-mini'])
    expect(found(gpts, { text: 'mini llama' })).toEqual([])
  })

  test('finds names without their hyphens, after those with', () => {
    expect(found([model('gpt-4o'), model('gpt4o-x')], { text: 'gpt4o' })).toEqual(['gpt4o-x', 'gpt-4o'])
  })

  test("finds by provider and by the upstream's name, after names", () => {
    const models = [
      model('fast', ['groq']),
      model('clever', ['openai'], { upstream: 'gpt-groq' }),
      model('groq-like', ['x']),
    ]
    expect(found(models, { text: 'groq' })).toEqual(['groq-like', 'fast', 'clever'])
    expect(found(models, { text: 'groq fast' })).toEqual(['fast'])
  })

  test('puts favourites first among equals only', () => {
    expect(found([model('gpt-a'), model('gpt-b'), model('gpt')], { text: 'gpt', favourites: ['gpt-b'] })).toEqual([
      'gpt',
      'gpt-b',
      'gpt-a',
    ])
  })

  test('shows favourites, then recent ones, then the others in their order, each once, when nothing is typed', () => {
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

  test('narrows to the free ones, those with pictures, those of a provider', () => {
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

  test('gives each model at most once, whatever is typed', () => {
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
          // Blanks around what is typed do not count, so around a name they would.
          for (const { name } of models.filter((each) => each.name.trim() !== '' && each.name.trim() === each.name)) {
            expect(found(models, { text: name })[0]?.toLowerCase()).toBe(name.toLowerCase())
          }
        },
      ),
    )
  })

  test('searches 2,000 models well within a frame', () => {
    const models = Array.from({ length: 2000 }, (_, index) =>
      model(`vendor/model-${index}-instruct`, ['groq', 'openrouter', 'local']),
    )
    found(models, { text: 'mod 19' })
    const start = performance.now()
    for (let turn = 0; turn < 5; turn += 1) found(models, { text: 'ins mod 1999' })
    expect((performance.now() - start) / 5).toBeLessThan(50)
  })
})

describe('providersOf', () => {
  test('names each once, as they come', () => {
    expect(providersOf([model('a', ['groq', 'openai']), model('b', ['openai', 'local'])])).toEqual([
      'groq',
      'openai',
      'local',
    ])
  })
})
