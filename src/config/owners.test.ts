import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isOwner } from './owners.ts'
import { parseConfig } from './parse-config.ts'

function ownersOf(owners: unknown, environment: Readonly<Record<string, string>> = {}): readonly string[] | undefined {
  return parseConfig(JSON.stringify({ providers: [], owners }), { file: 'providers.json', environment }).owners
}

describe('owners', () => {
  test('are everybody when the field is absent', () => {
    expect(ownersOf(undefined)).toBeUndefined()
    expect(isOwner(undefined, 'ann')).toBe(true)
    expect(isOwner(undefined, undefined)).toBe(true)
  })

  test('are nobody when the list is empty', () => {
    expect(ownersOf([])).toEqual([])
    expect(isOwner([], 'ann')).toBe(false)
  })

  test.each([
    [['ann', '@Bob'], {}, ['ann', 'Bob']],
    [['$OWNERS', 'dan'], { OWNERS: ' ann, @bob\tcid,, ' }, ['ann', 'bob', 'cid', 'dan']],
    [['$OWNERS'], {}, []],
    [['$OWNERS'], { OWNERS: ' , ' }, []],
    [['$OWNERS'], { OWNERS: '$OTHER', OTHER: 'ann' }, ['$OTHER']],
    [['@'], {}, []],
  ] as const)('%j with the variables %j are %j', (entries, environment, expected) => {
    expect(ownersOf(entries, environment)).toEqual([...expected])
  })

  test('are told with their place when one cannot be a user name', () => {
    expect(() => ownersOf(['ann', 'bob cid'])).toThrow(
      'owners[1]: found "bob cid", allowed: a user name without commas and blanks',
    )
  })

  test('cannot be more than a thousand', () => {
    expect(() => ownersOf(Array.from({ length: 1_001 }, () => 'ann'))).toThrow(
      'owners: found an array, allowed: at most 1000 user names',
    )
  })
})

describe('isOwner', () => {
  test.each([
    ['ANN', true],
    ['ann', true],
    ['anna', false],
    ['', false],
    [undefined, false],
    ['\u212Aim', false],
    ['kim', true],
    ['\u00C4nne', false],
    ['\u00E4nne', true],
  ])('of Ann, kim and \u00E4nne › %j is one: %p', (userName, expected) => {
    expect(isOwner(['Ann', 'kim', '\u00E4nne'], userName)).toBe(expected)
  })

  test('knows a name in every case of its letters', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w.-]{1,30}$/), (name) => isOwner([name.toUpperCase()], name.toLowerCase())),
    )
  })

  test('lets nobody in whose name is not on the list', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (owners, userName) => {
        const isListed = owners.some((owner) => owner.toLowerCase() === userName.toLowerCase())
        return isListed || !isOwner(owners, userName)
      }),
    )
  })
})
