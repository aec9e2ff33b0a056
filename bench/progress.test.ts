import { expect, test } from 'bun:test'
import { reasonOf } from './progress.ts'

test.each([
  {
    error: new Error('go: reading https://registry.example/a/@v/list: 403 Forbidden\n\tserver response: not available'),
    expected: 'go: reading (address) 403 Forbidden server response: not available',
  },
  { error: 'as it is', expected: 'as it is' },
])('a reason is one line without addresses: $expected', ({ error, expected }) => {
  expect(reasonOf(error)).toBe(expected)
})
