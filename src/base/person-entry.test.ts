import { expect, test } from 'bun:test'
import { personEntry, personIdAt } from './person-entry.ts'

test.each([
  ['ann', { kind: 'name', name: 'ann' }],
  ['ann@https://a.test', { kind: 'name', name: 'ann@https://a.test' }],
  ['id:7', { kind: 'id', userId: '7' }],
  ['id:ann@a.test', { kind: 'id', userId: 'ann@a.test' }],
  ['id:7@https://a.test/x', { kind: 'id', userId: '7', provider: 'https://a.test/x' }],
  ['id:ann@a.test@http://127.0.0.1:9', { kind: 'id', userId: 'ann@a.test', provider: 'http://127.0.0.1:9' }],
  ['id:@https://a.test', { kind: 'id', userId: '@https://a.test' }],
])('%s names a person', (entry, expected) => {
  expect(personEntry(entry)).toEqual(expected as ReturnType<typeof personEntry>)
})

test('people of two providers have two ids, which stay', () => {
  expect(personIdAt('https://a.test', '7')).toBe('XW7VJ08SW754EIdrIMUFDY')
  expect(personIdAt('https://b.test', '7')).not.toBe(personIdAt('https://a.test', '7'))
})
