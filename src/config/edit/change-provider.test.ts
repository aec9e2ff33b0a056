import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ConfigError } from '../config.ts'
import { parseConfig } from '../file/parse-config.ts'
import { addProvider, changeProvider, type ProviderEdit } from './change-provider.ts'

const text = `{
  // order is try-order
  "providers": [
    // fast
    { "id": "a", "base_url": "http://a.test", "enabled": false }, // free
    { "id": "b", "base_url": "http://b.test" },
    // last resort
    { "id": "c", "base_url": "http://c.test", "enabled": true } // paid
  ]
}
`

function change(id: string, edit: ProviderEdit, of = text): string | undefined {
  return changeProvider(of, { file: 'providers.json', id, edit })
}

function stateOf(edited: string | undefined): string {
  return parseConfig(edited ?? '', { file: 'providers.json', environment: {} })
    .providers.map(({ id, enabled }) => `${id}${enabled ? '+' : '-'}`)
    .join(' ')
}

describe('changeProvider', () => {
  test.each([
    ['a', 'enable', 'a+ b+ c+'],
    ['b', 'disable', 'a- b- c+'],
    ['c', 'disable', 'a- b+ c-'],
    ['a', 'down', 'b+ a- c+'],
    ['b', 'up', 'b+ a- c+'],
    ['b', 'down', 'a- c+ b+'],
    ['c', 'up', 'a- c+ b+'],
    ['a', 'remove', 'b+ c+'],
    ['c', 'remove', 'a- b+'],
    ['c', { move: 0 }, 'c+ a- b+'],
    ['a', { move: 1 }, 'b+ a- c+'],
    ['a', { move: 99 }, 'b+ c+ a-'],
  ] as const)('%s › %s › %s', (id, edit, expected) => {
    expect(stateOf(change(id, edit))).toBe(expected)
  })

  test.each([
    ['a', 'disable'],
    ['b', 'enable'],
    ['c', 'enable'],
    ['a', 'up'],
    ['c', 'down'],
    ['b', { move: 1 }],
    ['c', { move: 99 }],
  ] as const)('%s › %s is so already: nothing changes', (id, edit) => {
    expect(change(id, edit)).toBe(text)
  })

  test('leaves all other text unchanged', () => {
    expect(change('a', 'enable')).toBe(text.replace('"enabled": false', '"enabled": true'))
    expect(change('b', 'disable')).toBe(text.replace('b.test" }', 'b.test", "enabled": false }'))
    expect(change('b', 'up')).toBe(
      text.replace(
        '    // fast\n    { "id": "a", "base_url": "http://a.test", "enabled": false }, // free\n' +
          '    { "id": "b", "base_url": "http://b.test" },\n',
        '    { "id": "b", "base_url": "http://b.test" },\n' +
          '    // fast\n    { "id": "a", "base_url": "http://a.test", "enabled": false }, // free\n',
      ),
    )
  })

  test('removes a provider with its comments', () => {
    expect(change('a', 'remove')).toBe(
      text.replace('    // fast\n    { "id": "a", "base_url": "http://a.test", "enabled": false }, // free\n', ''),
    )
  })

  test('adds a provider after the others, at any length of the list', () => {
    const entry = { id: 'd', base_url: 'http://d.test' }
    const added = addProvider(text, 'providers.json', entry)
    expect(added).toBe(
      text.replace(
        '"enabled": true } // paid',
        '"enabled": true }, // paid\n    { "id": "d", "base_url": "http://d.test" }',
      ),
    )
    expect(stateOf(added)).toBe('a- b+ c+ d+')
    expect(addProvider(text, 'providers.json', { id: 'a' })).toBeUndefined()
    for (const empty of ['{ "providers": [] }', '{\n  "providers": [\n  ]\n}\n', '{}'])
      expect(stateOf(addProvider(empty, 'providers.json', entry))).toBe('d+')
  })

  test('keeps a byte order mark', () => {
    expect(change('a', 'enable', `\uFEFF${text}`)).toBe(`\uFEFF${text.replace('"enabled": false', '"enabled": true')}`)
    expect(stateOf(change('b', 'disable', `\uFEFF${text}`))).toBe('a- b- c+')
    expect(stateOf(change('b', 'up', `\uFEFF${text}`))).toBe('b+ a- c+')
  })

  test.each(['d', 'A', '', 'toString', '0'])('finds no provider with the id %j', (id) => {
    expect(change(id, 'up')).toBeUndefined()
  })

  test.each(['{}', '[]', '5', '{"providers":{}}', '{"providers":[null,"a",["a"],{"id":["a"]},{"id":{"id":"a"}}]}'])(
    'finds no provider in %s',
    (of) => {
      expect(change('a', 'disable', of)).toBeUndefined()
    },
  )

  test('names the file in faults of invalid JSON', () => {
    expect(() => change('a', 'up', '{\n"providers": [')).toThrow(ConfigError)
    expect(() => change('a', 'up', '{\n"providers": [')).toThrow('providers.json:2')
  })

  test('can repair an invalid value of the field it sets', () => {
    expect(
      stateOf(change('a', 'disable', '{"providers":[{"id":"a","base_url":"http://a.test","enabled":"no"}]}')),
    ).toBe('a-')
  })

  test('applies changes in any order, any number of times', () => {
    const step = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom<ProviderEdit>('enable', 'disable', 'up', 'down'),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let edited = text
        const model = [
          ['a', false],
          ['b', true],
          ['c', true],
        ] as [string, boolean][]
        for (const [id, edit] of steps) {
          edited = change(id, edit, edited) ?? ''
          const at = model.findIndex(([name]) => name === id)
          const to = Math.min(Math.max(edit === 'up' ? at - 1 : edit === 'down' ? at + 1 : at, 0), 2)
          const [entry] = model.splice(at, 1)
          if (entry !== undefined)
            model.splice(to, 0, [id, edit === 'enable' ? true : edit === 'disable' ? false : entry[1]])
        }
        const comments = (of: string) => (of.match(/\/\/ [a-z].*/g) ?? []).toSorted().join()
        return (
          stateOf(edited) === model.map(([id, isOn]) => `${id}${isOn ? '+' : '-'}`).join(' ') &&
          comments(edited) === comments(text)
        )
      }),
      { numRuns: 60 },
    )
  })
})
