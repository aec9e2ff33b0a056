import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf } from '../client.ts'
import { cookieParts } from '../fakes/cookie-jar.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { startSignIn, type SignedIn, type SignInRig } from './rig.ts'

/** Responses to browsers, and protection against pages of other sites. */

let rig: SignInRig<Github>, ada: SignedIn
beforeAll(async () => {
  rig = await startSignIn(startGithub)
  ada = await rig.signIn()
})
afterAll(() => rig[Symbol.asyncDispose]())

const cookie = () => ({ cookie: `token=${ada.token}` })

describe('starting to sign in', () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['a script of a page', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }],
    ['a prefetch', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' }],
  ])('by %s › 403, and starts no flow', async (_, headers) => {
    const answer = await rig.get('/auth/provider', headers)
    expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([403, null, []])
  })

  test('by HEAD › starts no flow', async () => {
    const answer = await fetch(`${rig.service.url}/auth/provider`, { method: 'HEAD', redirect: 'manual' })
    expect([answer.headers.getSetCookie(), (answer.headers.get('location') ?? '').includes('state=')]).toEqual([
      [],
      false,
    ])
  })
})

describe('the callback', () => {
  test('deletes the flow cookie on success and failure', async () => {
    for (const query of ['', '&error=access_denied', '&error=server_error']) {
      const browser = rig.browser(),
        callback = await rig.authorize(browser)
      const [flow = ''] = [...browser.jar.cookies(rig.service.url).keys()].filter((name) =>
        name.startsWith('svc_flow_'),
      )
      await browser.visit(`${callback}${query}`)
      expect([query, browser.jar.cookies(rig.service.url).has(flow)]).toEqual([query, false])
    }
  })

  test('ends the previous session, and does not adopt a planted one', async () => {
    const first = await rig.signIn('grace')
    const second = await rig.signIn('grace', first.browser)
    expect([
      (await rig.ask({ 'x-session-token': first.token })).status,
      (await rig.ask({ 'x-session-token': second.token })).status,
    ]).toEqual([401, 200])
    const planted = await rig
      .browser()
      .visit(await rig.authorize(rig.browser({ headers: {} })), { headers: { cookie: `token=${'P'.repeat(43)}` } })
    expect(planted.text).not.toContain('P'.repeat(43))
  })

  test('by POST or by HEAD › does not use the state up', async () => {
    const browser = rig.browser(),
      callback = await rig.authorize(browser)
    expect((await browser.visit(callback, { form: {} })).status).toBe(405)
    await browser.visit(callback, { method: 'HEAD' })
    expect((await browser.visit(callback)).status).toBe(302)
  })
})

describe('every response of sign-in', () => {
  const paths = [
    '/auth',
    '/auth/session',
    '/auth/provider',
    '/auth/provider/callback',
    '/auth/provider/callback?code=a&state=b',
    '/auth/logout',
    '/auth/nothing',
  ]
  const shown = paths.map((path) => [path, 'text/html'] as const)

  test.each([...paths.map((path) => [path, 'application/json'] as const), ...shown])(
    '%s as %s › is not cached, sniffed, framed or told of by Referer; nothing is allowed with credentials',
    async (path, accept) => {
      for (const headers of [{ accept }, { accept, ...cookie() }]) {
        const answer = await rig.get(path, headers)
        expect(
          Object.fromEntries(
            [
              'cache-control',
              'x-content-type-options',
              'referrer-policy',
              'x-frame-options',
              'access-control-allow-credentials',
            ].map((name) => [name, answer.headers.get(name)]),
          ),
        ).toEqual({
          'cache-control': expect.stringContaining('no-store'),
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'x-frame-options': 'DENY',
          'access-control-allow-credentials': null,
        })
        expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      }
    },
  )

  test('POST /auth/logout too', async () => {
    const answer = await fetch(`${rig.service.url}/auth/logout`, { method: 'POST' })
    expect([answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual([
      expect.stringContaining('no-store'),
      'no-referrer',
    ])
    const deleted = answer.headers
      .getSetCookie()
      .map(cookieParts)
      .find(({ name }) => name === 'token')
    expect(deleted).toEqual({
      name: 'token',
      value: '',
      attributes: { path: '/', httponly: true, samesite: 'Lax', 'max-age': '0' },
    })
  })

  test('a 401 has WWW-Authenticate: Bearer realm="svc"', async () => {
    for (const path of ['/auth', '/auth/session', '/v1/models', '/nothing'])
      expect((await rig.get(path)).headers.get('www-authenticate')).toBe('Bearer realm="svc"')
  })
})

describe('the page at /', () => {
  const html = { accept: 'text/html' }

  test('is the same with or without a session and with ?session=…, sets no cookie and holds no token', async () => {
    const pages = [
      await rig.get('/', html),
      await rig.get('/', { ...html, ...cookie() }),
      await rig.get(`/?session=${ada.token}`, html),
    ]
    for (const { status, text, headers } of pages)
      expect([status, headers.get('content-type'), headers.getSetCookie(), text]).toEqual([
        200,
        'text/html; charset=utf-8',
        [],
        pages[0]?.text ?? '',
      ])
    expect(pages[0]?.text).not.toMatch(/ada|Lovelace|session|\/auth/)
  })

  test('removes the token from the address before anything else runs, and allows no foreign sources', async () => {
    const { text, headers } = await rig.get('/', html)
    expect(/<script[^>]*>/.exec(text)?.[0]).toMatch(/^<script src="\/assets\/first-[\w-]+\.js">$/)
    expect(text.indexOf('<script')).toBeLessThan(text.search(/<(?:link|style|body|img)/))
    const policy = headers.get('content-security-policy') ?? ''
    for (const directive of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types offline',
    ])
      expect(policy).toContain(directive)
    expect(/unsafe-inline|unsafe-eval|(?:script|style|connect)-src[^;]*(?:https?:|\*|data:|blob:)/.test(policy)).toBe(
      false,
    )
  })

  test('is revalidated each time, and not sniffed, framed or sent as Referer', async () => {
    for (const path of ['/', '/?session=x']) {
      const { headers } = await rig.get(path, html)
      expect(
        Object.fromEntries(
          [
            'cache-control',
            'x-content-type-options',
            'referrer-policy',
            'x-frame-options',
            'access-control-allow-origin',
          ].map((name) => [name, headers.get(name)]),
        ),
      ).toEqual({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'access-control-allow-origin': null,
      })
    }
  })
})

describe('an unsafe request with the cookie', () => {
  const own = () => rig.service.url

  test.each<readonly [string, () => Readonly<Record<string, string>>, number]>([
    ['from another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['with the Origin of another', () => ({ origin: 'https://evil.example' }), 403],
    ['from the service’s own page', () => ({ 'sec-fetch-site': 'same-origin', origin: own() }), 200],
    ['from curl, which tells neither', () => ({}), 200],
  ])('%s', async (_, headers, status) => {
    const chat = await rig.ask({ ...cookie(), ...headers() })
    expect([chat.status, errorOf(chat)?.code]).toEqual([status, status === 403 ? 'cross_site_request' : undefined])
    const { token } = await rig.signIn('grace')
    const out = await fetch(`${rig.service.url}/auth/logout`, {
      method: 'POST',
      headers: { cookie: `token=${token}`, ...headers() },
    })
    expect([out.status, (await rig.ask({ 'x-session-token': token })).status]).toEqual([
      status,
      status === 403 ? 200 : 401,
    ])
  })

  test('with a token in a header › needs only an allowed Origin', async () => {
    const token = { 'x-session-token': ada.token, 'sec-fetch-site': 'cross-site' }
    expect((await rig.ask(token)).status).toBe(200)
    const chat = await rig.ask({ ...token, origin: 'https://evil.example' })
    expect([chat.status, errorOf(chat)?.code]).toEqual([403, 'origin_not_allowed'])
  })
})

describe('pages of other origins', () => {
  test('are refused; those of SVC_CORS_ORIGINS are allowed, without credentials', async () => {
    await using open = await startSignIn(startGithub, { environment: { SVC_CORS_ORIGINS: 'https://app.example' } })
    const { token } = await open.signIn()
    const asked = async (origin: string) => {
      const { status, headers } = await open.ask({ authorization: `Bearer ${token}`, origin })
      return [status, headers.get('access-control-allow-origin')]
    }
    expect(await asked('https://app.example')).toEqual([200, 'https://app.example'])
    for (const origin of ['https://evil.example', 'http://localhost:3000', 'app://obsidian.md'])
      expect(await asked(origin)).toEqual([403, null])
    const preflight = await fetch(`${open.service.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })
})
