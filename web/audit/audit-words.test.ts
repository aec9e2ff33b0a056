import { describe, expect, test } from 'bun:test'
import { formatExactly } from '../ui/format.ts'
import { changeWords, factsOf, momentOf, objectWords } from './audit-words.ts'

describe('an entry of the audit in words', () => {
  test('names the key and the change, also one that it does not know', () => {
    expect(changeWords({ action: 'key.rotated' })).toBe('key {object} replaced')
    expect(changeWords({ action: 'budget.raised' })).toBe('budget.raised {object}')
    expect(objectWords({ object: '3', keyName: 'laptop' })).toBe('“laptop” (3)')
    expect(objectWords({ object: '3' })).toBe('3')
    expect(objectWords({ object: 'all models' })).toBe('all models')
  })

  test('has the facts of a new key', () => {
    const after = '{"line":1,"kind":"program","expires":null,"grants":{"scopes":["chat","models:read"],"models":["m"]}}'
    expect(factsOf({ after })).toEqual([
      'line: 1',
      'kind: program',
      'expires: never',
      'scopes: chat, models:read',
      'models: m',
    ])
  })

  test('has what was before, and what is gone', () => {
    const time = Date.UTC(2026, 10, 24)
    expect(factsOf({ before: '{"expires":null,"x":1}', after: `{"expires":${time},"successor":2}` })).toEqual([
      `expires: never → ${momentOf(time, formatExactly)}`,
      'successor: 2',
      'x was 1',
    ])
    expect(factsOf({ before: '{"ended":null}' })).toEqual(['ended was none'])
  })

  test.each(['{', '"text"', '[1]', '{"expires":1e300}', '{"a":{"b":{"c":[null,{}]}}}', ''])('stands %p', (after) => {
    expect(factsOf({ after }).length).toBeGreaterThan(0)
  })
})
