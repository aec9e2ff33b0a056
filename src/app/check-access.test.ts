import { describe, expect, test } from 'bun:test'
import { ConfigError } from '../config/config.ts'
import { parseAccess } from '../config/file/parse-access.ts'
import type { Contribution } from '../extensions/extension.ts'
import { checkAccess, checkOwnersNamed, checkStillGuarded } from './check-access.ts'

const keys = parseAccess(JSON.stringify({ keys: [{ name: 'ci', hash: '0f'.repeat(32) }] }), 'access.json')
const check = (contributions?: readonly Contribution[]) => () =>
  checkAccess(keys, { providers: [], file: 'access.json', ...(contributions === undefined ? {} : { contributions }) })

test('an id with an identity provider names the one in use', () => {
  const policy = parseAccess(
    JSON.stringify({
      limits: [{ for: 'person:id:7@https://old.test', requests: 5 }],
      teams: { search: { leads: ['ann', 'id:8@https://new.test'], members: ['id:9@https://old.test'] } },
    }),
    'access.json',
  )
  const guard = async () => undefined
  const check = (identityProvider?: string) => () =>
    checkAccess(policy, {
      providers: [],
      file: 'access.json',
      contributions: [{ guard, ...(identityProvider === undefined ? {} : { identityProvider }) }],
    })
  expect(check()).not.toThrow()
  expect(check('https://new.test')).toThrow(
    'access.json: limits[0].for: found "id:7@https://old.test", allowed: "id:7@https://new.test"\n' +
      'access.json: teams.search.members: found "id:9@https://old.test", allowed: "id:9@https://new.test"',
  )
})

test('keys in access.json need --auth keys, as far as it is known what runs', () => {
  expect(check([])).toThrow('access.json: keys: found 1 of them, allowed: keys only with --auth keys')
  expect(check([{ recognise: () => undefined }])).not.toThrow()
  expect(check()).not.toThrow()
})

const programs: Contribution = { recognise: () => undefined }
const signIn: Contribution = { guard: async () => undefined }
const owners = { names: [], ids: [] }
const checkOwners = (contributions: readonly Contribution[], config: Parameters<typeof checkOwnersNamed>[0] = {}) =>
  checkOwnersNamed(config, contributions, 'providers.json')

test('keys and sign-in together need owners', () => {
  expect(() => checkOwners([programs, signIn])).toThrow(
    /providers\.json.*owners: found nothing, allowed: names of users, or \[\]/s,
  )
  expect(() => checkOwners([programs, signIn], { owners })).not.toThrow()
})

test.each([[[]], [[programs]], [[signIn]]])('one of them does not: %#', (contributions) => {
  expect(() => checkOwners(contributions)).not.toThrow()
})

describe('a change of auth', () => {
  const change = (
    earlier: readonly Contribution[] | undefined,
    contributions: readonly Contribution[],
    auth: string[],
  ) => checkStillGuarded({ auth }, { contributions, earlier, file: 'providers.json' })

  test('does not open a guarded service by sign-in that is not set up', () => {
    expect(() => change([programs], [{}], ['provider_auth'])).toThrow(/auth: found provider_auth, allowed: extensions/)
    expect(() => change([signIn], [], ['mine'])).toThrow(ConfigError)
  })

  test('opens it by an empty list, and may be anything where nothing was guarded', () => {
    expect(() => change([programs], [], [])).not.toThrow()
    expect(() => change([programs], [signIn], ['provider_auth'])).not.toThrow()
    expect(() => change([{}], [{}], ['provider_auth'])).not.toThrow()
    expect(() => change(undefined, [{}], ['provider_auth'])).not.toThrow()
  })
})
