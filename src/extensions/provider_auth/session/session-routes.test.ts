import { describe, expect, test } from 'bun:test'
import { WireError } from '../../../formats/error.ts'
import { ada, browserHeaders, settingsForTests, signInUnderTest } from '../testing.ts'
import { randomToken } from './random-token.ts'

const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
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
    const response = await subject.request('/auth', { headers: shown(await subject.signIn()) })
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

  test('is 401 without a session', async () => {
    await expect(signInUnderTest().request('/auth')).rejects.toMatchObject({
      status: 401,
      code: 'authentication_required',
      message: 'Authentication required',
      headers: { 'www-authenticate': 'Bearer realm="svc"' },
    })
  })

  test('is 401 after 24 hours, and not on the last millisecond (docs/sign-in.md)', async () => {
    const subject = signInUnderTest()
    const headers = { cookie: `token=${await subject.signIn()}` }
    subject.host.clock.ms += 86_400_000
    expect((await subject.request('/auth', { headers })).status).toBe(200)
    subject.host.clock.ms += 1
    await expect(subject.request('/auth', { headers })).rejects.toMatchObject({
      status: 401,
      code: 'invalid_session',
      message: 'Invalid or expired session',
    })
  })

  test('ignores a token in the URL', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    await expect(subject.request(`/auth?session=${token}&token=${token}`)).rejects.toMatchObject({
      code: 'authentication_required',
    })
  })
})

describe('GET /auth/session', () => {
  test.each(ways)('gives the record of docs/sign-in.md with the token that was shown, by %s', async (_, shown) => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    const response = await subject.request('/auth/session', { headers: shown(token) })
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
    await expect(signInUnderTest().request('/auth/session', { headers })).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_session',
      message: 'Invalid or expired session',
    })
  })

  test('is 401 with two different cookies, even if both are valid', async () => {
    const subject = signInUnderTest()
    const [one, two] = [await subject.signIn(), await subject.signIn()]
    await expect(
      subject.request('/auth/session', { headers: { cookie: `token=${one}; token=${two}` } }),
    ).rejects.toMatchObject({ code: 'invalid_session' })
  })
})

describe('POST /auth/logout', () => {
  test.each(ways)(
    'ends the session that is shown by %s, and deletes the cookie (docs/sign-in.md)',
    async (_, shown) => {
      const subject = signInUnderTest()
      const headers = shown(await subject.signIn())
      const response = await subject.request(...logout(headers))
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ success: true })
      expect(Object.fromEntries(response.headers)).toMatchObject({ ...safeHeaders, 'set-cookie': deletion })
      await expect(subject.request('/auth/session', { headers })).rejects.toMatchObject({ code: 'invalid_session' })
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
    const response = await subject.request(...logout(headers))
    expect(await response.json()).toEqual({ success: true })
    expect(response.headers.get('set-cookie')).toBe(deletion)
    expect(subject.host.lines).toEqual([])
  })

  test('ends every session that the request carries, and no other', async () => {
    const subject = signInUnderTest()
    const [one, two, three, other] = [
      await subject.signIn(),
      await subject.signIn(),
      await subject.signIn(),
      await subject.signIn(),
    ]
    await subject.request(
      ...logout({ 'x-session-token': one, authorization: `Bearer ${two}`, cookie: `token=${three}; token=${one}` }),
    )
    expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    expect((await subject.request('/auth', { headers: { 'x-session-token': other } })).status).toBe(200)
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
    await expect(subject.request(...logout({ ...headers, cookie }))).rejects.toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'cross_site_request',
      message: expect.stringContaining('Cross-site request'),
    })
    expect((await subject.request('/auth', { headers: { cookie } })).status).toBe(200)
  })

  test('from another site without the cookie, which SameSite keeps back, does not delete it', async () => {
    const response = await signInUnderTest().request(
      ...logout({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
    )
    expect(await response.json()).toEqual({ success: true })
    expect(response.headers.has('set-cookie')).toBeFalse()
  })

  test.each<[Record<string, string>]>([[{ 'sec-fetch-site': 'same-origin' }], [{ origin: 'https://svc.test' }], [{}]])(
    'with the cookie from our own page or none (%j) passes',
    async (headers) => {
      const subject = signInUnderTest()
      expect((await subject.request(...logout({ ...headers, cookie: `token=${await subject.signIn()}` }))).status).toBe(
        200,
      )
    },
  )

  describe('with {"everywhere": true}', () => {
    const json = { 'content-type': 'application/json; charset=utf-8' }
    const everywhere = (headers: Readonly<Record<string, string>>, body = '{"everywhere":true}') =>
      ['/auth/logout', { method: 'POST', headers: { ...json, ...headers }, body }] as const

    test.each(ways)('ends all sessions of the user whose token is sent by %s, and no others', async (_, shown) => {
      const subject = signInUnderTest()
      const tokens = [await subject.signIn(), await subject.signIn(), await subject.signIn()]
      const other = await subject.signIn({ ...ada, userId: '1906', userName: 'grace' })
      const response = await subject.request(...everywhere(shown(tokens[1] ?? '')))
      expect([response.status, await response.json()]).toEqual([200, { success: true, ended: 3 }])
      expect(response.headers.get('set-cookie')).toBe(deletion)
      for (const token of tokens)
        await expect(subject.request('/auth', { headers: { 'x-session-token': token } })).rejects.toMatchObject({
          code: 'invalid_session',
        })
      expect((await subject.request('/auth', { headers: { 'x-session-token': other } })).status).toBe(200)
      expect(subject.host.lines.at(-1)).toEqual(['info', 'signed out', { user: 'ada', id: '1815', sessions: 3 }])
    })

    test('without a session succeeds with none ended', async () => {
      const subject = signInUnderTest()
      await subject.signIn()
      expect(await (await subject.request(...everywhere({}))).json()).toEqual({ success: true, ended: 0 })
      expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    })

    test.each(['{"everywhere":false}', '{"everywhere":null}', '{}', ''])('but %j ends one', async (body) => {
      const subject = signInUnderTest()
      const [token] = [await subject.signIn(), await subject.signIn()]
      expect(await (await subject.request(...everywhere({ 'x-session-token': token }, body))).json()).toEqual({
        success: true,
      })
      expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    })

    test.each([
      ['another type', '{"everywhere":"yes"}', { code: 'invalid_type', param: 'everywhere' }],
      ['a number', '{"everywhere":1}', { code: 'invalid_type', param: 'everywhere' }],
      ['JSON cut short', '{"everywhere":true', { code: 'invalid_json' }],
      ['an array', '[true]', { code: 'invalid_json' }],
      ['too long', `{"everywhere":true,"more":"${'x'.repeat(1024)}"}`, { status: 413 }],
    ])('is refused when the body is %s, and nothing ends', async (_, body, expected) => {
      const subject = signInUnderTest()
      const token = await subject.signIn()
      await expect(subject.request(...everywhere({ 'x-session-token': token }, body))).rejects.toMatchObject(expected)
      expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    })

    test('is ignored in a body that is not JSON', async () => {
      const subject = signInUnderTest()
      const [token] = [await subject.signIn(), await subject.signIn()]
      await subject.request(...everywhere({ 'x-session-token': token, 'content-type': 'text/plain' }))
      expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    })

    test('from another site, with the cookie, ends nothing', async () => {
      const subject = signInUnderTest()
      const cookie = `token=${await subject.signIn()}`
      await expect(subject.request(...everywhere({ cookie, origin: 'https://evil.example' }))).rejects.toMatchObject({
        code: 'cross_site_request',
      })
      expect(subject.host.stores.get('sessions')?.entries.size).toBe(1)
    })

    test('removes the sessions from the cache too', async () => {
      const subject = signInUnderTest()
      const [token, other] = [await subject.signIn(), await subject.signIn()]
      await subject.pass('/v1/models', { headers: { 'x-session-token': other } })
      await subject.request(...everywhere({ 'x-session-token': token }))
      for (const store of subject.host.stores.values()) store.isAway = true
      await expect(subject.pass('/v1/models', { headers: { 'x-session-token': other } })).rejects.toMatchObject({
        status: 503,
      })
    })
  })

  test('by a form of the page redirects to the page', async () => {
    const subject = signInUnderTest()
    const response = await subject.request(
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
    const error = await subject.request(...logout({ cookie: `token=${token}` })).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 503, code: 'store_unavailable', headers: { 'retry-after': '1' } })
    expect(error instanceof WireError && 'set-cookie' in error.headers).toBeFalse()
  })

  test('deletes the cookie with the attributes it was set with', async () => {
    const subject = signInUnderTest({
      ...settingsForTests,
      cookieName: 'sid',
      redirectUri: 'http://127.0.0.1/auth/provider/callback',
    })
    expect((await subject.request(...logout({}))).headers.get('set-cookie')).toBe(
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
  await expect(signInUnderTest().request(target, { method })).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('a user removed from restrict_to is signed out at once', async () => {
  const subject = signInUnderTest()
  const headers = { cookie: `token=${await subject.signIn({ ...ada, userName: 'Grace' })}` }
  const changed = subject.withSettings({
    ...settingsForTests,
    restrictTo: { allows: ({ userName }) => userName === 'ada' },
  })
  await expect(changed.request('/auth', { headers })).rejects.toMatchObject({ status: 401, code: 'invalid_session' })
  await expect(subject.request('/auth', { headers })).rejects.toMatchObject({ status: 401 })
})
