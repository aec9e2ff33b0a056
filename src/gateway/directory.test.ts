import { describe, expect, test } from 'bun:test'
import type { ListedModel, OfferedModel } from '../formats/model.ts'
import { directory, type ModelCandidates } from './directory.ts'
import type { ModelList } from './provider.ts'
import { fakeProvider, offered, unknownModels } from './testing.ts'

type Listed = readonly (string | OfferedModel)[] | ModelList

function directoryOf(lists: Readonly<Record<string, Listed>>, aliases: Readonly<Record<string, string>> = {}) {
  return directory(
    Object.entries(lists).map(([id, models]) => fakeProvider(id, [], { models })),
    aliases,
  )
}

/** `provider:upstream's name`, in try-order. */
function whom({ candidates }: ModelCandidates): readonly string[] {
  return candidates.map(({ name, model }) => `${name}:${model}`)
}

function providersOf(listed: ListedModel | undefined): readonly string[] {
  return listed?.offers.map(({ provider }) => provider) ?? []
}

const lists = {
  one: [offered('gpt-4o', { upstream: 'gpt-4o-2024', aliases: ['fast', 'GPT'] }), 'llama'],
  two: ['llama', 'Llama', offered('meta/llama-3', { aliases: ['fast'] })],
  three: ['GPT-4o', 'one/llama'],
}

describe('a directory finds', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['an exact name, at all its providers, in order', 'llama', ['one:llama', 'two:llama']],
    ['an exact name before one that differs in case', 'Llama', ['two:Llama']],
    ["by an alias, under the upstream's name", 'GPT', ['one:gpt-4o-2024']],
    ['by an alias that several have', 'fast', ['one:gpt-4o-2024', 'two:meta/llama-3']],
    ['a name without regard to case when none matches exactly', 'GPT-4O', ['one:gpt-4o-2024', 'three:GPT-4o']],
    ['an alias without regard to case', 'gpt', ['one:gpt-4o-2024']],
    ["a name with a slash that is a model's own", 'meta/llama-3', ['two:meta/llama-3']],
    ['a model at one provider by `provider/model`', 'two/llama', ['two:llama']],
    ['a pinned model by its alias', 'two/fast', ['two:meta/llama-3']],
    ['a pinned model without regard to case', 'one/GPT-4O', ['one:gpt-4o-2024']],
    ['a pinned model whose name has a slash', 'two/meta/llama-3', ['two:meta/llama-3']],
    ["a model's full name before a pin", 'one/llama', ['three:one/llama']],
    ['none for an unknown model', 'claude', []],
    ['none for a pin to a provider that does not offer it', 'three/llama', []],
    ['none for a pin to an unknown provider', 'four/llama', []],
    ['none for a pin without a model', 'one/', []],
    ['none for a pin without a provider', '/llama', []],
    ['none for the name of a member of every object', 'constructor', []],
    ['none for an empty name', '', []],
  ]
  test.each(cases)('%s: %s', (_name, asked, expected) => {
    const finding = directoryOf(lists).find(asked)
    expect(whom(finding)).toEqual([...expected])
    expect(finding.isListed).toBe(expected.length > 0)
  })

  const same: readonly (readonly [string, Readonly<Record<string, readonly OfferedModel[]>>, readonly string[]])[] = [
    [
      'the model of that name, and no other model with it as its alias',
      { one: [offered('e')], two: [offered('other', { aliases: ['e'] })], three: [offered('e', { upstream: 'e-3' })] },
      ['one', 'three'],
    ],
    [
      'an alias of another model where its owner says that the embeddings are the same',
      { one: [offered('f', { aliases: ['e'], embeddingAliases: ['e'] })], two: [offered('e')] },
      ['one', 'two'],
    ],
    [
      'the first model with that alias, where no model has the name',
      {
        one: [offered('f', { aliases: ['e'] })],
        two: [offered('g', { aliases: ['e'] })],
        three: [offered('f', { aliases: ['e'] })],
      },
      ['one', 'three'],
    ],
  ]
  test.each(same)('where the model must be the same: %s', (_name, listed, expected) => {
    expect(
      directoryOf(listed)
        .find('e')
        .sameModel.map(({ name }) => name),
    ).toEqual([...expected])
  })

  test("pins to a provider's id in the case it is written in", () => {
    expect(whom(directoryOf(lists).find('Two/llama'))).toEqual([])
  })

  test('one candidate per provider that has the name both as name and as alias', () => {
    expect(whom(directoryOf({ one: [offered('a', { aliases: ['a', 'A'] })] }).find('a'))).toEqual(['one:a'])
  })

  test('the same candidates each time', () => {
    const found = directoryOf(lists)
    expect(found.find('llama')).toBe(found.find('llama'))
  })

  test('the same candidates after a thousand other names', () => {
    const found = directoryOf(lists)
    for (let count = 0; count < 2_500; count += 1) found.find(`none-${count}`)
    expect(whom(found.find('llama'))).toEqual(['one:llama', 'two:llama'])
  })
})

describe('a top-level alias', () => {
  test('stands for a model name', () => {
    expect(whom(directoryOf(lists, { default: 'gpt-4o' }).find('default'))).toEqual(['one:gpt-4o-2024'])
  })

  test('stands for a pinned model', () => {
    expect(whom(directoryOf(lists, { default: 'two/llama' }).find('default'))).toEqual(['two:llama'])
  })

  test('may stand for another alias', () => {
    expect(whom(directoryOf(lists, { a: 'b', b: 'c', c: 'llama' }).find('a'))).toEqual(['one:llama', 'two:llama'])
  })

  test('goes before a model of that name', () => {
    expect(whom(directoryOf(lists, { llama: 'gpt-4o' }).find('llama'))).toEqual(['one:gpt-4o-2024'])
  })

  test('that forms a cycle finds no candidate', () => {
    expect(whom(directoryOf(lists, { a: 'b', b: 'a' }).find('a'))).toEqual([])
  })
})

describe('a directory with lists that are not known', () => {
  const withUnknown = { one: ['llama'], two: unknownModels, three: unknownModels }

  test('finds the providers that list a model', () => {
    const finding = directoryOf(withUnknown).find('llama')
    expect(whom(finding)).toEqual(['one:llama'])
    expect(finding.isListed).toBe(true)
  })

  test('finds the providers without a list for a model that no list has', () => {
    const finding = directoryOf(withUnknown).find('claude')
    expect(whom(finding)).toEqual(['two:claude', 'three:claude'])
    expect(finding.isListed).toBe(false)
  })

  test('pins to a provider without a list', () => {
    expect(whom(directoryOf(withUnknown).find('two/a/b'))).toEqual(['two:a/b'])
  })

  test.each([
    ['llama', 'llama'],
    ['LLaMA', 'llama'],
    ['one/LLAMA', 'one/llama'],
    ['mine', 'mine'],
    ['claude', undefined],
    ['two/llama', undefined],
    ['four/llama', undefined],
  ])('%s is listed as %p', (asked, expected) => {
    expect(directoryOf(withUnknown, { mine: 'claude' }).find(asked).listedAs).toBe(expected)
  })

  test('finds them by the target of an alias', () => {
    expect(whom(directoryOf(withUnknown, { mine: 'claude' }).find('mine'))).toEqual(['two:claude', 'three:claude'])
  })

  test('follows a list as it changes', () => {
    let models: readonly OfferedModel[] | undefined
    let version = 0
    const found = directoryOf({
      one: {
        current: () => models,
        get version() {
          return version
        },
        pending: undefined,
      },
      two: ['claude'],
    })
    expect(whom(found.find('llama'))).toEqual(['one:llama'])
    models = [offered('claude')]
    version += 1
    expect(whom(found.find('llama'))).toEqual([])
    expect(whom(found.find('claude'))).toEqual(['one:claude', 'two:claude'])
    models = []
    version += 1
    expect(whom(found.find('claude'))).toEqual(['two:claude'])
  })
})

describe('the list of models', () => {
  test('has every name and alias once, with its providers in order', () => {
    expect(
      directoryOf(lists)
        .list()
        .map((listed) => [listed.name, ...providersOf(listed)]),
    ).toEqual([
      ['gpt-4o', 'one'],
      ['fast', 'one', 'two'],
      ['GPT', 'one'],
      ['llama', 'one', 'two'],
      ['Llama', 'two'],
      ['meta/llama-3', 'two'],
      ['GPT-4o', 'three'],
      ['one/llama', 'three'],
    ])
  })

  test('has top-level aliases last, with the providers of their targets, and none without a target', () => {
    const found = directoryOf(
      { one: ['a', 'b'], two: ['b'] },
      { claude: 'b', chain: 'claude', pinned: 'two/b', gone: 'c', a: 'b' },
    )
    expect(found.list().map((listed) => [listed.name, ...providersOf(listed)])).toEqual([
      ['a', 'one', 'two'],
      ['b', 'one', 'two'],
      ['claude', 'one', 'two'],
      ['chain', 'one', 'two'],
      ['pinned', 'two'],
    ])
    for (const listed of found.list()) expect(found.get(listed.name)).toEqual(listed)
  })

  test('describes a model as each of its providers does', () => {
    const found = directoryOf({
      one: [offered('a', { context: 1 })],
      two: [offered('a', { context: 2, upstream: 'b' })],
    })
    expect(found.get('a')).toEqual({
      name: 'a',
      offers: [
        { provider: 'one', model: offered('a', { context: 1 }) },
        { provider: 'two', model: offered('a', { context: 2, upstream: 'b' }) },
      ],
    })
  })

  test.each([
    ['GPT-4O', ['one', 'three']],
    ['two/llama', ['two']],
    ['mine', ['one', 'two']],
  ] as const)('gets %s under the name it was asked by', (name, providers) => {
    const listed = directoryOf(lists, { mine: 'llama' }).get(name)
    expect([listed?.name, providersOf(listed)]).toEqual([name, [...providers]])
  })

  test('has no entry for an unknown model', () => {
    expect(directoryOf(lists).get('claude')).toBeUndefined()
    expect(directoryOf({ one: unknownModels }).get('claude')).toBeUndefined()
  })
})
