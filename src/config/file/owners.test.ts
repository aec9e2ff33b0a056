import { describe, expect, test } from 'bun:test'
import { isOwner, type Owners } from '../../people/owners.ts'
import { personOf } from '../../people/testing.ts'
import { parseConfig } from './parse-config.ts'

function ownersOf(owners: unknown, environment: Readonly<Record<string, string>> = {}): Owners | undefined {
  return parseConfig(JSON.stringify({ providers: [], owners }), { file: 'providers.json', environment }).owners
}

const listed = (...names: readonly string[]): Owners => ({ names, ids: [] })

describe('owners', () => {
  test('are all users when the field is absent', () => {
    expect(ownersOf(undefined)).toBeUndefined()
    expect(isOwner(undefined, personOf({ user: 'ann' }))).toBe(true)
    expect(isOwner(undefined, undefined)).toBe(true)
  })

  test('are no users when the list is empty', () => {
    expect(ownersOf([])).toEqual(listed())
    expect(isOwner(listed(), personOf({ user: 'ann' }))).toBe(false)
  })

  test.each([
    [['ann', '@Bob'], {}, ['ann', 'Bob']],
    [['$OWNERS', 'dan'], { OWNERS: ' ann, @bob\tcid,, ' }, ['ann', 'bob', 'cid', 'dan']],
    [['$OWNERS'], {}, []],
    [['$OWNERS'], { OWNERS: ' , ' }, []],
    [['$OWNERS'], { OWNERS: '$OTHER', OTHER: 'ann' }, ['$OTHER']],
    [['@'], {}, []],
  ] as const)('%j with the variables %j are %j', (entries, environment, expected) => {
    expect(ownersOf(entries, environment)).toEqual(listed(...expected))
  })

  test('include user ids', () => {
    expect(ownersOf(['id:583231', 'ID:aB', '@id:5', 'id:', '$OWNERS'], { OWNERS: 'ann, id:7' })).toEqual({
      names: ['id:5', 'ann'],
      ids: ['583231', 'aB', '7'],
    })
  })

  test('are rejected with a location when one cannot be a user name', () => {
    expect(() => ownersOf(['ann', 'bob cid'])).toThrow(
      'owners[1]: found "bob cid", allowed: a user name without commas and blanks',
    )
  })

  test('are limited to a thousand', () => {
    expect(() => ownersOf(Array.from({ length: 1_001 }, () => 'ann'))).toThrow(
      'owners: found 1001 elements, allowed: at most 1000 user names',
    )
  })
})
