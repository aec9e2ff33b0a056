import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { toolReader } from './read-tools.ts'

function read(...said: readonly Readonly<Record<string, unknown>>[]): unknown {
  const reader = toolReader()
  return said.map((each) => reader.push(each)).at(-1)
}

const part = (index: number, given: string, more: object = {}) => ({
  tool_calls: [{ index, function: { arguments: given }, ...more }],
})

describe('toolReader', () => {
  test('joins the arguments of each call by its index', () => {
    expect(
      read(
        { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } }] },
        part(0, '{"q":'),
        { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'sum', arguments: '[' } }] },
        part(0, '"x"}'),
        part(1, '1]'),
      ),
    ).toEqual([
      { id: 'a', name: 'look', arguments: '{"q":"x"}' },
      { id: 'b', name: 'sum', arguments: '[1]' },
    ])
  })

  test('reads whole messages, custom tools, and calls without an index', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: id, arguments: '{}' } })
    expect(read({ content: null, tool_calls: [call('a'), call('b')] })).toEqual([
      { id: 'a', name: 'a', arguments: '{}' },
      { id: 'b', name: 'b', arguments: '{}' },
    ])
    expect(read({ tool_calls: [call('a')] }, { tool_calls: [call('b')] })).toEqual([
      { id: 'a', name: 'a', arguments: '{}' },
      { id: 'b', name: 'b', arguments: '{}' },
    ])
    expect(read({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'run', input: 'ls' } }] })).toEqual(
      [{ id: 'c', name: 'run', arguments: 'ls' }],
    )
    expect(read({ function_call: { name: 'old', arguments: '{' } }, { function_call: { arguments: '}' } })).toEqual([
      { id: 'call-0', name: 'old', arguments: '{}' },
    ])
  })

  test('reads tools that the provider ran, with their results', () => {
    expect(
      read(
        { executed_tools: [{ index: 0, type: 'search', arguments: '{"query":"x"}' }] },
        { executed_tools: [{ index: 0, type: 'search', output: 'Found' }] },
      ),
    ).toEqual([{ id: 'ran-0', name: 'search', arguments: '{"query":"x"}', result: 'Found' }])
  })

  test('keeps at most 128 calls and a million characters', () => {
    const calls = read(...Array.from({ length: 300 }, (_, index) => part(index, 'x')))
    expect(calls).toHaveLength(128)
    const large = read(part(0, 'x'.repeat(1_000_000)), part(0, 'y'.repeat(100_000)), part(0, 'z'))
    expect(JSON.stringify(large)).toHaveLength(
      JSON.stringify([{ id: 'call-0', name: '', arguments: '' }]).length + 1e6 + 1,
    )
  })

  test('takes anything without an error', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.dictionary(fc.constantFrom('tool_calls', 'executed_tools', 'function_call', 'content'), fc.anything()),
        ),
        (said) => {
          const reader = toolReader()
          for (const each of said)
            for (const call of reader.push(each)) {
              expect([typeof call.id, typeof call.name, typeof call.arguments]).toEqual(['string', 'string', 'string'])
            }
        },
      ),
    )
  })
})
