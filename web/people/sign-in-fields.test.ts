import { describe, expect, test } from 'bun:test'
import { draftOf, missingFields, type SignInFields } from './sign-in-fields.ts'

const github = { id: 'github', name: 'GitHub', place: { kind: 'server', isRequired: false } } as const
const openid = { id: 'openid', name: 'OpenID Connect', place: { kind: 'issuer', isRequired: true } } as const
const google = { id: 'google', name: 'Google' } as const
const typed: SignInFields = {
  provider: github,
  place: '',
  clientId: ' abc ',
  clientSecret: 'hush',
  user: ' @ada ',
  others: 'grace, @linus\n\n id:7 ,',
  hasKeys: true,
}

describe('the set-up of sign-in, as it is typed', () => {
  test('becomes a draft without the secret, with trimmed names', () => {
    expect(draftOf(typed, 'http://x')).toEqual({
      ...{ provider: 'github', clientId: 'abc', user: 'ada', others: ['grace', 'linus', 'id:7'] },
      ...{ hasKeys: true, origin: 'http://x' },
    })
  })

  test.each([
    ['all that is required', typed, []],
    ['an issuer', { ...typed, provider: openid }, ['place']],
    ['blanks only', { ...typed, clientId: ' ', clientSecret: '', user: '\n' }, ['clientId', 'clientSecret', 'user']],
  ])('knows what is missing: %s', (_name, fields, missing) => {
    expect(missingFields(fields).join()).toBe(missing.join())
  })

  test('has no draft while more than the secret is missing', () => {
    expect(draftOf({ ...typed, user: '' }, 'http://x')).toBeUndefined()
    expect(draftOf({ ...typed, clientSecret: '' }, 'http://x')).toBeDefined()
  })

  test('keeps no address of a provider that has none', () => {
    expect(draftOf({ ...typed, provider: google, place: 'https://y' }, 'http://x')).not.toHaveProperty('place')
    expect(draftOf({ ...typed, place: ' https://y ' }, 'http://x')).toMatchObject({ place: 'https://y' })
  })
})
