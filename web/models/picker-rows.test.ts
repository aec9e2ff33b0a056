import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { nextRow, pickerRows, sectionsOf } from './picker-rows.ts'
import { noFilters } from './search-models.ts'

function model(name: string, ...providers: readonly string[]): ModelEntry {
  return { name, offers: providers.map((provider) => ({ provider, upstream: name })) }
}

const models = [model('llama', 'groq', 'openai'), model('llama-small', 'groq'), model('gpt', 'openai')]

function shown(text: string, { limit = 100, expanded = undefined as string | undefined, among = models } = {}) {
  return pickerRows(among, { text, filters: noFilters, favourites: [], recent: [] }, limit, expanded)
}

function lines(...args: Parameters<typeof shown>): readonly string[] {
  return shown(...args).rows.map(({ kind, name }) => `${kind} ${name}`)
}

describe('pickerRows', () => {
  test('shows the providers of the expanded model, each as a row', () => {
    expect(lines('', { expanded: 'llama' })).toEqual([
      'model llama',
      'pin groq/llama',
      'pin openai/llama',
      'model llama-small',
      'model gpt',
    ])
  })

  test('shows matching models of a provider for its name and a slash, and the typed text', () => {
    expect(lines('groq/lla')).toEqual(['pin groq/llama', 'pin groq/llama-small', 'typed groq/lla'])
    expect(lines('GROQ/llama')).toEqual(['pin groq/llama', 'pin groq/llama-small'])
    expect(lines('unknown/llama')).toEqual(['typed unknown/llama'])
  })

  test('has no pin with the name of a model', () => {
    const among = [...models, model('groq/llama', 'router')]
    expect(lines('groq/llama', { among })).toEqual(['model groq/llama', 'pin groq/llama-small'])
    expect(lines('', { among, expanded: 'llama' })).toEqual([
      'model llama',
      'pin openai/llama',
      'model llama-small',
      'model gpt',
      'model groq/llama',
    ])
  })

  test('has the typed text as the last row, unless it is one already', () => {
    expect(lines('llama-s')).toEqual(['model llama-small', 'typed llama-s'])
    expect(lines('GPT')).toEqual(['model gpt'])
    expect(lines('  ')).toEqual(['model llama', 'model llama-small', 'model gpt'])
    expect(lines(' new one ')).toEqual(['typed new one'])
  })

  test('offers no name that the service would refuse', () => {
    expect(lines('x'.repeat(257))).toEqual([])
    expect(lines('x'.repeat(256))).toEqual([`typed ${'x'.repeat(256)}`])
    expect(lines('a\u0007b')).toEqual([])
    expect(lines('zz\ud800')).toEqual([])
  })

  test('shows models up to the limit and counts the others', () => {
    const { rows, count, hidden } = shown('', { limit: 2 })
    expect([rows.length, count, hidden]).toEqual([2, 3, 1])
  })

  test('has every name once, for any text', () => {
    const anyModel = fc.tuple(
      fc.string({ minLength: 1, maxLength: 4 }),
      fc.array(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(anyModel, { selector: ([name]) => name, maxLength: 6 }), fc.string(), (list, text) => {
        const among = list.map(([name, providers]) => model(name, ...new Set(providers)))
        const names = shown(text, { among, expanded: list[0]?.[0] }).rows.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
      }),
    )
  })
})

describe('sectionsOf', () => {
  const sections = (favourites: readonly string[], text = '') =>
    sectionsOf(pickerRows(models, { text, filters: noFilters, favourites, recent: ['gpt'] }, 100, 'llama').rows).map(
      ({ heading, start, rows }) => [heading, start, rows.map(({ name }) => name)],
    )

  test('has a heading for each group, and keeps pins with their model', () => {
    expect(sections(['llama'])).toEqual([
      ['Favourites', 0, ['llama', 'groq/llama', 'openai/llama']],
      ['Recent', 3, ['gpt']],
      ['All models', 4, ['llama-small']],
    ])
  })

  test('has a heading for each maker, the unknown ones last', () => {
    const query = { text: '', filters: noFilters, favourites: ['llama'], recent: [], isByMaker: true }
    const among = [...models, model('own', 'lab'), model('v/llama-small', 'lab'), model('v/x', 'lab')]
    expect(
      sectionsOf(pickerRows(among, query, 100, undefined).rows).map(({ heading, start, rows }) => [
        heading,
        start,
        rows.map(({ name }) => name),
      ]),
    ).toEqual([
      ['Favourites', 0, ['llama']],
      ['Meta', 1, ['llama-small', 'v/llama-small']],
      ['OpenAI', 3, ['gpt']],
      ['v', 4, ['v/x']],
      ['Other', 5, ['own']],
    ])
  })

  test('has no heading for a single group', () => {
    expect(sections(['llama'], 'gpt')).toEqual([[undefined, 0, ['gpt']]])
  })
})

describe('nextRow', () => {
  test.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 19, 0],
    ['ArrowUp', 0, 19],
    ['ArrowUp', 5, 4],
    ['PageDown', 3, 11],
    ['PageDown', 15, 19],
    ['PageUp', 11, 3],
    ['PageUp', 3, 0],
    ['Home', 9, 0],
    ['End', 9, 19],
    ['x', 9, undefined],
  ])('%s from %d leads to %p of 20', (key, at, to) => {
    expect(nextRow(key, at, 20)).toBe(to)
  })

  test('returns nothing without rows', () => {
    expect(nextRow('ArrowDown', 0, 0)).toBeUndefined()
  })
})
