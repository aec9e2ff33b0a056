import { expect, test } from 'bun:test'
import type { Contribution } from '../../extensions/extension.ts'
import { checkOwnersNamed } from './check-owners.ts'

const keys: Contribution = { recognise: () => undefined }
const signIn: Contribution = { guard: async () => undefined }
const owners = { names: [], ids: [] }
const check = (contributions: readonly Contribution[], config: Parameters<typeof checkOwnersNamed>[0] = {}) =>
  checkOwnersNamed(config, contributions, 'providers.json')

test('keys and sign-in together need owners', () => {
  expect(() => check([keys, signIn])).toThrow(
    /providers\.json.*owners: found nothing, allowed: names of users, or \[\]/s,
  )
  expect(() => check([keys, signIn], { owners })).not.toThrow()
})

test.each([[[]], [[keys]], [[signIn]]])('one of them does not: %#', (contributions) => {
  expect(() => check(contributions)).not.toThrow()
})
