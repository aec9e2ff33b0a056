import { expect, test } from 'bun:test'
import { contextOf } from '../testing.ts'
import { ownerCheck } from './owner-check.ts'

test('without a guard every request is from an owner, with one those of listed users', () => {
  const isOwner = (isGuarded: boolean, user?: string) =>
    ownerCheck(
      () => isGuarded,
      (visitor) => visitor?.user === 'ada',
    )({ ...contextOf(new Request('http://x/')), ...(user === undefined ? {} : { visitor: { user } }) })
  expect([isOwner(false), isOwner(false, 'bob')]).toEqual([true, true])
  expect([isOwner(true), isOwner(true, 'bob'), isOwner(true, 'ada')]).toEqual([false, false, true])
})
