import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { randomToken } from './session/random-token.ts'
import {
  ada,
  browserHeaders,
  settingsForTests,
  settingsWithoutClient,
  signInUnderTest,
  unrestrictedSettings,
  type SignInUnderTest,
} from './testing.ts'

const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** The error of a route. */
async function thrown(work: Promise<unknown>): Promise<WireError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof WireError) return error
  throw new Error('it threw no WireError', { cause: error })
}

const sessionsOf = ({ host }: SignInUnderTest) => host.stores.get('sessions')?.entries.size ?? 0
const statesOf = ({ host }: SignInUnderTest) => host.stores.get('states')?.entries.size ?? 0

describe('GET /auth/provider', () => {
  test('sends the browser to the identity provider, with a new state and its cookie (docs/sign-in.md)', async () => {
    const subject = signInUnderTest()
    const { state, response } = await subject.begin()
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(`https://id.test/authorize?state=${state}`)
    expect(Object.fromEntries(response.headers)).toMatchObject(safeHeaders)
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-svc_flow_[A-Za-z0-9_-]{8}=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
      ),
    ])
    expect(await response.text()).toBe('')
    expect(statesOf(subject)).toBe(1)
  })

  test('ignores parameters and headers that name another address', async () => {
    const subject = signInUnderTest()
    const response = await subject.request(
      '/auth/provider?redirect_uri=https://evil.example&client_id=x&scope=admin&state=fixed' +
        '&next=//evil.example&rd=x&return_to=x',
      {
        headers: {
          host: 'evil.example',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'http',
          forwarded: 'host=evil.example;proto=http',
          'x-original-url': '/evil',
          'x-http-method-override': 'POST',
          origin: 'https://evil.example',
        },
      },
    )
    expect(response.headers.get('location')).toMatch(/^https:\/\/id\.test\/authorize\?state=[A-Za-z0-9_-]{43}$/)
    expect(response.headers.getSetCookie()[0]).toContain('; Secure')
    expect(JSON.stringify([...response.headers])).not.toContain('evil')
  })

  test.each<[Record<string, string>]>([
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
    [{ ...browserHeaders, 'sec-purpose': 'prefetch' }],
  ])('requested with %j starts no sign-in', async (headers) => {
    const subject = signInUnderTest()
    expect(await thrown(subject.request('/auth/provider', { headers }))).toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'not_a_navigation',
    })
    expect(statesOf(subject)).toBe(0)
  })

  test('requested with HEAD starts no sign-in', async () => {
    const subject = signInUnderTest()
    expect(await thrown(subject.request('/auth/provider', { method: 'HEAD' }))).toMatchObject({
      status: 405,
      code: 'method_not_allowed',
      headers: { allow: 'GET' },
    })
    expect(statesOf(subject)).toBe(0)
  })

  test('counts states per client', async () => {
    const subject = signInUnderTest({ ...settingsForTests, trustedProxies: ['10.0.0.0/8'] })
    await subject.begin({ address: '10.0.0.1', headers: { 'x-forwarded-for': '198.51.100.7' } })
    await subject.begin({ address: '2001:db8:1:2:3:4:5:6' })
    expect([...(subject.host.stores.get('states')?.entries.values() ?? [])].map(({ owner }) => owner)).toEqual([
      '198.51.100.7',
      '20010db800010002/64',
    ])
  })

  test('reports a failing identity provider, and stores nothing', async () => {
    const subject = signInUnderTest()
    subject.provider.begin = () =>
      Promise.reject(new WireError(502, 'api_error', 'identity_provider_unavailable', 'away'))
    expect(await thrown(subject.request('/auth/provider'))).toMatchObject({ status: 502 })
    expect(statesOf(subject)).toBe(0)
    expect(subject.host.lines).toEqual([
      [
        'warn',
        'sign-in failed',
        { request: 'request-1', stage: 'start', code: 'identity_provider_unavailable', reason: undefined },
      ],
    ])
  })
})

describe('GET /auth/provider/callback', () => {
  test('signs in: redirects to /?session=TOKEN, sets the session cookie and deletes the flow cookie', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    const response = await subject.finish(state, { headers: { ...browserHeaders, cookie } })
    expect(response.status).toBe(302)
    const [, token = ''] = /^\/\?session=([A-Za-z0-9_-]{43})$/.exec(response.headers.get('location') ?? '') ?? []
    expect(response.headers.getSetCookie()).toEqual([
      `token=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure`,
      `${cookie.split('=')[0]}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure`,
    ])
    expect(Object.fromEntries(response.headers)).toMatchObject(safeHeaders)
    expect(await (await subject.request('/auth', { headers: { cookie: `token=${token}` } })).json()).toMatchObject({
      userName: 'ada',
    })
  })

  test('passes the callback and the stored secrets to the identity provider', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    await subject.request(
      `/auth/provider/callback?state=${state}&code=c&iss=https%3A%2F%2Fid.test&error_description=x&session=y`,
      { headers: { cookie } },
    )
    expect(subject.provider.calls).toEqual([
      { callback: { state, code: 'c', iss: 'https://id.test' }, secrets: subject.provider.secrets },
    ])
  })

  test('needs no cookie from a script', async () => {
    const subject = signInUnderTest()
    const { state } = await subject.begin({})
    expect((await subject.finish(state)).headers.get('location')).toMatch(/^\/\?session=/)
  })

  test('sets cookies without Secure over http', async () => {
    const subject = signInUnderTest({
      ...settingsForTests,
      redirectUri: 'http://127.0.0.1:8000/auth/provider/callback',
    })
    const { state, cookie } = await subject.begin()
    const response = await subject.finish(state, {
      headers: { ...browserHeaders, cookie, 'x-forwarded-proto': 'https' },
    })
    expect(cookie).toStartWith('svc_flow_')
    expect(response.headers.getSetCookie().join()).not.toContain('Secure')
  })

  test('sets the cookie under the configured name', async () => {
    const subject = signInUnderTest({ ...settingsForTests, cookieName: '__Host-token' })
    const { state } = await subject.begin({})
    expect((await subject.finish(state)).headers.getSetCookie()[0]).toStartWith('__Host-token=')
  })

  test.each([
    ['without parameters', ''],
    ['with an unknown state', `?code=c&state=${randomToken()}`],
    ['without a state', '?code=c'],
    ['with two states', '?code=c&state=STATE&state=STATE'],
    ['with two codes', '?code=c&code=d&state=STATE'],
    ['with a state that is too long', `?code=c&state=STATE${'x'.repeat(100)}`],
    ['with a code that is too long', `?code=${'c'.repeat(3000)}&state=STATE`],
    ['with a huge query', `?code=c&state=STATE&x=${'y'.repeat(10_000)}`],
    ['with an array', '?code=c&state[]=STATE'],
    ['with a code in two lines', '?code=c%0d%0aX:y&state=STATE'],
    ['with the key of every object', '?code=c&state=__proto__'],
    ['with an error and an unknown state', '?error=access_denied&state=unknown'],
    ['with an error only', '?error=access_denied'],
    [
      'with script in an error',
      `?error=%3Cscript%3Ealert(1)%3C/script%3E&error_description=%3Cscript%3E&state=${randomToken()}`,
    ],
  ])(
    '%s is "Invalid state parameter", sends no request and leaves the flow unchanged (docs/sign-in.md)',
    async (_, query) => {
      const subject = signInUnderTest()
      const { state, cookie } = await subject.begin()
      const error = await thrown(
        subject.request(`/auth/provider/callback${query.replaceAll('STATE', state)}`, {
          headers: { ...browserHeaders, cookie },
        }),
      )
      expect(error).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_state',
        message: 'Invalid state parameter',
      })
      expect(JSON.stringify([error, error.headers, error.advice])).not.toContain('script')
      expect(subject.provider.calls).toEqual([])
      expect(sessionsOf(subject)).toBe(0)
      await subject.finish(state, { headers: { ...browserHeaders, cookie } })
    },
  )

  test('replayed is refused, and the first session stays', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    const headers = { ...browserHeaders, cookie }
    await subject.finish(state, { headers })
    expect(await thrown(subject.finish(state, { headers }))).toMatchObject({ code: 'invalid_state' })
    expect(subject.provider.calls).toHaveLength(1)
    expect(sessionsOf(subject)).toBe(1)
  })

  test('sent twice concurrently calls the identity provider once', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    const results = await Promise.allSettled([1, 2, 3].map(() => subject.finish(state, { headers: { cookie } })))
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(subject.provider.calls).toHaveLength(1)
    expect(sessionsOf(subject)).toBe(1)
  })

  test('is refused in another browser, and still works in the first', async () => {
    const subject = signInUnderTest()
    const [mine, theirs] = [await subject.begin(), await subject.begin()]
    expect(
      await thrown(subject.finish(theirs.state, { headers: { ...browserHeaders, cookie: mine.cookie } })),
    ).toMatchObject({ code: 'invalid_state' })
    expect(await thrown(subject.finish(theirs.state, { headers: browserHeaders }))).toMatchObject({
      code: 'invalid_state',
    })
    expect(subject.provider.calls).toEqual([])
    expect((await subject.finish(theirs.state, { headers: { ...browserHeaders, cookie: theirs.cookie } })).status).toBe(
      302,
    )
  })

  test('of two tabs signs in both times', async () => {
    const subject = signInUnderTest()
    const [one, two] = [await subject.begin(), await subject.begin()]
    const cookie = `${one.cookie}; ${two.cookie}`
    for (const { state } of [two, one])
      expect((await subject.finish(state, { headers: { ...browserHeaders, cookie } })).status).toBe(302)
  })

  test.each([
    [599_999, true],
    [600_000, false],
  ])('%d ms after the start passes: %p', async (ms, passes) => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    subject.host.clock.ms += ms
    const work = subject.finish(state, { headers: { cookie } })
    if (passes) expect((await work).status).toBe(302)
    else expect(await thrown(work)).toMatchObject({ code: 'invalid_state' })
  })

  test('requested with HEAD does not use the state up', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    const headers = { ...browserHeaders, cookie }
    expect(await thrown(subject.finish(state, { method: 'HEAD', headers }))).toMatchObject({
      status: 405,
      headers: { allow: 'GET' },
    })
    expect(subject.provider.calls).toEqual([])
    expect((await subject.finish(state, { headers })).status).toBe(302)
  })

  test.each(
    Object.entries({
      access_denied: new WireError(403, 'permission_error', 'access_denied', 'Access Denied'),
      oauth_exchange_failed: new WireError(400, 'invalid_request_error', 'oauth_exchange_failed', 'no', {
        advice: 'Start again',
        headers: { 'x-own': '1' },
      }),
      identity_provider_unavailable: new WireError(502, 'api_error', 'identity_provider_unavailable', 'away', {
        param: 'p',
        cause: new Error('why'),
      }),
    }),
  )(
    "that ends at the identity provider with %s tells so, uses the state up and deletes the flow's cookie",
    async (_, error) => {
      const subject = signInUnderTest()
      subject.provider.result = error
      const { state, cookie } = await subject.begin()
      const told = await thrown(subject.finish(state, { headers: { ...browserHeaders, cookie } }))
      expect(told.toJSON()).toEqual(error.toJSON())
      expect([told.name, told.status, told.advice, told.cause]).toEqual([
        'WireError',
        error.status,
        error.advice,
        error.cause,
      ])
      expect(told.headers).toEqual({
        ...error.headers,
        'set-cookie': `${cookie.split('=')[0]}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure`,
      })
      expect(sessionsOf(subject)).toBe(0)
      expect(statesOf(subject)).toBe(0)
    },
  )

  test('deletes the flow cookie when the state is invalid', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    subject.host.clock.ms += 600_000
    const { headers } = await thrown(subject.finish(state, { headers: { cookie } }))
    expect(headers['set-cookie']).toBe(`${cookie.split('=')[0]}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure`)
  })

  test('of a user not in restrict_to is 403 "Access Denied", and no session (docs/sign-in.md)', async () => {
    const subject = signInUnderTest()
    subject.provider.result = { ...ada, userName: 'mallory' }
    const { state, cookie } = await subject.begin()
    const error = await thrown(subject.finish(state, { headers: { ...browserHeaders, cookie } }))
    expect(error).toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'access_denied',
      message: 'Access Denied',
    })
    expect(Object.keys(error.headers)).toEqual(['set-cookie'])
    expect(error.headers['set-cookie']).toStartWith('__Host-svc_flow_')
    expect(sessionsOf(subject)).toBe(0)
    expect(JSON.stringify(error)).not.toContain('mallory')
    expect(error.advice).toContain('as mallory. Ask the owner')
    expect(JSON.stringify([error, error.advice])).not.toMatch(/ada|grace/)
    expect(error.wayOn).toEqual({ path: '/auth/provider?another', text: 'Sign in as someone else' })
  })

  test('admits any user without restrict_to', async () => {
    const subject = signInUnderTest(unrestrictedSettings)
    expect(await subject.signIn({ ...ada, userName: 'mallory' })).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  test.each<[string, (token: string) => { readonly cookie?: string; readonly 'x-session-token'?: string }]>([
    ['by cookie', (token: string) => ({ cookie: `token=${token}` })],
    ['by header', (token: string) => ({ 'x-session-token': token })],
  ])('ends the previous session %s, and creates a new one', async (_, shown) => {
    const subject = signInUnderTest()
    const before = await subject.signIn()
    const { state, cookie } = await subject.begin()
    const headers = shown(before)
    const response = await subject.finish(state, {
      headers: { ...headers, cookie: [headers.cookie, cookie].filter((each) => each !== undefined).join('; ') },
    })
    expect(response.headers.get('location')).not.toContain(before)
    expect(sessionsOf(subject)).toBe(1)
    expect(await thrown(subject.request('/auth', { headers }))).toMatchObject({ code: 'invalid_session' })
  })

  test('does not adopt a token that was planted before', async () => {
    const subject = signInUnderTest()
    const planted = randomToken()
    const { state, cookie } = await subject.begin({ headers: { cookie: `token=${planted}` } })
    const response = await subject.finish(state, { headers: { cookie: `token=${planted}; ${cookie}` } })
    expect(response.headers.get('location')).not.toContain(planted)
    expect(await thrown(subject.request('/auth', { headers: { cookie: `token=${planted}` } }))).toMatchObject({
      code: 'invalid_session',
    })
  })

  test('that is refused keeps the previous session', async () => {
    const subject = signInUnderTest()
    const before = await subject.signIn()
    subject.provider.result = { ...ada, userName: 'mallory' }
    const { state, cookie } = await subject.begin()
    await thrown(subject.finish(state, { headers: { cookie: `token=${before}; ${cookie}` } }))
    expect((await subject.request('/auth', { headers: { cookie: `token=${before}` } })).status).toBe(200)
  })

  test('while the store is unavailable is 503, and can be repeated with the same cookie', async () => {
    const subject = signInUnderTest()
    const { state, cookie } = await subject.begin()
    const states = subject.host.stores.get('states')
    if (states !== undefined) states.isAway = true
    const error = await thrown(subject.finish(state, { headers: { cookie } }))
    expect(error).toMatchObject({
      status: 503,
      type: 'overloaded_error',
      code: 'store_unavailable',
      headers: { 'retry-after': '1' },
    })
    if (states !== undefined) states.isAway = false
    expect((await subject.finish(state, { headers: { cookie } })).status).toBe(302)
  })
})

describe('without a client id or secret', () => {
  test.each(['/auth/provider', '/auth/provider/callback', '/auth/provider/callback?code=c&state=x'])(
    '%s is 500 "OAuth not configured" (docs/sign-in.md)',
    async (target) => {
      const subject = signInUnderTest(settingsWithoutClient)
      expect(await thrown(subject.request(target))).toMatchObject({
        status: 500,
        type: 'api_error',
        code: 'oauth_not_configured',
        message: expect.stringContaining('OAuth not configured'),
      })
    },
  )
})

describe('the log', () => {
  test('names users who signed in or were refused, and failures', async () => {
    const subject = signInUnderTest()
    await subject.signIn()
    subject.provider.result = { ...ada, userId: '666', userName: 'mallory' }
    await thrown(subject.finish((await subject.begin({})).state))
    subject.provider.result = new WireError(403, 'permission_error', 'access_denied', 'Access Denied')
    await thrown(subject.finish((await subject.begin({})).state))
    subject.provider.result = new WireError(502, 'api_error', 'identity_provider_unavailable', 'away', {
      cause: new Error('with an access token in it'),
    })
    await thrown(subject.finish((await subject.begin({})).state))
    await thrown(subject.finish((await subject.begin()).state, { headers: browserHeaders }))
    await thrown(subject.request('/auth/provider/callback?state=a&state=b'))
    expect(subject.host.lines).toEqual([
      ['info', 'signed in', { request: 'request-1', user: 'ada', id: '1815' }],
      ['warn', 'sign-in refused', { request: 'request-1', user: 'mallory', id: '666', reason: 'not in restrict_to' }],
      ['warn', 'sign-in refused', { request: 'request-1', reason: 'denied at the identity provider' }],
      [
        'warn',
        'sign-in failed',
        { request: 'request-1', stage: 'identity provider', code: 'identity_provider_unavailable', reason: undefined },
      ],
      [
        'warn',
        'sign-in failed',
        { request: 'request-1', stage: 'state', code: 'invalid_state', reason: 'the flow cookie is missing' },
      ],
      [
        'warn',
        'sign-in failed',
        { request: 'request-1', stage: 'state', code: 'invalid_state', reason: 'malformed callback' },
      ],
    ])
  })

  test('of everything that can happen holds no token, code, state, verifier, cookie or secret', async () => {
    const subject = signInUnderTest()
    const token = await subject.signIn()
    const { state, cookie } = await subject.begin({ headers: { ...browserHeaders, cookie: `token=${token}` } })
    for (const headers of [{}, browserHeaders, { cookie }, { cookie }])
      await subject.finish(state, { headers }).catch(() => undefined)
    await subject.request('/auth/logout', { method: 'POST', headers: { 'x-session-token': token } })
    const logged = JSON.stringify(subject.host.lines)
    const secrets = [
      token,
      state,
      cookie,
      cookie.split('=')[1] ?? '',
      'the-code',
      'verifier-of-the-flow',
      'nonce-of-the-flow',
      'the-secret-of-the-client',
    ]
    expect(subject.host.lines.length).toBeGreaterThan(3)
    for (const secret of secrets) expect(logged).not.toContain(secret)
  })
})
