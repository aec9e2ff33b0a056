import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { personIdAt } from '../base/person-entry.ts'
import { isOwner, type Owners } from './owners.ts'
import { personOf } from './testing.ts'

/** A user of an identity provider that ignores the case of names. */
const caseless = (user: string) => personOf({ user, userId: '1', hasCaselessName: true })

const listed = (...names: readonly string[]): Owners => ({ names, ids: [] })

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
  ])('of Ann, kim and \u00E4nne › %j is one, ignoring case: %p', (user, expected) => {
    expect(isOwner(listed('Ann', 'kim', '\u00E4nne'), user === undefined ? undefined : caseless(user))).toBe(expected)
  })

  test("accepts any case of a name's letters, ignoring case", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w.-]{1,30}$/), (name) =>
        isOwner(listed(name.toUpperCase()), caseless(name.toLowerCase())),
      ),
    )
  })

  test('compares names exactly by default', () => {
    const users = ['OctoCat', 'OCTOCAT', 'octocat']
    expect(users.map((user) => isOwner(listed('OctoCat'), personOf({ user, userId: '1' })))).toEqual([
      true,
      false,
      false,
    ])
    expect(users.map((user) => isOwner(listed('OctoCat'), personOf({ user, hasCaselessName: false })))).toEqual([
      true,
      false,
      false,
    ])
  })

  test('accepts an exact user id, but no name that looks like it', () => {
    const owners: Owners = { names: [], ids: ['aB'] }
    const people = [
      { user: 'x', userId: 'aB' },
      { user: 'x', userId: 'ab' },
      { user: 'aB', userId: '1' },
      { user: 'id:aB' },
    ]
    expect(people.map((person) => isOwner(owners, personOf(person)))).toEqual([true, false, false, false])
  })

  test('accepts an id with its identity provider only for a person of that provider', () => {
    const provider = 'https://github.com/login/oauth'
    const owners: Owners = { names: [], ids: [`7@${provider}`] }
    const people = [
      { user: 'x', userId: '7', subject: personIdAt(provider, '7') },
      { user: 'x', userId: '7', subject: personIdAt('https://other.test', '7') },
      { user: 'x', userId: '7' },
      { user: 'x', userId: `7@${provider}` },
    ]
    expect(people.map((person) => isOwner(owners, personOf(person)))).toEqual([true, false, false, false])
  })

  test('rejects names that are not on the list', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (owners, userName) => {
        const isListed = owners.some((owner) => owner.toLowerCase() === userName.toLowerCase())
        return isListed || !isOwner(listed(...owners), caseless(userName))
      }),
    )
  })
})
