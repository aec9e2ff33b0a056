import { describe, expect, test } from 'bun:test'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { modelsThatFit } from './models-that-fit.ts'

/** A model. @param contexts of its providers `p0`, `p1`, …; 0 if unknown */
function model(name: string, ...contexts: readonly number[]): ModelEntry {
  return {
    name,
    offers: contexts.map((context, index) => ({
      provider: `p${index}`,
      upstream: name,
      ...(context === 0 ? {} : { context }),
    })),
  }
}

const models = [
  model('small', 8_000, 16_000),
  model('large', 128_000),
  model('equal', 16_000),
  model('unknown', 0),
  { ...model('embeds', 32_000), isHidden: true as const },
  model('huge', 0, 1_000_000),
]
const names = (asked: string, tokens = 0, from: readonly ModelEntry[] = models) =>
  modelsThatFit(from, asked, tokens).map(({ name }) => name)

describe('modelsThatFit', () => {
  test('returns models with a longer context than any provider of the asked one, in list order', () => {
    expect(modelsThatFit(models, 'small', 0)).toEqual([
      { name: 'large', context: 128_000 },
      { name: 'huge', context: 1_000_000 },
    ])
  })

  test.each<[string, string, string[]]>([
    ['a model with the longest context', 'huge', []],
    ['a model pinned to a provider with a short context', 'p0/small', ['small', 'large', 'equal']],
    ['another case', 'LARGE', ['huge']],
  ])('compares with %s', (_, asked, expected) => {
    expect(names(asked)).toEqual(expected)
  })

  test.each([['unknown'], ['not-listed']])(
    'compares with the conversation where the context of %s is not known',
    (asked) => {
      expect(names(asked, 20_000)).toEqual(['large', 'huge'])
    },
  )

  test('returns three at most', () => {
    expect(
      names(
        'not-listed',
        0,
        [1, 2, 3, 4].map((context) => model(`m${context}`, context)),
      ),
    ).toEqual(['m1', 'm2', 'm3'])
  })
})
