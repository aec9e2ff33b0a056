import { describe, expect, test } from 'bun:test'
import { changeWords, factsOf, momentOf } from './audit-words.ts'

describe('an entry of the audit in words', () => {
  test('names the key and the change, also one that it does not know', () => {
    expect(changeWords({ action: 'key.rotated', object: '3' })).toBe('key 3 replaced')
    expect(changeWords({ action: 'person.forgotten', object: '3' })).toBe('person 3 forgotten')
    expect(changeWords({ action: 'file.changed', object: 'providers.json' })).toBe('providers.json changed')
    expect(changeWords({ action: 'content.read', object: 'r-1' })).toBe('content of request r-1 read')
    expect(changeWords({ action: 'use.repriced', object: 'gpt-5' })).toBe('costs of gpt-5 computed anew')
    expect(changeWords({ action: 'budget.raised', object: 'team:a' })).toBe('budget.raised team:a')
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
      `expires: never → ${momentOf(time)}`,
      'successor: 2',
      'x was 1',
    ])
    expect(factsOf({ before: '{"ended":null}' })).toEqual(['ended was none'])
  })

  test.each(['{', '"text"', '[1]', '{"expires":1e300}', '{"a":{"b":{"c":[null,{}]}}}', ''])('stands %p', (after) => {
    expect(factsOf({ after }).length).toBeGreaterThan(0)
  })
})
