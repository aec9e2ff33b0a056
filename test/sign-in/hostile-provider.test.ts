import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { answerOf, errorOf, pick } from '../client.ts'
import type { Page } from '../fakes/browser.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { startGithub, type Github, type GithubPlace } from '../fakes/identity/github.ts'
import { startMockServer, type MockFaults, type MockServer } from '../fakes/identity/mock-server.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { residentMb } from '../fakes/memory.ts'
import { head, reply } from '../fakes/replies.ts'
import { register, startSignIn, type SignInRig } from './rig.ts'

/**
 * Misbehaviour of an identity provider: the service answers with the documented status, without a session and without
 * the provider's text, and stays alive.
 */

const marker = 'zqxzq<script>'

function says(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Script {
  return (exchange) => exchange.write(reply(status, typeof body === 'string' ? body : JSON.stringify(body), headers))
}

/** A JSON text with half a gigabyte of spaces, in pieces. */
const huge: Script = async (exchange) => {
  await exchange.write(head(200, { 'content-type': 'application/json', 'content-length': String(512 << 20) }))
  const piece = Buffer.alloc(1 << 20, ' ')
  for (let pieces = 0; pieces < 512; pieces++) await exchange.write(piece)
}

const drips: Script = async (exchange) => {
  await exchange.write(head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }))
  for (;;) {
    await exchange.write('1\r\n \r\n')
    await exchange.pause(100)
  }
}

const page = '<!doctype html><title>zqxzq</title><script>alert(7)</script>'
const html = says(page, 200, { 'content-type': 'text/html' })
const bomb: Script = (exchange) =>
  exchange.write(reply(200, gzipSync(Buffer.alloc(64 << 20, ' ')), { 'content-encoding': 'gzip' }))

/** Failures of all endpoints. */
const anywhere: readonly (readonly [string, Script, number])[] = [
  ['redirects (302)', says('', 302, { location: 'http://127.0.0.1:1/stolen' }), 502],
  ['redirects (307) to itself', says('', 307, { location: '/login/oauth/access_token' }), 502],
  ['hangs', (exchange) => exchange.hang(), 504],
  ['drips', drips, 504],
  ['answers HTML', html, 502],
  ['answers HTML as JSON', says(page), 502],
  ['answers 512 MB', huge, 502],
  ['answers 64 MB in 64 KB', bomb, 502],
  ['answers nothing', says(''), 502],
  ['answers null', says('null'), 502],
  ['answers an array', says('[]'), 502],
  ['answers a text', says(`"${marker}"`), 502],
  ['answers a number', says('1'), 502],
  ['answers half an object', says('{"access_token":"zqxzq'), 502],
  ['answers bytes that are no text', (exchange) => exchange.write(reply(200, Uint8Array.of(0xff, 0xfe, 0x00))), 502],
  ['answers 500', says({ message: marker }, 500), 502],
  ['answers 503', says(page, 503, { 'content-type': 'text/html' }), 502],
  ['answers 429', says('', 429, { 'retry-after': '60' }), 502],
  ['answers 404', says({ message: 'Not Found' }, 404), 502],
  ['closes at once', (exchange) => exchange.close(), 502],
  ['resets', (exchange) => exchange.reset(), 502],
  [
    'closes in the middle',
    async (exchange) => {
      await exchange.write(`${head(200, { 'content-type': 'application/json', 'content-length': '500' })}{"id":1,`)
      exchange.close()
    },
    502,
  ],
  [
    'speaks no HTTP',
    async (exchange) => {
      await exchange.write('zqxzq zqxzq zqxzq\r\n\r\n')
      exchange.close()
    },
    502,
  ],
]

const token = { access_token: 'zqxzq-not-a-token', token_type: 'bearer', scope: 'read:user' }
const refusalOf = (error: string) => ({ error, error_description: marker, error_uri: 'javascript:alert(7)' })

/** Failures of the token endpoint. */
const ofToken: readonly (readonly [string, Script, number, string?])[] = [
  ['refuses the code with 200', says(refusalOf('bad_verification_code')), 400, 'oauth_exchange_failed'],
  ['refuses the code with 400', says(refusalOf('invalid_grant'), 400), 400, 'oauth_exchange_failed'],
  ['does not know the client, with 200', says(refusalOf('incorrect_client_credentials')), 500, 'oauth_not_configured'],
  ['does not know the client, with 401', says(refusalOf('invalid_client'), 401), 500, 'oauth_not_configured'],
  ['gives no access_token', says({ ...token, access_token: undefined }), 502],
  ['gives null for an access_token', says({ ...token, access_token: null }), 502],
  ['gives an empty access_token', says({ ...token, access_token: '' }), 502],
  ['gives a number for an access_token', says({ ...token, access_token: 5 }), 502],
  ['gives an access_token with CR LF', says({ ...token, access_token: 'zqxzq\r\nx-evil: 1' }), 502],
  ['gives no token_type', says({ ...token, token_type: undefined }), 502],
  ['gives a token of another type', says({ ...token, token_type: 'mac' }), 502],
]

const profile = { login: 'mallory', id: 7, name: 'M', avatar_url: null, email: null }

/** Failures of the user endpoint. */
const ofUser: readonly (readonly [string, Script, number])[] = [
  ['answers 401', says({ message: 'Bad credentials' }, 401), 502],
  ['answers 403', says({ message: 'rate limit' }, 403), 502],
  ['answers 200 with an error', says({ message: 'Bad credentials', documentation_url: 'zqxzq' }), 502],
  ['tells no id', says({ ...profile, id: undefined }), 502],
  ['tells null for an id', says({ ...profile, id: null }), 502],
  ['tells an empty id', says({ ...profile, id: '' }), 502],
  ['tells an object for an id', says({ ...profile, id: {} }), 502],
  ['tells true for an id', says({ ...profile, id: true }), 502],
  ['tells an id with CR LF', says({ ...profile, id: '7\r\nzqxzq' }), 502],
  ['tells no user name', says({ ...profile, login: undefined }), 502],
  ['tells null for a user name', says({ ...profile, login: null }), 502],
  ['tells an empty user name', says({ ...profile, login: '' }), 502],
  ['tells a number for a user name', says({ ...profile, login: 5 }), 502],
  ['tells an array for a user name', says({ ...profile, login: ['ada'] }), 502],
  ['tells an object for a user name', says({ ...profile, login: { toString: 'ada' } }), 502],
  ['tells blanks for a user name', says({ ...profile, login: '   ' }), 502],
  ['has its user name under __proto__ only', says(`{"id":7,"__proto__":{"login":"ada"}}`), 502],
]

describe('plain OAuth 2.0', () => {
  let rig: SignInRig<Github>
  beforeAll(async () => {
    rig = await startSignIn(startGithub)
  })
  afterAll(async () => {
    // The service still works, and its memory use is small.
    expect((await rig.signIn()).page.status).toBe(302)
    if (process.platform === 'linux') expect(residentMb(rig.service.pid)).toBeLessThan(400)
    await rig[Symbol.asyncDispose]()
  })

  /** Sends the callback while an endpoint of the identity provider misbehaves. */
  async function comeBack(place: GithubPlace, name: string, script: Script): Promise<Page> {
    const person = `${place} ${name}`,
      browser = rig.browser()
    rig.provider.use(place, person, script)
    return browser.visit(await rig.authorize(browser, person), { headers: { accept: 'application/json' } })
  }

  function expectRefusal(back: Page, status: number, code: string): void {
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([status, code])
    expect(back.headers.getSetCookie().filter((line) => /^token=[^;]/.test(line))).toEqual([])
    expect([back.text, ...back.headers.values()].filter((shown) => /zqxzq|alert|Bad credentials/.test(shown))).toEqual(
      [],
    )
  }

  for (const place of ['token', 'user'] as const) {
    test.concurrent.each(anywhere.map((row) => [...row] as const))(
      `the ${place} endpoint %s › no session`,
      async (name, script, status) => {
        expectRefusal(await comeBack(place, name, script), status, 'identity_provider_unavailable')
      },
      15_000,
    )
  }

  test.concurrent.each(
    ofToken.map(
      ([name, script, status, code = 'identity_provider_unavailable']) => [name, script, status, code] as const,
    ),
  )('the token endpoint %s › no session', async (name, script, status, code) => {
    expectRefusal(await comeBack('token', name, script), status, code)
  })

  test.concurrent.each(ofUser.map((row) => [...row] as const))(
    'the user endpoint %s › no session',
    async (name, script, status) => {
      expectRefusal(await comeBack('user', name, script), status, 'identity_provider_unavailable')
    },
  )

  test.concurrent.each<readonly [string, Script]>([
    ['fails', says('', 500)],
    ['answers HTML', html],
    ['answers null', says('null')],
    ['answers an object', says('{}')],
    ['answers 512 MB', huge],
    ['redirects', says('', 302, { location: '/' })],
    ['resets', (exchange) => exchange.reset()],
    [
      'tells odd things',
      says([
        null,
        5,
        {},
        { email: 5, primary: true, verified: true },
        { email: 'a@zqxzq.example', primary: 'yes', verified: true },
      ]),
    ],
    ['sends an unverified address', says([{ email: 'ada@victim.example', primary: true, verified: false }])],
  ])('the e-mail list %s › signed in, without an address', async (name, script) => {
    const back = await comeBack('emails', name, script)
    const session = new URL(back.location ?? 'about:nowhere').searchParams.get('session') ?? ''
    expect(pick((await rig.get('/auth', { 'x-session-token': session })).json, 'email')).toBe('')
  })

  test.concurrent.each<readonly [string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]>([
    ['a number for a name', { name: 5 }, { displayName: 'ada' }],
    ['an empty name', { name: '' }, { displayName: 'ada' }],
    ['an object for a name', { name: {} }, { displayName: 'ada' }],
    ['script for a name', { name: '<img src=x onerror=alert(7)>' }, { displayName: '<img src=x onerror=alert(7)>' }],
    ['a javascript: avatar', { avatar_url: 'javascript:alert(7)' }, { profileUrl: '' }],
    ['a javascript: avatar with a line break in it', { avatar_url: 'java\nscript:alert(7)' }, { profileUrl: '' }],
    ['a data: avatar', { avatar_url: 'data:text/html,x' }, { profileUrl: '' }],
    ['a relative avatar', { avatar_url: '//evil.example/x' }, { profileUrl: '' }],
    ['a number for an avatar', { avatar_url: 5 }, { profileUrl: '' }],
    [
      'an avatar over http',
      { avatar_url: 'http://pictures.example/a.png' },
      { profileUrl: 'http://pictures.example/a.png' },
    ],
    ['a number for an address', { email: 5 }, { email: 'ada@new.example' }],
    ['an address of its own', { email: 'ada@public.example' }, { email: 'ada@public.example' }],
    ['an id as text', { id: 'u-7' }, { userId: 'u-7' }],
    ['a large id', { id: 9_007_199_254_740_991 }, { userId: '9007199254740991' }],
    ['members that were not requested', { userId: 'root', userName: 'root', isAdmin: true }, { userName: 'ada' }],
  ])('the profile has %s › is read as specified', async (name, odd, expected) => {
    const person = `odd ${name}`,
      browser = rig.browser()
    rig.provider.use('user', person, says({ ...rig.provider.profile('ada'), ...odd }))
    rig.provider.use('emails', person, says([{ email: 'ada@new.example', primary: true, verified: true }]))
    const { token } = await rig.signIn(person, browser)
    expect((await rig.get('/auth', { 'x-session-token': token })).json).toMatchObject(expected)
  })

  test('the profile has control and bidirectional characters › they split no log line and no header', async () => {
    const person = 'breaks'
    rig.provider.use(
      'user',
      person,
      says({
        login: 'ada',
        id: 8,
        name: 'A\r\nset-cookie: zqxzq=1\u001b[31m\u202ezqxzq\ud800',
        avatar_url: null,
        email: 'a@b.example\r\nzqxzq',
      }),
    )
    const { page: back, token } = await rig.signIn(person)
    const { text, json } = await rig.get('/auth', { 'x-session-token': token })
    expect([
      back.headers.get('zqxzq'),
      /[\u0000-\u001f\u007f]/.test(String(pick(json, 'displayName')) + String(pick(json, 'email'))),
    ]).toEqual([null, false])
    expect(JSON.parse(text)).toMatchObject({ userName: 'ada' })
    await rig.ask({ 'x-session-token': token })
    await rig.logged('"message":"request"', '"user":"ada"')
    expect(rig.service.output).not.toContain('\u001b')
  })

  test('the user name contains CR or LF › does not equal the name without', async () => {
    await using restricted = await startSignIn(startGithub, { config: { restrict_to: 'ada' } })
    for (const login of [
      'ad\r\na',
      'ada\n',
      '\u0000ada',
      ' ada',
      'ada ',
      'ａda',
      'ad\u0430',
      'a\u0064\u0061\u0301',
      'ada,grace',
    ]) {
      const person = JSON.stringify(login),
        browser = restricted.browser()
      restricted.provider.use('user', person, says({ ...profile, login }))
      const back = await browser.visit(await restricted.authorize(browser, person))
      expect([person, back.status === 403 || back.status === 502]).toEqual([person, true])
    }
  })

  test('the provider requires User-Agent and Accept › both are sent, and the code only to it', async () => {
    rig.provider.heal()
    await rig.signIn()
    const [exchange] = rig.provider.asked('token'),
      [asked] = rig.provider.asked('user')
    expect(
      [exchange, asked].map((hit) => [
        hit?.headers.get('user-agent') !== undefined,
        hit?.headers.get('accept')?.includes('application/json'),
      ]),
    ).toEqual([
      [true, true],
      [true, true],
    ])
    expect([exchange?.headers.has('cookie'), asked?.path.includes('?'), exchange?.path.includes('?')]).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('OpenID Connect', () => {
  let rig: SignInRig<MockServer>
  beforeAll(async () => {
    rig = await startSignIn(startMockServer)
  })
  afterAll(async () => {
    await rig.provider.fault({})
    expect((await rig.signIn()).page.status).toBe(302)
    await rig[Symbol.asyncDispose]()
  })

  const year = 365 * 24 * 3_600,
    now = Math.floor(Date.now() / 1000)

  test.each<readonly [string, MockFaults, number, string]>([
    ['another iss in the callback', { redirect: { set: { iss: 'https://evil.example' } } }, 400, 'invalid_issuer'],
    ['iss of a prefix', { redirect: { set: { iss: 'http://127.0.0.1' } } }, 400, 'invalid_issuer'],
    ['no code', { redirect: { remove: ['code'] } }, 400, 'missing_code'],
    ['no access_token', { token: { remove: ['access_token'] } }, 502, 'identity_provider_unavailable'],
    [
      'nulls',
      { token: { set: { access_token: null, token_type: null, id_token: null } } },
      502,
      'identity_provider_unavailable',
    ],
    ['500 for a token', { token: { status: 500 } }, 502, 'identity_provider_unavailable'],
    ['no id_token', { token: { remove: ['id_token'] } }, 502, 'identity_provider_unavailable'],
    ['an id_token that is none', { token: { set: { id_token: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['a wrong nonce', { idToken: { set: { nonce: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['no nonce', { idToken: { remove: ['nonce'] } }, 502, 'identity_provider_unavailable'],
    ['another audience', { idToken: { set: { aud: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['no audience', { idToken: { remove: ['aud'] } }, 502, 'identity_provider_unavailable'],
    [
      'several audiences without azp',
      { idToken: { set: { aud: ['svc-under-test', 'zqxzq'] } } },
      502,
      'identity_provider_unavailable',
    ],
    ['another issuer', { idToken: { set: { iss: 'https://evil.example' } } }, 502, 'identity_provider_unavailable'],
    ['no issuer', { idToken: { remove: ['iss'] } }, 502, 'identity_provider_unavailable'],
    [
      'an id_token of last year',
      { idToken: { set: { exp: now - year, iat: now - year - 60, nbf: now - year - 60 } } },
      502,
      'identity_provider_unavailable',
    ],
    ['an id_token without an end', { idToken: { remove: ['exp'] } }, 502, 'identity_provider_unavailable'],
    ['an id_token without a beginning', { idToken: { remove: ['iat'] } }, 502, 'identity_provider_unavailable'],
    [
      'an id_token that is not valid yet',
      { idToken: { set: { nbf: now + year } } },
      502,
      'identity_provider_unavailable',
    ],
    ['an id_token without a user', { idToken: { remove: ['sub'] } }, 502, 'identity_provider_unavailable'],
    ['an id_token of a number', { idToken: { set: { sub: 5 } } }, 502, 'identity_provider_unavailable'],
    ['a signature that does not fit', { signature: 'wrong' }, 502, 'identity_provider_unavailable'],
    ['alg none', { signature: 'none' }, 502, 'identity_provider_unavailable'],
    ['an unknown key', { idTokenHeader: { set: { kid: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['500 for a user', { userinfo: { status: 500 } }, 502, 'identity_provider_unavailable'],
    ['401 for a user', { userinfo: { status: 401 } }, 502, 'identity_provider_unavailable'],
    ['a user of another sub', { userinfo: { set: { sub: 'id-grace' } } }, 502, 'identity_provider_unavailable'],
    ['a user without a sub', { userinfo: { remove: ['sub'] } }, 502, 'identity_provider_unavailable'],
    ['a user without a name', { userinfo: { remove: ['preferred_username'] } }, 502, 'identity_provider_unavailable'],
    ['null for a user name', { userinfo: { set: { preferred_username: null } } }, 502, 'identity_provider_unavailable'],
    [
      'a number for a user name',
      { userinfo: { set: { preferred_username: 5 } } },
      502,
      'identity_provider_unavailable',
    ],
    [
      'HTML for a user',
      { userinfo: { answer: { headers: { 'content-type': 'text/html' }, body: '<html>' } } },
      502,
      'identity_provider_unavailable',
    ],
  ])('%s › no session', async (_, faults, status, code) => {
    await rig.provider.fault(faults)
    const browser = rig.browser()
    const back = await browser.visit(await rig.authorize(browser), { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([status, code])
    expect([back.text.includes('zqxzq'), browser.jar.cookies(rig.service.url).has('token')]).toEqual([false, false])
    if (faults.redirect !== undefined) expect(await rig.provider.asked('token')).toBe(0)
  })
})

describe('discovery', () => {
  let rig: SignInRig<MockServer>
  beforeAll(async () => {
    rig = await startSignIn(startMockServer)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test.each<readonly [string, MockFaults]>([
    ['tells of another issuer', { discovery: { set: { issuer: 'https://evil.example' } } }],
    ['tells no issuer', { discovery: { remove: ['issuer'] } }],
    ['redirects', { discovery: { answer: { status: 302, headers: { location: '/jwks' } } } }],
    ['answers 500', { discovery: { answer: { status: 500 } } }],
    ['answers HTML', { discovery: { answer: { headers: { 'content-type': 'text/html' }, body: '<html>zqxzq' } } }],
    ['answers null', { discovery: { answer: { body: 'null' } } }],
    ['has no authorization_endpoint', { discovery: { remove: ['authorization_endpoint'] } }],
    [
      'has a javascript: authorization_endpoint',
      { discovery: { set: { authorization_endpoint: 'javascript:alert(7)' } } },
    ],
  ])('that %s › 502 at the start of a flow, without a redirect', async (_, faults) => {
    await rig.provider.fault(faults)
    const answer = await rig.get('/auth/provider')
    expect([answer.status, errorOf(answer)?.code, answer.headers.get('location')]).toEqual([
      502,
      'identity_provider_unavailable',
      null,
    ])
    expect((await rig.ask()).status).toBe(401)
  })

  test('that works again › allows sign-in, with one request for several users', async () => {
    await rig.provider.fault({})
    await rig.signIn()
    await rig.signIn('grace')
    expect(await rig.provider.asked('discovery')).toBeLessThanOrEqual(1)
  })

  test.each([
    ['token_endpoint', 'http://evil.example/token'],
    ['userinfo_endpoint', 'http://evil.example/userinfo'],
    ['jwks_uri', 'http://evil.example/keys'],
    ['token_endpoint', 'file:///etc/passwd'],
    ['token_endpoint', 5],
    ['userinfo_endpoint', 'zqxzq'],
  ])('with %s: %p › no sign-in, and no request to that URL', async (name, value) => {
    await using led = await startSignIn(startMockServer)
    await led.provider.fault({ discovery: { set: { [name]: value } } })
    const browser = led.browser(),
      begun = await browser.visit(`${led.service.url}/auth/provider`)
    const outcome =
      begun.location === undefined
        ? begun
        : await browser.visit(await led.provider.approve(browser, begun.location, 'ada'))
    expect([outcome.status, browser.jar.cookies(led.service.url).has('token')]).toEqual([502, false])
  })

  test('that announces iss in callbacks › a callback without it is refused before the token request', async () => {
    await using promising = await startSignIn(startMockServer)
    await promising.provider.fault({ discovery: { set: { authorization_response_iss_parameter_supported: true } } })
    const browser = promising.browser()
    const back = await browser.visit(await promising.authorize(browser), { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code, await promising.provider.asked('token')]).toEqual([
      400,
      'invalid_issuer',
      0,
    ])
  })
})

describe('a strict provider', () => {
  let rig: SignInRig<OidcProvider>
  beforeAll(async () => {
    rig = await startSignIn(startOidcProvider)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test('a code of another flow › is refused there, because the verifier differs', async () => {
    const browser = rig.browser()
    const [first, second] = [new URL(await rig.authorize(browser)), new URL(await rig.authorize(browser))]
    first.searchParams.set('code', second.searchParams.get('code') ?? '')
    const back = await browser.visit(first.href, { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([400, 'oauth_exchange_failed'])
  })

  test('an invalid code › is refused there', async () => {
    const browser = rig.browser(),
      callback = new URL(await rig.authorize(browser))
    callback.searchParams.set('code', 'zqxzq')
    const back = await browser.visit(callback.href, { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([400, 'oauth_exchange_failed'])
  })

  test('a removed or replaced iss › is refused here', async () => {
    for (const iss of [undefined, 'https://evil.example']) {
      const browser = rig.browser(),
        callback = new URL(await rig.authorize(browser))
      if (iss === undefined) callback.searchParams.delete('iss')
      else callback.searchParams.set('iss', iss)
      const back = await browser.visit(callback.href, { headers: { accept: 'application/json' } })
      expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([400, 'invalid_issuer'])
    }
  })

  test('a wrong secret › 500 OAuth not configured, and an error in the log', async () => {
    await using wrong = await startSignIn(startOidcProvider, { config: { client_secret: 'another' } })
    const browser = wrong.browser()
    const back = await browser.visit(await wrong.authorize(browser), { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([500, 'oauth_not_configured'])
    await wrong.logged('"level":"error"')
  })

  test('client_secret_basic › signs in where the header is compared without decoding', async () => {
    const registration = { ...register(), clientSecret: `svc-secret_1.0*${randomUUID()}` }
    await using strict = await startSignIn(startGithub, {
      registration,
      config: { token_auth_method: 'client_secret_basic' },
    })
    expect((await strict.signIn()).page.status).toBe(302)
    expect(strict.provider.asked('token').map(({ headers }) => headers.has('authorization'))).toEqual([true])
  })

  test('client_secret_basic › signs in', async () => {
    await using basic = await startSignIn((registration) => startOidcProvider(registration, 'client_secret_basic'), {
      config: { token_auth_method: 'client_secret_basic' },
    })
    expect((await basic.signIn()).page.status).toBe(302)
  })
})
