import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerOf, errorOf, rawRequest } from '../client.ts'
import { type Page } from '../fakes/browser.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { startSignIn, type SignedIn, type SignInRig } from './rig.ts'

let rig: SignInRig<Github>, ada: SignedIn
beforeAll(async () => {
  rig = await startSignIn(startGithub)
  ada = await rig.signIn()
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Part of every input; responses must not contain it. */
const marker = 'zqxzq<script>alert(7)</script>'
const encodedMarker = encodeURIComponent(marker)

/** Whether a page contains part of the marker, in any encoding. */
function reflected({ text, headers }: Pick<Page, 'text' | 'headers'>): boolean {
  return [text, ...headers.values()].some((shown) => /zqxzq|alert\(7\)/.test(shown))
}

/** Sends the callback of a new flow; `{state}` and `{code}` are replaced by the correct values. */
async function callbackWith(query: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
  const browser = rig.browser(),
    right = new URL(await rig.authorize(browser)).searchParams
  const filled = query.replaceAll('{state}', right.get('state') ?? '').replaceAll('{code}', right.get('code') ?? '')
  rig.provider.heal()
  return browser.visit(`${rig.service.url}/auth/provider/callback${filled}`, { headers })
}

/** Whether a response contains a session. */
function isSignedIn(page: Page): boolean {
  return (
    page.headers.getSetCookie().some((line) => /^token=[^;]/.test(line)) || (page.location ?? '').includes('session=')
  )
}

describe('a callback with an invalid state › 400, no session, no token request', () => {
  test.each([
    ['without anything', ''],
    ['with script for a state', `?code={code}&state=${encodedMarker}`],
    ['with a doubled state', '?code={code}&state={state}&state={state}'],
    ['with a state and CR LF', '?code={code}&state={state}%0d%0aset-cookie:%20zqxzq=1'],
    ['with a state of no UTF-8', '?code={code}&state=%ff%fe'],
    ['with access_denied, and an unknown state', '?error=access_denied&state=unknown'],
    ['with a state in the path', '/{state}?code={code}'],
  ])('%s', async (name, query) => {
    const page = await callbackWith(query, { accept: 'application/json' })
    const expected = name === 'with a state in the path' ? [404, 'not_found'] : [400, 'invalid_state']
    const error = errorOf(answerOf(page, page.text))
    expect([page.status, error?.code]).toEqual([...expected])
    if (page.status === 400) expect(error?.message).toBe('Invalid state parameter')
    expect([reflected(page), isSignedIn(page), rig.provider.asked('token').length]).toEqual([false, false, 0])
  })

  test('longer than the limit of a request line › refused before routing', async () => {
    const text = await rawRequest(
      rig.service.port,
      `GET /auth/provider/callback?code=x&state=${'s'.repeat(40_000)} HTTP/1.1\r\n` +
        'host: 127.0.0.1\r\nconnection: close\r\n\r\n',
    )
    expect(text).toMatch(/^HTTP\/1\.1 (?:400|414|431) /)
  })

  test.each([
    ['before its query', (code: string, state: string) => `#x?code=${code}&state=${state}`],
    ['after its query', (code: string, state: string) => `?code=${code}&state=${state}#x`],
  ])('with a fragment %s › 400, and the state is not used up', async (_, targetOf) => {
    const browser = rig.browser(),
      callback = new URL(await rig.authorize(browser))
    const target = targetOf(callback.searchParams.get('code') ?? '', callback.searchParams.get('state') ?? '')
    const head = `host: 127.0.0.1\r\ncookie: ${browser.jar.header(rig.service.url) ?? ''}\r\nconnection: close\r\n\r\n`
    rig.provider.heal()
    const text = await rawRequest(rig.service.port, `GET /auth/provider/callback${target} HTTP/1.1\r\n${head}`)
    expect([text.startsWith('HTTP/1.1 400 '), rig.provider.asked('token').length]).toEqual([true, 0])
    expect((await browser.visit(callback.href)).status).toBe(302)
  })

  test('in another browser › 400, and the first browser can continue', async () => {
    const owner = rig.browser(),
      callback = await rig.authorize(owner)
    rig.provider.heal()
    const stranger = await rig.browser().visit(callback)
    const other = rig.browser()
    await rig.authorize(other)
    const withOtherFlow = await other.visit(callback)
    expect([stranger.status, withOtherFlow.status, rig.provider.asked('token').length]).toEqual([400, 400, 0])
    expect((await owner.visit(callback)).status).toBe(302)
  })
})

describe('a callback with a valid state', () => {
  test.each([
    ['without a code', '?state={state}', 400, 'missing_code'],
    [
      'with access_denied',
      `?state={state}&error=access_denied&error_description=${encodedMarker}&error_uri=javascript:alert(7)`,
      403,
      'access_denied',
    ],
    [
      'with server_error',
      `?state={state}&error=server_error&error_description=${encodedMarker}`,
      502,
      'identity_provider_unavailable',
    ],
    ['with script for an error', `?state={state}&error=${encodedMarker}`, 400, 'identity_provider_error'],
    ['with a doubled code', '?state={state}&code={code}&code={code}', 400, undefined],
    ['with CR LF in the code', '?state={state}&code=zqxzq%0d%0ax-zqxzq:%201', 400, undefined],
  ] as const)('%s › %s: %d', async (_, query, status, code) => {
    const page = await callbackWith(query, { accept: 'application/json' })
    const error = errorOf(answerOf(page, page.text))
    expect([page.status, error?.code]).toEqual([status, code ?? expect.any(String)])
    expect([reflected(page), isSignedIn(page)]).toEqual([false, false])
    if (!query.includes('code=zqxzq')) expect(rig.provider.asked('token')).toEqual([])
  })

  test('with an error › uses the state up', async () => {
    const browser = rig.browser(),
      callback = new URL(await rig.authorize(browser))
    const state = callback.searchParams.get('state') ?? ''
    expect(
      (await browser.visit(`${rig.service.url}/auth/provider/callback?state=${state}&error=access_denied`)).status,
    ).toBe(403)
    expect((await browser.visit(callback.href)).status).toBe(400)
  })

  test('a browser gets errors as a page with the same text, a link back and no scripts', async () => {
    const page = await callbackWith(`?state=${encodedMarker}&error=${encodedMarker}`)
    expect([page.status, page.headers.get('content-type')]).toEqual([400, expect.stringContaining('text/html')])
    expect(page.text).toContain('Invalid state parameter')
    expect(page.text).toContain('href="/"')
    expect([reflected(page), /<script/i.test(page.text)]).toEqual([false, false])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })
})

describe('credentials', () => {
  const long = 'z'.repeat(9_000)

  test.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['a thousand cookies', { cookie: Array.from({ length: 1_000 }, (_, index) => `c${index}=zqxzq`).join('; ') }, 401],
    ['a malformed cookie header', { cookie: ';;;=;,token==;token;' }, 401],
    ['a long Bearer', { authorization: `Bearer ${long}` }, 401],
    ['a state for a session', { 'x-session-token': 'A'.repeat(43) }, 401],
  ])('%s › 401, without any of the input', async (_, headers, status) => {
    const answer = await rig.get('/v1/models', headers)
    expect([answer.status, errorOf(answer)?.type, reflected(answer)]).toEqual([status, 'authentication_error', false])
    expect((await fetch(`${rig.service.url}/health`)).status).toBe(200)
  })

  /** Status with these headers; `{token}` is replaced by the session token. */
  async function statusWith(headers: Readonly<Record<string, string>>): Promise<number> {
    return (
      await rig.get(
        '/v1/models',
        Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{token}', ada.token)]),
        ),
      )
    ).status
  }

  test.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['X-Session-Token', { 'x-session-token': '{token}' }, 200],
    ['Bearer', { authorization: 'Bearer {token}' }, 200],
    ['the cookie', { cookie: 'token={token}' }, 200],
    ['two cookies token with different values: no user', { cookie: 'token={token}; token=other' }, 401],
    [
      'a wrong X-Session-Token and a valid cookie: no fallback',
      { 'x-session-token': 'wrong', cookie: 'token={token}' },
      401,
    ],
    [
      'a wrong Bearer and a valid cookie: an ignored API key',
      { authorization: 'Bearer wrong', cookie: 'token={token}' },
      200,
    ],
    ['a wrong x-api-key', { 'x-api-key': '{token}x' }, 401],
  ])('%s', async (_, headers, status) => {
    expect(await statusWith(headers)).toBe(status)
  })

  test('two Authorization headers, and bytes that are not text › cause no error', async () => {
    for (const lines of [
      `authorization: Bearer a\r\nauthorization: Bearer ${ada.token}`,
      'authorization: Bearer \xff\xfe',
      'cookie: token=\xff\xfe\x80',
      'x-session-token: \xc3\x28',
    ]) {
      const text = await rawRequest(
        rig.service.port,
        Buffer.from(`GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines}\r\nconnection: close\r\n\r\n`, 'latin1'),
      )
      expect([lines.slice(0, 20), /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? '']).toEqual([
        lines.slice(0, 20),
        expect.stringMatching(/^40[01]$/),
      ])
    }
  })
})

const forwarding = {
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-host': 'zqxzq.example',
  'x-forwarded-proto': 'https',
  forwarded: 'for=127.0.0.1;host=zqxzq.example;proto=https',
  'x-real-ip': '127.0.0.1',
}

describe('headers that contradict the request', () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['X-Original-URL', { 'x-original-url': '/health' }],
    ['X-Rewrite-URL', { 'x-rewrite-url': '/auth' }],
    ['X-Forwarded-Uri', { 'x-forwarded-uri': '/health' }],
    ['X-Forwarded-Prefix', { 'x-forwarded-prefix': '/auth' }],
    ['X-Forwarded-*', forwarding],
    [
      'X-Forwarded-User',
      { 'x-forwarded-user': 'ada', 'x-remote-user': 'ada', 'remote-user': 'ada', 'x-auth-request-user': 'ada' },
    ],
    [
      'X-HTTP-Method-Override',
      { 'x-http-method-override': 'OPTIONS', 'x-http-method': 'OPTIONS', 'x-method-override': 'OPTIONS' },
    ],
    ['a user agent that is let through elsewhere', { 'user-agent': 'GoogleHC/1.0 kube-probe/1.30' }],
    ['a preflight’s headers', { 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-a' }],
  ])('%s › are ignored', async (_, headers) => {
    for (const path of ['/v1/models', '/metrics', '/nothing']) expect((await rig.get(path, headers)).status).toBe(401)
    expect((await rig.ask(headers)).status).toBe(401)
  })

  test('X-HTTP-Method-Override: POST › ends no session by GET', async () => {
    const { token } = await rig.signIn('grace')
    await rig.get('/auth/logout', { 'x-session-token': token, 'x-http-method-override': 'POST' })
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
  })

  test('forwarding headers › do not affect the sign-in', async () => {
    const page = await rig
      .browser()
      .visit(`${rig.service.url}/auth/provider`, { headers: { ...forwarding, 'x-forwarded-port': '443' } })
    expect(new URL(page.location ?? 'about:nowhere').searchParams.get('redirect_uri')).toBe(
      rig.registration.redirectUri,
    )
    expect(page.headers.getSetCookie().some((line) => /secure/i.test(line))).toBe(false)
    const browser = rig.browser(),
      back = await browser.visit(await rig.authorize(browser), { headers: forwarding })
    expect([back.status, back.headers.get('location')]).toEqual([302, expect.stringMatching(/^\/\?session=/)])
  })
})

describe('path tricks', () => {
  const tricks = (path: string) => [
    path,
    `/${path}`,
    `//${path}`,
    `${path}/`,
    `${path}//`,
    `${path}.`,
    `${path}..`,
    `${path}%20`,
    `${path}%00`,
    `${path};`,
    `${path};a=/health`,
    `${path}?/health`,
    `${path}%3f/auth`,
    `${path}#/health`,
    path.toUpperCase(),
    path.replace(/\/(\w)/g, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`),
    path.replaceAll('/', '%2f'),
    path.replaceAll('/', '%2F'),
    path.replaceAll('/', '\\'),
    path.replaceAll('/', '%5c'),
    `/.${path}`,
    `/%2e${path}`,
    `/..${path}`,
    `/%2e%2e${path}`,
    `/auth/..${path}`,
    `/auth/../..${path}`,
    `/auth/%2e%2e${path}`,
    `/auth/%2E%2E${path}`,
    `/auth/..%2f${path.slice(1)}`,
    `/auth/..%5c${path.slice(1)}`,
    `/auth/..;${path}`,
    `/auth;/..${path}`,
    `/auth/provider/..\\..\\..${path}`,
    `/auth${path}`,
    `/health${path}`,
    `/health/..${path}`,
    `/health%2f..${path}`,
    `/ready/..;${path}`,
    `/./${path}`,
    `/auth/.%2e${path}`,
    `/auth/%252e%252e${path}`,
    `http://127.0.0.1${path}`,
    `http://127.0.0.1/auth/..${path}`,
    `https://health${path}`,
    `*${path}`,
    `@${path}`,
  ]

  test.each(['/v1/models', '/metrics', '/v1/chat/completions'])(
    'to %s › never reach it without a session',
    async (path) => {
      const method = path.endsWith('completions') ? 'POST' : 'GET'
      const body = method === 'POST' ? '{"model":"m","messages":[{"role":"user","content":"hello"}]}' : ''
      const answers = await Promise.all(
        tricks(path).map(
          async (target) =>
            [
              target,
              await rawRequest(
                rig.service.port,
                `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n` +
                  `${body === '' ? '' : `content-length: ${body.length}\r\n`}connection: close\r\n\r\n${body}`,
              ),
            ] as const,
        ),
      )
      const passed = answers.filter(
        ([, text]) => !/^HTTP\/1\.1 40[0145] /.test(text) || /"object":|svc_requests_total/.test(text),
      )
      expect(passed.map(([target, text]) => `${target}: ${text.slice(0, 60)}`)).toEqual([])
      const unauthorised = answers.filter(([, text]) => text.startsWith('HTTP/1.1 401 '))
      expect(unauthorised.length).toBeGreaterThan(20)
    },
  )

  test('with a session, the plain path exists', async () => {
    expect([
      (await rig.get('/v1/models', { 'x-session-token': ada.token })).status,
      (await rig.get('/metrics', { 'x-session-token': ada.token })).status,
    ]).toEqual([200, 200])
  })
})

test('the service is alive afterwards', async () => {
  expect((await rig.signIn()).page.status).toBe(302)
  expect((await rig.get('/ready')).status).toBe(200)
})
