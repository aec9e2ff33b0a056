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
 * the provider's text, and stays alive. Each answer that is not accepted has its row beside the code, in
 * identity-provider.test.ts and user-info.test.ts, and each fault of the network in provider-network.test.ts.
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

const page = '<!doctype html><title>zqxzq</title><script>alert(7)</script>'
const bomb: Script = (exchange) =>
  exchange.write(reply(200, gzipSync(Buffer.alloc(64 << 20, ' ')), { 'content-encoding': 'gzip' }))

/** Failures of all endpoints. */
const anywhere: readonly (readonly [string, Script])[] = [
  ['redirects to itself', says('', 307, { location: '/login/oauth/access_token' })],
  ['answers HTML as JSON', says(page)],
  ['answers 512 MB', huge],
  ['answers 64 MB in 64 KB', bomb],
  ['answers bytes that are no text', (exchange) => exchange.write(reply(200, Uint8Array.of(0xff, 0xfe, 0x00)))],
  ['answers 500', says({ message: marker }, 500)],
  ['resets', (exchange) => exchange.reset()],
  [
    'closes in the middle',
    async (exchange) => {
      await exchange.write(`${head(200, { 'content-type': 'application/json', 'content-length': '500' })}{"id":1,`)
      exchange.close()
    },
  ],
  [
    'speaks no HTTP',
    async (exchange) => {
      await exchange.write('zqxzq zqxzq zqxzq\r\n\r\n')
      exchange.close()
    },
  ],
]

const refusalOf = (error: string) => ({ error, error_description: marker, error_uri: 'javascript:alert(7)' })

/** Failures of one endpoint. */
const ofOne: readonly (readonly [GithubPlace, string, Script, number, string])[] = [
  ['token', 'refuses the code', says(refusalOf('bad_verification_code')), 400, 'oauth_exchange_failed'],
  ['token', 'does not know the client', says(refusalOf('invalid_client'), 401), 500, 'oauth_not_configured'],
  ['user', 'answers 200 with an error', says({ message: marker }), 502, 'identity_provider_unavailable'],
]

const profile = { login: 'mallory', id: 7, name: 'M', avatar_url: null, email: null }

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

  test.concurrent.each([
    ...anywhere.flatMap(([name, script]) =>
      (['token', 'user'] as const).map((place) => [place, name, script, 502, 'identity_provider_unavailable'] as const),
    ),
    ...ofOne,
  ])('the %s endpoint %s › no session', async (place, name, script, status, code) => {
    expectRefusal(await comeBack(place, name, script), status, code)
  })

  test.concurrent.each<readonly [string, Script]>([
    ['answers 512 MB', huge],
    ['sends an unverified address', says([{ email: 'ada@victim.example', primary: true, verified: false }])],
  ])('the e-mail list %s › signed in, without an address', async (name, script) => {
    const back = await comeBack('emails', name, script)
    const session = new URL(back.location ?? 'about:nowhere').searchParams.get('session') ?? ''
    expect(pick((await rig.get('/auth', { 'x-session-token': session })).json, 'email')).toBe('')
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

  test.each<readonly [string, MockFaults, number, string]>([
    ['another iss in the callback', { redirect: { set: { iss: 'https://evil.example' } } }, 400, 'invalid_issuer'],
    ['no code', { redirect: { remove: ['code'] } }, 400, 'missing_code'],
    ['another audience', { idToken: { set: { aud: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['a wrong nonce', { idToken: { set: { nonce: 'zqxzq' } } }, 502, 'identity_provider_unavailable'],
    ['a signature that does not fit', { signature: 'wrong' }, 502, 'identity_provider_unavailable'],
    ['a user of another sub', { userinfo: { set: { sub: 'id-grace' } } }, 502, 'identity_provider_unavailable'],
  ])('%s › no session', async (_, faults, status, code) => {
    await rig.provider.fault(faults)
    const browser = rig.browser()
    const back = await browser.visit(await rig.authorize(browser), { headers: { accept: 'application/json' } })
    expect([back.status, errorOf(answerOf(back, back.text))?.code]).toEqual([status, code])
    expect([back.text.includes('zqxzq'), browser.jar.cookies(rig.service.url).has('token')]).toEqual([false, false])
    if (faults.redirect !== undefined) expect(await rig.provider.asked('token')).toBe(0)
  })

  test('discovery that has a javascript: address › 502 at the start of a flow, without a redirect', async () => {
    await using hostile = await startSignIn(startMockServer)
    await hostile.provider.fault({ discovery: { set: { authorization_endpoint: 'javascript:alert(7)' } } })
    const answer = await hostile.get('/auth/provider')
    expect([answer.status, errorOf(answer)?.code, answer.headers.get('location')]).toEqual([
      502,
      'identity_provider_unavailable',
      null,
    ])
    expect((await hostile.ask()).status).toBe(401)
    await hostile.provider.fault({})
    await hostile.signIn()
    await hostile.signIn('grace')
    expect(await hostile.provider.asked('discovery')).toBeLessThanOrEqual(1)
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
