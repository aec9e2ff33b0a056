import { describe, expect, test } from 'bun:test'
import { memoryStores } from '../../stores/memory.ts'
import { fakeHost, type FakeHost } from '../testing.ts'
import type { Endpoints } from './settings/settings.ts'
import { ada, browserHeaders, settingsForTests, settingsWithoutClient, signInUnderTest } from './testing.ts'

const known = settingsForTests.endpoints

describe('sign-in', () => {
  test.each([
    ['https://svc.test/auth/provider/callback', 'https://svc.test'],
    ['http://127.0.0.1:8000/auth/provider/callback', 'http://127.0.0.1:8000'],
    ['https://svc.test:443/auth/provider/callback', 'https://svc.test'],
  ])('at %s has the origin %s', (redirectUri, origin) => {
    expect(signInUnderTest({ ...settingsForTests, redirectUri }).contribution.origin).toBe(origin)
  })

  test('without a client has no origin, but a guard and a part of the page', async () => {
    const { contribution } = signInUnderTest(settingsWithoutClient)
    expect(contribution.origin).toBeUndefined()
    expect(contribution.guard).toBeDefined()
    expect(contribution.part).toEqual({
      slots: ['SignIn'],
      settings: { providerName: 'Example', startUrl: '/auth/provider' },
    })
  })

  test.each<[string, boolean, Endpoints]>([
    ['the same', true, known],
    ['another issuer', false, { ...known, issuer: 'https://other.test' }],
    ['an issuer of the same name, by OpenID Connect', true, { kind: 'openid', issuer: 'https://id.test' }],
    ['another issuer, by OpenID Connect', false, { kind: 'openid', issuer: 'https://other.test' }],
    [
      'one without an issuer',
      false,
      {
        kind: 'oauth',
        authorizeUrl: 'https://other.test/authorize',
        tokenUrl: 'https://id.test/token',
        userUrl: 'https://id.test/user',
      },
    ],
  ])('at %s after a change of the file keeps earlier sessions and states: %p', async (_, stay, endpoints) => {
    const subject = signInUnderTest()
    const headers = { cookie: `token=${await subject.signIn()}` }
    const { state, cookie } = await subject.begin()
    const changed = subject.withSettings({ ...settingsForTests, endpoints })
    expect(
      await changed.pass('/v1/models', { headers }).then(
        () => true,
        () => false,
      ),
    ).toBe(stay)
    expect(
      await changed.finish(state, { headers: { ...browserHeaders, cookie } }).then(
        () => true,
        () => false,
      ),
    ).toBe(stay)
  })

  test('in the memory store, bounds 20,000 starts from one address, and another client can sign in', async () => {
    const fake = fakeHost()
    const stores = memoryStores(fake.now, () => () => undefined)
    const host: FakeHost = { ...fake, store: (name, options) => stores.open(name, options) }
    const subject = signInUnderTest({ ...settingsForTests, requestsPerMinute: 0 }, host)
    const theirs = await subject.begin({ address: '198.51.100.7', headers: browserHeaders })
    for (let start = 0; start < 20_000; start++) await subject.request('/auth/provider')
    expect(stores.size).toBe(201)
    const response = await subject.finish(theirs.state, { headers: { ...browserHeaders, cookie: theirs.cookie } })
    expect(response.status).toBe(302)
  }, 30_000)

  test('in the memory store, a user has 20 sessions, and all expire after a day', async () => {
    const fake = fakeHost()
    const stores = memoryStores(fake.now, () => () => undefined)
    const host: FakeHost = { ...fake, store: (name, options) => stores.open(name, options) }
    const subject = signInUnderTest({ ...settingsForTests, requestsPerMinute: 0 }, host)
    const first = await subject.signIn()
    for (let session = 0; session < 20; session++) await subject.signIn()
    await expect(subject.pass('/v1/models', { headers: { 'x-session-token': first } })).rejects.toMatchObject({
      code: 'invalid_session',
    })
    const names = 1
    expect(stores.size).toBe(20 + names)
    fake.clock.ms += 86_400_001
    await subject.signIn({ ...ada, userName: 'grace' })
    expect(stores.size).toBe(1 + names)
  })
})
