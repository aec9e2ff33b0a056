import { describe, expect, test } from 'bun:test'
import { WireError } from '../../wire/error.ts'
import { randomToken } from './random-token.ts'
import { ada, browserHeaders, settingsForTests, signInUnderTest } from './testing.ts'

const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'content-type': 'application/json',
}
const deletion = 'token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure'
const ways = [
  ['X-Session-Token', (token: string) => ({ 'x-session-token': token })],
  ['Authorization: Bearer', (token: string) => ({ authorization: `Bearer ${token}` })],
  ['the cookie', (token: string) => ({ cookie: `token=${token}` })],
] as const

const logout = (headers: Readonly<Record<string, string>>) => ['/auth/logout', { method: 'POST', headers }] as const

describe('GET /auth', () => {
  test.each(ways)('tells who is signed in, by %s', async (_, shown) => {
    const subject = signInUnderTest()
    const response = await subject.ask('/auth', { headers: shown(await subject.signIn()) })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject(safeHeaders)
    expect(await response.json()).toEqual({
      userId: '1815',
      userName: 'ada',
      displayName: 'Ada Lovelace',
      profileUrl: 'https://pictures.test/ada.png',
      email: 'ada@mail.test',
      authProvider: 'provider',
      expiresAt: 1_800_086_400,
    })
  })

  test('says that nobody is signed in', async () => {
    await expect(signInUnderTest().ask('/auth')).rejects.toMatchObject({
      status: 401,
      code: 'authentication_required',
      message: 'Authentication required',
      headers: { 'www-authenticate': 'Bearer realm="svc"' },
    })
  })

  test('says that a session is over after 24 hours, and not on the last millisecond (docs/sign-in.md)', async () => {
    const subject = signInUnderTest()
    const headers = { cookie: `token=${await subject.signIn()}` }
    subject.host.clock.ms += 86_400_000
    expect((await subject.ask('/auth', { headers })).status).toBe(200)
    subject.host.clock.ms += 1
    await expect(subject.ask('/auth', { headers })).rejects.toMatchObject({
      status: 401,
      code: 'invalid_session',
      message: 'Invalid or expired session',
    })
  })

  test('does not know by an address', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    await expect(subject.ask(`/auth?session=${token}&token=${token}`)).rejects.toMatchObject({
      code: 'authentication_required',
    })
  })
})

describe('GET /auth/session', () => {
  test.each(ways)('gives the record of docs/sign-in.md with the token that was shown, by %s', async (_, shown) => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    const response = await subject.ask('/auth/session', { headers: shown(token) })
    expect(Object.fromEntries(response.headers)).toMatchObject(safeHeaders)
    expect(await response.json()).toEqual({
      userId: '1815',
      userName: 'ada',
      displayName: 'Ada Lovelace',
      profileUrl: 'https://pictures.test/ada.png',
      email: 'ada@mail.test',
      sessionToken: token,
      created: 1_800_000_000.123,
    })
  })

  test.each<[Record<string, string>]>([
    [{}],
    [{ 'x-session-token': randomToken() }],
    [{ cookie: 'token=x' }],
    [{ authorization: 'Bearer x' }],
  ])('with %j is 401 "Invalid or expired session"', async (headers) => {
    await expect(signInUnderTest().ask('/auth/session', { headers })).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_session',
      message: 'Invalid or expired session',
    })
  })

  test("is nobody's with two different cookies, though each is somebody's", async () => {
    const subject = signInUnderTest()
    const [one, two] = [await subject.signIn(), await subject.signIn()]
    await expect(
      subject.ask('/auth/session', { headers: { cookie: `token=${one}; token=${two}` } }),
    ).rejects.toMatchObject({ code: 'invalid_session' })
  })
})

describe('POST /auth/logout', () => {
  test.each(ways)(
    'ends the session that is shown by %s, and deletes the cookie (docs/sign-in.md)',
    async (_, shown) => {
      const subject = signInUnderTest()
      const headers = shown(await subject.signIn())
      const response = await subject.ask(...logout(headers))
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ success: true })
      expect(Object.fromEntries(response.headers)).toMatchObject({ ...safeHeaders, 'set-cookie': deletion })
      await expect(subject.ask('/auth/session', { headers })).rejects.toMatchObject({ code: 'invalid_session' })
      expect(subject.host.lines.at(-1)).toEqual(['info', 'signed out', { user: 'ada', id: '1815' }])
    },
  )

  test.each<[Record<string, string>]>([
    [{}],
    [{ 'x-session-token': 'nonsense' }],
    [{ 'x-session-token': randomToken() }],
    [{ cookie: 'token=nonsense' }],
    [{ cookie: 'token=1; token=2' }],
    [{ authorization: 'Bearer x' }],
    [{ authorization: '\u00ff' }],
    [{ 'content-type': 'application/json', 'content-length': '5' }],
  ])('with %j is 200 all the same', async (headers) => {
    const subject = signInUnderTest()
    const response = await subject.ask(...logout(headers))
    expect(await response.json()).toEqual({ success: true })
    expect(response.headers.get('set-cookie')).toBe(deletion)
    expect(subject.host.lines).toEqual([])
  })

  test('ends every session that is shown, and no other', async () => {
    const subject = signInUnderTest()
    const [one, two, three, other] = [
      await subject.signIn(),
      await subject.signIn(),
      await subject.signIn(),
      await subject.signIn(),
    ]
    await subject.ask(
      ...logout({ 'x-session-token': one, authorization: `Bearer ${two}`, cookie: `token=${three}; token=${one}` }),
    )
    expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    expect((await subject.ask('/auth', { headers: { 'x-session-token': other } })).status).toBe(200)
  })

  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://svc.test' }],
  ])('with the cookie from another site (%j) is 403 and ends nothing', async (headers) => {
    const subject = signInUnderTest()
    const cookie = `token=${await subject.signIn()}`
    await expect(subject.ask(...logout({ ...headers, cookie }))).rejects.toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'cross_site_request',
      message: expect.stringContaining('Cross-site request'),
    })
    expect((await subject.ask('/auth', { headers: { cookie } })).status).toBe(200)
  })

  test('from another site without the cookie, which SameSite keeps back, does not delete it', async () => {
    const response = await signInUnderTest().ask(
      ...logout({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
    )
    expect(await response.json()).toEqual({ success: true })
    expect(response.headers.has('set-cookie')).toBeFalse()
  })

  test.each<[Record<string, string>]>([[{ 'sec-fetch-site': 'same-origin' }], [{ origin: 'https://svc.test' }], [{}]])(
    'with the cookie from our own page or none (%j) passes',
    async (headers) => {
      const subject = signInUnderTest()
      expect((await subject.ask(...logout({ ...headers, cookie: `token=${await subject.signIn()}` }))).status).toBe(200)
    },
  )

  test('by the form of our page leads back to the page', async () => {
    const subject = signInUnderTest()
    const response = await subject.ask(
      ...logout({ ...browserHeaders, 'sec-fetch-site': 'same-origin', cookie: `token=${await subject.signIn()}` }),
    )
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('/')
    expect(response.headers.get('set-cookie')).toBe(deletion)
  })

  test('while the store is away is 503, and the cookie stays', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    const store = subject.host.stores.get('sessions')
    if (store !== undefined) store.isAway = true
    const error = await subject.ask(...logout({ cookie: `token=${token}` })).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 503, code: 'store_unavailable', headers: { 'retry-after': '1' } })
    expect(error instanceof WireError && 'set-cookie' in error.headers).toBeFalse()
  })

  test('deletes the cookie with the attributes it was set with', async () => {
    const subject = signInUnderTest({
      ...settingsForTests,
      cookieName: 'sid',
      redirectUri: 'http://127.0.0.1/auth/provider/callback',
    })
    expect((await subject.ask(...logout({}))).headers.get('set-cookie')).toBe(
      'sid=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    )
  })
})

test.each([
  ['GET', '/auth/provider/callback&code=c&state=s'],
  ['GET', '/auth/provider/callback/'],
  ['GET', '/auth/anything/else'],
  ['POST', '/auth/provider/'],
  ['GET', '/auth/%70rovider'],
])('%s %s is 404', async (method, target) => {
  await expect(signInUnderTest().ask(target, { method })).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('somebody who may not sign in any more is out at once', async () => {
  const subject = signInUnderTest()
  const headers = { cookie: `token=${await subject.signIn({ ...ada, userName: 'Grace' })}` }
  const changed = subject.withSettings({
    ...settingsForTests,
    restrictTo: { allows: ({ userName }) => userName === 'ada' },
  })
  await expect(changed.ask('/auth', { headers })).rejects.toMatchObject({ status: 401, code: 'invalid_session' })
  await expect(subject.ask('/auth', { headers })).rejects.toMatchObject({ status: 401 })
})
