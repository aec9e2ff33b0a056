import { describe, expect, test } from 'bun:test'
import { ada, settingsForTests, settingsWithoutClient, signInUnderTest } from '../testing.ts'
import { randomToken } from './random-token.ts'

const chat = '/v1/chat/completions'

describe('the guard', () => {
  test.each([
    ['X-Session-Token', (token: string) => ({ 'x-session-token': token })],
    ['an API key', (token: string) => ({ authorization: `Bearer ${token}` })],
    ['the cookie', (token: string) => ({ cookie: `token=${token}` })],
    [
      'the cookie with an API key of any value',
      (token: string) => ({ cookie: `token=${token}`, authorization: 'Bearer any' }),
    ],
  ])('admits a session by %s, and names the user', async (_, shown) => {
    const subject = signInUnderTest()
    expect(await subject.pass(chat, { method: 'POST', headers: shown(await subject.signIn()) })).toMatchObject({
      user: 'ada',
    })
  })

  test.each<[string, Record<string, string>, string, string]>([
    ['nothing', {}, 'authentication_required', 'Authentication required'],
    ['any API key', { authorization: 'Bearer any-value' }, 'authentication_required', 'Authentication required'],
    ['an unknown token', { authorization: `Bearer ${randomToken()}` }, 'invalid_session', 'Invalid or expired session'],
    ['an unknown cookie', { cookie: `token=${randomToken()}` }, 'invalid_session', 'Invalid or expired session'],
    [
      "another service's browser",
      {
        'user-agent': 'Mozilla/5.0 kube-probe ELB-HealthChecker',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-uri': '/health',
        'x-original-url': '/',
        'x-rewrite-url': '/',
        'x-http-method-override': 'OPTIONS',
        'x-forwarded-user': 'ada',
      },
      'authentication_required',
      'Authentication required',
    ],
  ])('refuses a request with %s', async (_, headers, code, message) => {
    for (const target of [chat, '/v1/models', '/metrics', '/nowhere', '/?x=/health', '/health#/', '/AUTH']) {
      await expect(signInUnderTest().pass(target, { headers })).rejects.toMatchObject({
        status: 401,
        type: 'authentication_error',
        code,
        message,
        headers: { 'www-authenticate': 'Bearer realm="svc"' },
      })
    }
  })

  test('returns the profile for the page, with an id per user and identity provider', async () => {
    const subject = signInUnderTest()
    const profileOf = async (at: typeof subject, identity = ada) =>
      (await at.pass(chat, { headers: { 'x-session-token': await at.signIn(identity) } }))?.profile
    const profile = await profileOf(subject)
    expect(profile).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      userName: 'ada',
      displayName: 'Ada Lovelace',
      email: 'ada@mail.test',
      avatarUrl: 'https://pictures.test/ada.png',
    })
    expect(
      await profileOf(subject, { ...ada, userName: 'Grace', profileUrl: 'http://pictures.test/grace.png' }),
    ).toMatchObject({ id: profile?.id, userName: 'Grace', avatarUrl: '' })
    expect((await profileOf(subject, { ...ada, userId: '1816' }))?.id).not.toBe(profile?.id)
    const elsewhere = signInUnderTest({
      ...settingsForTests,
      endpoints: { ...settingsForTests.endpoints, issuer: 'https://other.test' },
    })
    expect((await profileOf(elsewhere))?.id).not.toBe(profile?.id)
  })

  test('refuses a token in the URL', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    await expect(subject.pass(`/v1/models?session=${token}`)).rejects.toMatchObject({ status: 401 })
  })

  test('refuses an expired session', async () => {
    const subject = signInUnderTest()
    const options = { headers: { 'x-session-token': await subject.signIn() } }
    subject.host.clock.ms += 86_400_000
    expect(await subject.pass(chat, options)).toMatchObject({ user: 'ada' })
    subject.host.clock.ms += 1
    await expect(subject.pass(chat, options)).rejects.toMatchObject({ status: 401, code: 'invalid_session' })
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('refuses %s from another site with the cookie', async (method) => {
    const subject = signInUnderTest()
    const cookie = `token=${await subject.signIn()}`
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      await expect(subject.pass(chat, { method, headers: { ...headers, cookie } })).rejects.toMatchObject({
        status: 403,
        type: 'permission_error',
        code: 'cross_site_request',
      })
    }
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'https://svc.test' }, {}])
      expect(await subject.pass(chat, { method, headers: { ...headers, cookie } })).toMatchObject({ user: 'ada' })
  })

  test('admits a token from any site, and reading with the cookie', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    const foreign = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }
    expect(
      await subject.pass(chat, { method: 'POST', headers: { ...foreign, authorization: `Bearer ${token}` } }),
    ).toMatchObject({ user: 'ada' })
    for (const method of ['GET', 'HEAD'])
      expect(
        await subject.pass('/v1/models', { method, headers: { ...foreign, cookie: `token=${token}` } }),
      ).toMatchObject({ user: 'ada' })
  })

  test('refuses with 503 while the store is unavailable', async () => {
    const subject = signInUnderTest()
    const headers = { 'x-session-token': await subject.signIn() }
    for (const store of subject.host.stores.values()) store.isAway = true
    await expect(subject.pass(chat, { headers })).rejects.toMatchObject({
      status: 503,
      type: 'overloaded_error',
      code: 'store_unavailable',
      headers: { 'retry-after': '1' },
    })
    await expect(subject.pass(chat)).rejects.toMatchObject({ status: 401 })
  })

  test('refuses all requests while sign-in is not configured', async () => {
    await expect(signInUnderTest(settingsWithoutClient).pass(chat)).rejects.toMatchObject({ status: 401 })
  })

  test('passes on unknown errors', async () => {
    const subject = signInUnderTest()
    const headers = { 'x-session-token': await subject.signIn() }
    const broken = {
      ...settingsForTests,
      restrictTo: {
        allows: () => {
          throw new TypeError('a mistake of ours')
        },
      },
    }
    await expect(subject.withSettings(broken).pass(chat, { headers })).rejects.toThrow(TypeError)
  })
})
