import { expect, test } from 'bun:test'
import { callerOf } from '../../people/caller-of.ts'
import { contextOf } from '../testing.ts'
import { ownerCheck } from './owner-check.ts'

test('a key that was admitted to a route may there do what an owner may', () => {
  const access = { mayDo: () => true, mayUseModel: () => true, mayUseProvider: () => true }
  const context = { ...contextOf(new Request('http://x/')), caller: { name: 'key:a', access } }
  expect(
    ownerCheck(
      () => true,
      () => false,
    )(context),
  ).toBe(true)
})

test('without a guard every request is from an owner, with one those of listed users', () => {
  const isOwner = (isGuarded: boolean, user?: string) =>
    ownerCheck(
      () => isGuarded,
      (person) => person?.name === 'ada',
    )({ ...contextOf(new Request('http://x/')), ...(user === undefined ? {} : { caller: callerOf({ user }) }) })
  expect([isOwner(false), isOwner(false, 'bob')]).toEqual([true, true])
  expect([isOwner(true), isOwner(true, 'bob'), isOwner(true, 'ada')]).toEqual([false, false, true])
})
