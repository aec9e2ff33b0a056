import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf } from '../client.ts'
import type { Page } from '../fakes/browser.ts'
import { cookieParts } from '../fakes/cookie-jar.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { register, startSignIn, tokenIn, type SignInRig } from './rig.ts'

/**
 * The contract of sign-in, row by row: states and sessions, settings, errors (docs/sign-in.md). Rows about time are in
 * clock.test.ts, rows about the start in misconfigured.test.ts.
 */

const urlSafe32Bytes = /^[A-Za-z0-9_-]{43}$/

let rig: SignInRig<Github>
beforeAll(async () => {
  rig = await startSignIn(startGithub)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The URL that the start of a sign-in redirects to. */
async function begun(): Promise<URL> {
  const { location } = await rig.browser().visit(`${rig.service.url}/auth/provider`)
  return new URL(location ?? 'about:nowhere')
}

/** The cookie `token` of a response. */
function tokenCookie(page: Page): ReturnType<typeof cookieParts> | undefined {
  return page.headers
    .getSetCookie()
    .map(cookieParts)
    .find(({ name }) => name === 'token')
}

describe('states and sessions', () => {
  test('State token | GET /auth/provider | issued | Redirect to the identity provider with the token', async () => {
    const [first, second] = [await begun(), await begun()]
    expect(`${first.origin}${first.pathname}`).toBe(`${rig.provider.url}/login/oauth/authorize`)
    const states = [first, second].map(({ searchParams }) => searchParams.get('state') ?? '')
    expect(states.map((state) => urlSafe32Bytes.test(state))).toEqual([true, true])
    expect(new Set(states).size).toBe(2)
  })

  test("State token | callback | token unknown | rejected | Error 'Invalid state parameter'", async () => {
    rig.provider.heal()
    const answer = await rig.get('/auth/provider/callback?code=x&state=unknown')
    expect([answer.status, errorOf(answer)?.code, errorOf(answer)?.message]).toEqual([
      400,
      'invalid_state',
      'Invalid state parameter',
    ])
    expect(rig.provider.asked('token')).toEqual([])
  })

  test('POST /auth/logout without a session › succeeds; GET is not allowed, and ends no session', async () => {
    const { token } = await rig.signIn()
    expect((await fetch(`${rig.service.url}/auth/logout`, { method: 'POST' })).status).toBe(200)
    const got = await rig.get('/auth/logout', { 'x-session-token': token })
    expect([got.status, errorOf(got)?.code, got.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      expect.stringContaining('POST'),
    ])
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
  })
})

describe('the settings', () => {
  test('Environment variable SVC_AUTH=provider_auth › sign-in is on', async () => {
    await using byVariable = await startSignIn(startGithub, {
      environment: { SVC_AUTH: 'provider_auth' },
      isOnByFlag: false,
    })
    expect((await byVariable.ask()).status).toBe(401)
    expect((await byVariable.signIn()).page.status).toBe(302)
  })

  test('redirect_uri | must equal the registered value › sent as in the file, for any request', async () => {
    const page = await rig
      .browser()
      .visit(
        `${rig.service.url}/auth/provider?redirect_uri=https%3A%2F%2Fevil.example%2F&client_id=evil` +
          '&scope=admin&state=chosen',
        {
          headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
        },
      )
    const { searchParams } = new URL(page.location ?? 'about:nowhere')
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: rig.registration.clientId,
      redirect_uri: rig.registration.redirectUri,
      scope: 'read:user user:email',
      state: expect.stringMatching(urlSafe32Bytes),
      code_challenge: expect.stringMatching(urlSafe32Bytes),
      code_challenge_method: 'S256',
    })
  })

  test('A value beginning with $ is resolved from that environment variable, such as PROVIDER_USERS', async () => {
    const registration = register()
    await using resolved = await startSignIn(startGithub, {
      registration,
      config: {
        client_id: '$PROVIDER_CLIENT_ID',
        client_secret: '$PROVIDER_CLIENT_SECRET',
        restrict_to: '$PROVIDER_USERS',
      },
      environment: {
        PROVIDER_CLIENT_ID: registration.clientId,
        PROVIDER_CLIENT_SECRET: registration.clientSecret,
        PROVIDER_USERS: 'grace, ADA bob',
      },
    })
    for (const person of ['ada', 'grace', 'bob', 'Bob']) expect((await resolved.signIn(person)).page.status).toBe(302)
    const browser = resolved.browser()
    expect((await browser.visit(await resolved.authorize(browser, 'mallory'))).status).toBe(403)
  })

  test('Session token: 32 random bytes, URL-safe; valid 24 hours; as cookie token', async () => {
    const { page, token } = await rig.signIn()
    expect(token).toMatch(urlSafe32Bytes)
    expect(tokenCookie(page)).toEqual({
      name: 'token',
      value: token,
      attributes: { path: '/', httponly: true, samesite: 'Lax', 'max-age': '86400' },
    })
  })

  test('held in memory only (lost on restart; not shared between instances)', async () => {
    const { token } = await rig.signIn()
    await using other = await startSignIn(startGithub)
    expect((await other.ask({ 'x-session-token': token })).status).toBe(401)
    other.remember(token)
  })

  test('Callback URL for production uses the public HTTPS domain › the cookies are Secure', async () => {
    const registration = { ...register(), redirectUri: 'https://svc.example/auth/provider/callback' }
    await using secure = await startSignIn(startGithub, { registration, port: 0 })
    const begun = await secure.browser().visit(`${secure.service.url}/auth/provider`)
    const [flow] = begun.headers.getSetCookie().map(cookieParts)
    expect(flow?.name).toStartWith('__Host-')
    expect(flow?.attributes).toMatchObject({ secure: true, httponly: true, path: '/', samesite: 'Lax' })
    // Sent by hand, because a browser would not send it over http.
    const callback = new URL(await secure.provider.approve(secure.browser(), begun.location ?? '', 'ada'))
    const page = await secure.browser().visit(`${secure.service.url}${callback.pathname}${callback.search}`, {
      headers: { cookie: `${flow?.name ?? ''}=${flow?.value ?? ''}` },
    })
    expect(tokenCookie(page)).toMatchObject({ value: tokenIn(page), attributes: { secure: true } })
  })
})

describe('errors', () => {
  test.each([
    ['/auth', { 'x-session-token': 'unknown' }],
    ['/auth/session', {}],
    ['/auth/session', { cookie: 'token=unknown' }],
    ['/v1/models', { cookie: 'token=unknown' }],
    ['/v1/models', { 'x-session-token': 'unknown' }],
  ])("Session token unknown | 'Invalid or expired session' › %s with %j", async (path, headers) => {
    const answer = await rig.get(path, headers)
    expect([answer.status, errorOf(answer)?.code, errorOf(answer)?.message]).toEqual([
      401,
      'invalid_session',
      'Invalid or expired session',
    ])
  })

  test("Username not in restrict_to | 'Access Denied'; HTTP 403 Forbidden", async () => {
    await using restricted = await startSignIn(startGithub, { config: { restrict_to: 'grace' } })
    const browser = restricted.browser()
    const callback = await restricted.authorize(browser, 'ada')
    const page = await browser.visit(callback, { headers: { accept: 'application/json' } })
    expect([page.status, JSON.parse(page.text)]).toMatchObject([
      403,
      { error: { type: 'permission_error', code: 'access_denied', message: expect.stringContaining('Access Denied') } },
    ])
    expect([page.text.includes('grace'), tokenCookie(page)]).toEqual([false, undefined])
    expect((await restricted.signIn('Grace')).page.status).toBe(302)
    await restricted.logged('"level":"warn"', '"message":"sign-in refused"', '"user":"ada"')
  })
})
