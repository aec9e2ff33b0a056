import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { WireError } from '../../wire/error.ts'
import type { FetchOptions, Host } from '../extension.ts'
import type { CallbackParameters, FlowSecrets, IdentityProvider } from './identity-provider.ts'
import { identityProvider } from './make-identity-provider.ts'
import { parseSettings } from './parse-settings.ts'
import type { Settings } from './settings.ts'

const clientId = 'client id/ü'.replace('ü', '+')
const clientSecret = `secret-${crypto.randomUUID()}`
const redirectUri = 'https://chat.example.org/auth/provider/callback'
const state = 'the-state-of-this-sign-in'
const code = `code-${crypto.randomUUID()}`
const token = `token-${crypto.randomUUID()}`
const octocat = {
  id: 583231,
  login: 'octocat',
  name: 'The Octocat',
  avatar_url: 'https://avatars.example/1',
  email: 'octocat@github.example',
}

function settingsOf(values: Readonly<Record<string, unknown>> = {}): Settings {
  const parsed = parseSettings({
    values: { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri, ...values },
    unset: new Map(),
  })
  if (parsed === undefined) throw new Error('sign-in is off')
  return parsed.settings
}

interface Question extends FetchOptions {
  readonly url: string
}

type Answers = Readonly<Record<string, (question: Question) => Response | Promise<Response>>>

/** A world with an identity provider in it: what it answers by address, what it was asked, what was logged. */
function world(answers: Answers, now: () => number = Date.now) {
  const asked: Question[] = []
  const lines: { readonly level: string; readonly text: string }[] = []
  const log = (level: string) => (message: string, fields?: object) => {
    lines.push({
      level,
      text: `${message} ${Object.entries(fields ?? {})
        .map(([name, value]) => `${name}=${value instanceof Error ? causesOf(value) : String(value)}`)
        .join(' ')}`,
    })
  }
  const host: Host = {
    config: async () => undefined,
    store: () => {
      throw new Error('not needed')
    },
    limit: () => {
      throw new Error('not needed')
    },
    now,
    elapsedMs: now,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    async fetch(url, options) {
      asked.push({ ...options, url })
      const answer = answers[url]
      if (answer === undefined) throw new Error(`nobody answers at ${url}`)
      return answer({ ...options, url })
    },
  }
  return { host, asked, lines }
}

function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causesOf(error.cause)}` : String(error)
}

const json = (value: unknown, init?: ResponseInit) => Response.json(value, init)
const form = ({ body = '' }: Question) => Object.fromEntries(new URLSearchParams(body))

/** What a person is told of an attempt that must not succeed. */
async function refusal(
  attempt: Promise<unknown>,
): Promise<{ readonly status: number; readonly code: string; readonly text: string }> {
  try {
    await attempt
  } catch (error) {
    if (error instanceof WireError)
      return {
        status: error.status,
        code: error.code,
        text: `${JSON.stringify(error)} ${error.advice ?? ''} ${JSON.stringify(error.headers)} ${causesOf(error.cause)}`,
      }
    throw error
  }
  throw new Error('somebody has signed in')
}

const unavailable = { status: 502, code: 'identity_provider_unavailable' }
const late = { status: 504, code: 'identity_provider_unavailable' }

/** Text that must be in no log and in no error. */
const foreign = ['<script>', clientSecret, code, token]

const githubUrls = {
  token: 'https://github.com/login/oauth/access_token',
  user: 'https://api.github.com/user',
  emails: 'https://api.github.com/user/emails',
}
const githubIssuer = 'https://github.com/login/oauth'

const githubAnswers: Answers = {
  [githubUrls.token]: () =>
    json(
      { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' },
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
    ),
  [githubUrls.user]: () => json(octocat, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
  [githubUrls.emails]: () =>
    json([
      { email: 'other@x.example', primary: false, verified: true },
      { email: 'primary@x.example', primary: true, verified: true },
    ]),
}

/** Signs in from end to end, as the one who holds the state would. */
async function signIn(
  provider: IdentityProvider,
  callback: Partial<CallbackParameters> = {},
  change: (secrets: FlowSecrets) => FlowSecrets = (secrets) => secrets,
) {
  const { secrets } = await provider.begin(state)
  return provider.identify({ state, code, ...callback }, change(secrets))
}

function github(answers: Answers = {}, values: Readonly<Record<string, unknown>> = {}) {
  const { host, asked, lines } = world({ ...githubAnswers, ...answers })
  return { asked, lines, provider: identityProvider(settingsOf(values), host, { requestMs: 1000, totalMs: 2000 }) }
}

describe('plain OAuth 2.0', () => {
  describe('begin', () => {
    test('sends people to where the configuration says, with all that belongs there', async () => {
      const { provider, asked } = github()
      const { url, secrets } = await provider.begin(state)
      const { origin, pathname, searchParams } = new URL(url)
      expect(`${origin}${pathname}`).toBe('https://github.com/login/oauth/authorize')
      expect(Object.fromEntries(searchParams)).toEqual({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state,
        code_challenge: createHash('sha256')
          .update(secrets.codeVerifier ?? '')
          .digest('base64url'),
        code_challenge_method: 'S256',
      })
      expect(secrets).toEqual({ codeVerifier: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) })
      expect(asked).toEqual([])
      expect(url).not.toContain(secrets.codeVerifier ?? '')
    })

    test('has a new verifier for each sign-in', async () => {
      const { provider } = github()
      const verifiers = await Promise.all(
        Array.from({ length: 20 }, async () => (await provider.begin(state)).secrets.codeVerifier),
      )
      expect(new Set(verifiers).size).toBe(20)
    })

    test('leaves out what is switched off', async () => {
      const { provider } = github({}, { pkce: false, scope: '' })
      const { url, secrets } = await provider.begin(state)
      expect([...new URL(url).searchParams.keys()]).toEqual(['response_type', 'client_id', 'redirect_uri', 'state'])
      expect(secrets).toEqual({})
    })

    test('keeps a query of the address, and lets it put nothing in the place of ours', async () => {
      const { provider } = github(
        {},
        {
          authorize_url: 'https://id.example/a?tenant=x&state=theirs&redirect_uri=https://evil.example',
          token_url: 'https://id.example/t',
          user_url: 'https://id.example/u',
        },
      )
      const { searchParams } = new URL((await provider.begin(state)).url)
      expect([
        searchParams.getAll('tenant'),
        searchParams.getAll('state'),
        searchParams.getAll('redirect_uri'),
      ]).toEqual([['x'], [state], [redirectUri]])
    })

    test.each([{ client_id: '' }, { client_secret: '' }, { client_id: '', client_secret: '' }])(
      'says that OAuth is not configured with %j',
      async (values) => {
        const { provider, asked } = github({}, values)
        for (const attempt of [provider.begin(state), provider.identify({ state, code }, {})]) {
          const told = await refusal(attempt)
          expect(told).toMatchObject({ status: 500, code: 'oauth_not_configured' })
          expect(told.text).toContain('OAuth not configured')
        }
        expect(asked).toEqual([])
      },
    )
  })

  test('identify makes a person of a callback, in three questions', async () => {
    const { provider, asked, lines } = github()
    const { secrets } = await provider.begin(state)
    expect(await provider.identify({ state, code, iss: githubIssuer }, secrets)).toEqual({
      userId: '583231',
      userName: 'octocat',
      displayName: 'The Octocat',
      profileUrl: 'https://avatars.example/1',
      email: 'octocat@github.example',
    })
    const [exchange, user, ...more] = asked
    expect(more).toEqual([])
    expect(exchange).toMatchObject({
      url: githubUrls.token,
      method: 'POST',
      bytesMax: 65_536,
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
        'user-agent': 'svc',
      },
    })
    expect(exchange?.headers).not.toHaveProperty('authorization')
    expect(exchange && form(exchange)).toEqual({
      grant_type: 'authorization_code',
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: secrets.codeVerifier ?? '',
    })
    expect(user).toMatchObject({
      url: githubUrls.user,
      method: 'GET',
      bytesMax: 262_144,
      headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'user-agent': 'svc' },
    })
    expect(lines).toEqual([])
  })

  test('client_secret_basic sends the secret in a header, and nowhere else (RFC 6749 section 2.3.1)', async () => {
    const { provider, asked } = github({}, { token_auth_method: 'client_secret_basic' })
    await signIn(provider)
    const [exchange] = asked
    const [id = '', secret = ''] = Buffer.from(
      exchange?.headers['authorization']?.replace(/^Basic /, '') ?? '',
      'base64',
    )
      .toString()
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    expect([id, secret]).toEqual([clientId, clientSecret])
    expect(exchange?.body).not.toContain('secret')
  })

  test('a sign-in without PKCE sends no verifier, and one that began with it does, whatever the configuration has become', async () => {
    const without = github({}, { pkce: false })
    await signIn(without.provider)
    expect(without.asked[0] && form(without.asked[0])).not.toHaveProperty('code_verifier')
    const { provider, asked } = github({}, { pkce: false })
    await signIn(provider, {}, (secrets) => ({ ...secrets, codeVerifier: 'v'.repeat(43) }))
    expect(asked[0] && form(asked[0])).toHaveProperty('code_verifier', 'v'.repeat(43))
  })

  describe('the callback', () => {
    test.each<[string, Partial<CallbackParameters>, object]>([
      ['iss of another', { iss: 'https://evil.example' }, { status: 400, code: 'invalid_issuer' }],
      ['iss in another form', { iss: `${githubIssuer}/` }, { status: 400, code: 'invalid_issuer' }],
      ['an empty iss', { iss: '' }, { status: 400, code: 'invalid_issuer' }],
      [
        'iss of another and an error',
        { iss: 'https://evil.example', error: 'access_denied' },
        { status: 400, code: 'invalid_issuer' },
      ],
      ['access_denied', { error: 'access_denied' }, { status: 403, code: 'access_denied' }],
      ['access_denied and no code', { error: 'access_denied', code: '' }, { status: 403, code: 'access_denied' }],
      ['server_error', { error: 'server_error' }, unavailable],
      ['temporarily_unavailable', { error: 'temporarily_unavailable' }, unavailable],
      ['invalid_scope', { error: 'invalid_scope' }, { status: 400, code: 'identity_provider_error' }],
      [
        'an error nobody knows',
        { error: '<script>alert(1)</script>' },
        { status: 400, code: 'identity_provider_error' },
      ],
      ['an empty error', { error: '' }, { status: 400, code: 'identity_provider_error' }],
      ['an error with line breaks', { error: 'x\r\n<script>: y' }, { status: 400, code: 'identity_provider_error' }],
      ['an empty code', { code: '' }, { status: 400, code: 'missing_code' }],
    ])('with %s asks nobody anything', async (_, callback, expected) => {
      const { provider, asked, lines } = github()
      const told = await refusal(signIn(provider, callback))
      expect(told).toMatchObject(expected)
      expect(asked).toEqual([])
      for (const text of foreign) expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    test('without a code asks nobody anything', async () => {
      const { provider, asked } = github()
      const { secrets } = await provider.begin(state)
      expect(await refusal(provider.identify({ state }, secrets))).toMatchObject({ status: 400, code: 'missing_code' })
      expect(asked).toEqual([])
    })

    test('needs no iss, and where no issuer is known, any will do', async () => {
      expect(await signIn(github().provider)).toMatchObject({ userName: 'octocat' })
      const answers = {
        'https://id.example/t': githubAnswers[githubUrls.token] ?? fail,
        'https://id.example/u': githubAnswers[githubUrls.user] ?? fail,
      }
      const { provider } = github(answers, {
        authorize_url: 'https://id.example/a',
        token_url: 'https://id.example/t',
        user_url: 'https://id.example/u',
      })
      expect(await signIn(provider, { iss: 'https://whoever.example' })).toMatchObject({ userName: 'octocat' })
    })

    test('never leads to a mistake of ours, nor is repeated', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.constantFrom(
          'access_denied',
          'server_error',
          'invalid_request',
          githubIssuer,
          '',
          '__proto__',
          'constructor',
        ),
      )
      const parameters = fc.record({ code: text, iss: text, error: text }, { requiredKeys: [] })
      await fc.assert(
        fc.asyncProperty(parameters, async (callback) => {
          const { host, asked, lines } = world({
            ...githubAnswers,
            [githubUrls.token]: () => json({ error: 'bad_verification_code' }),
          })
          const provider = identityProvider(settingsOf(), host)
          const { secrets } = await provider.begin(state)
          const told = await refusal(provider.identify({ state, ...callback }, secrets))
          expect([400, 403, 502]).toContain(told.status)
          if (
            callback.error !== undefined ||
            !callback.code ||
            (callback.iss !== undefined && callback.iss !== githubIssuer)
          )
            expect(asked).toEqual([])
          for (const value of [callback.code, callback.iss, callback.error]) {
            if (value !== undefined && value.length > 12 && !/^\w+$|^https:\/\/github/.test(value))
              expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(value)
          }
        }),
        { numRuns: 300 },
      )
    })
  })

  const html = () =>
    new Response('<!DOCTYPE html><script>alert(1)</script>', { headers: { 'content-type': 'text/html' } })
  const redirect = () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } })
  const timeout = () => {
    throw new DOMException('no answer within 10 ms', 'TimeoutError')
  }
  const fail = () => {
    throw new Error('connect ECONNREFUSED')
  }
  const text =
    (body: string, type: string | undefined = 'application/json', status = 200) =>
    () =>
      new Response(body, { status, headers: type === undefined ? {} : { 'content-type': type } })

  /** What goes wrong the same way at every place. */
  const outages: readonly [string, () => Response, object][] = [
    ['cannot be reached', fail, unavailable],
    ['does not answer in time', timeout, late],
    ['redirects', redirect, unavailable],
    ['answers HTML', html, unavailable],
    ['answers 500', () => json({ error: '<script>' }, { status: 500 }), unavailable],
    ['answers 503 with a known error', () => json({ error: 'invalid_client' }, { status: 503 }), unavailable],
    ['answers 429', () => json({ error: 'slow_down' }, { status: 429 }), unavailable],
    ['answers nothing', text(''), unavailable],
    ['answers half of an object', text('{"access_token":"x"'), unavailable],
    ['answers null', text('null'), unavailable],
    ['answers an array', text('[{}]'), unavailable],
    ['answers a text', text('"x"'), unavailable],
    ['answers 204', () => new Response(null, { status: 204 }), unavailable],
    [
      'answers JSON that calls itself text',
      text(JSON.stringify({ ...octocat, access_token: token, token_type: 'bearer' }), 'text/plain'),
      unavailable,
    ],
    [
      'answers JSON without saying so',
      text(JSON.stringify({ ...octocat, access_token: token, token_type: 'bearer' }), ''),
      unavailable,
    ],
    [
      'answers 201',
      () => json({ ...octocat, access_token: token, token_type: 'bearer' }, { status: 201 }),
      unavailable,
    ],
    ['answers an empty object', () => json({}), unavailable],
  ]

  describe('a token endpoint', () => {
    test.each<[string, () => Response, object]>([
      ...outages,
      [
        'answers 401 without a word',
        () => new Response('', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
        unavailable,
      ],
      [
        'tells an error with 200, as GitHub does',
        () => json({ error: 'bad_verification_code', error_description: '<script>' }),
        { status: 400, code: 'oauth_exchange_failed' },
      ],
      [
        'tells an error nobody knows',
        () => json({ error: '<script>' }, { status: 400 }),
        { status: 400, code: 'oauth_exchange_failed' },
      ],
      [
        'refuses the code',
        () => json({ error: 'invalid_grant', error_description: '<script>' }, { status: 400 }),
        { status: 400, code: 'oauth_exchange_failed' },
      ],
      ['is not well', () => json({ error: 'server_error' }, { status: 400 }), unavailable],
      [
        'tells an error with a token beside it',
        () => json({ error: 'invalid_grant', access_token: token, token_type: 'bearer' }),
        { status: 400, code: 'oauth_exchange_failed' },
      ],
      ['refuses without saying why', () => json({ message: '<script>' }, { status: 400 }), unavailable],
      ['gives no token', () => json({ token_type: 'bearer' }), unavailable],
      ['gives an empty token', () => json({ access_token: '', token_type: 'bearer' }), unavailable],
      ['gives a number for a token', () => json({ access_token: 5, token_type: 'bearer' }), unavailable],
      [
        'gives a token with a line break',
        () => json({ access_token: 'x\r\nx-evil: y', token_type: 'bearer' }),
        unavailable,
      ],
      ['gives a token of a kind nobody knows', () => json({ access_token: token, token_type: 'mac' }), unavailable],
      ['gives a token that is bound to a key', () => json({ access_token: token, token_type: 'dpop' }), unavailable],
      ['gives a token of no kind', () => json({ access_token: token }), unavailable],
    ])('that %s signs nobody in', async (_, answer, expected) => {
      const { provider, asked, lines } = github({ [githubUrls.token]: answer })
      const told = await refusal(signIn(provider))
      expect(told).toMatchObject(expected)
      expect(asked.map(({ url }) => url)).toEqual([githubUrls.token])
      expect(lines).toMatchObject([{ level: 'warn' }])
      for (const text of foreign) expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    test.each([
      ['invalid_client', 401],
      ['incorrect_client_credentials', 200],
      ['unauthorized_client', 400],
    ])('that refuses the client with %s is for the owner to see', async (error, status) => {
      const { provider, lines } = github({
        [githubUrls.token]: () =>
          json(
            { error, error_description: '<script>' },
            { status, headers: { 'www-authenticate': 'Basic realm="x"' } },
          ),
      })
      const told = await refusal(signIn(provider))
      expect(told).toMatchObject({ status: 500, code: 'oauth_not_configured' })
      expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining(error) }])
      for (const text of foreign) expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    test.each([
      { expires_in: null, refresh_token: null, scope: null, id_token: null },
      { expires_in: 'soon', scope: ['x'], id_token: 'none' },
      { token_type: 'Bearer' },
      { id_token: 'x.y.z', unheard_of: {} },
    ])('may say what it likes of what does not count: %j', async (rest) => {
      const { provider } = github({
        [githubUrls.token]: () => json({ access_token: token, token_type: 'bearer', ...rest }),
      })
      expect(await signIn(provider)).toMatchObject({ userName: 'octocat' })
    })
  })

  describe('a user endpoint', () => {
    test.each<[string, () => Response, object]>([
      ...outages,
      [
        'answers 401',
        () =>
          json(
            { message: 'Bad credentials' },
            { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
          ),
        unavailable,
      ],
      ['tells no id', () => json({ ...octocat, id: undefined }), unavailable],
      ['tells no user name', () => json({ ...octocat, login: undefined }), unavailable],
      ['tells nulls', () => json({ id: null, login: null, name: null, avatar_url: null, email: null }), unavailable],
      ['tells an empty user name', () => json({ ...octocat, login: '' }), unavailable],
      ['tells a number for a name', () => json({ ...octocat, login: 5 }), unavailable],
      ['tells a name with line breaks', () => json({ ...octocat, login: 'octo\r\n<script>' }), unavailable],
      ['tells an id beyond what numbers can hold', text('{"id":9007199254740993,"login":"octocat"}'), unavailable],
      ['tells an error with 200', () => json({ error: 'x', message: '<script>' }), unavailable],
      ['tells arrays', () => json({ id: [1], login: ['octocat'] }), unavailable],
    ])('that %s signs nobody in', async (_, answer, expected) => {
      const { provider, asked, lines } = github({ [githubUrls.user]: answer })
      const told = await refusal(signIn(provider))
      expect(told).toMatchObject(expected)
      expect(asked.map(({ url }) => url)).toEqual([githubUrls.token, githubUrls.user])
      expect(lines).toMatchObject([{ level: 'warn' }])
      for (const text of foreign) expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    test.each([
      'application/json',
      'Application/JSON;charset=utf-8',
      'application/vnd.github+json',
      'application/json ; charset=utf-8',
    ])('may call its JSON %j', async (type) => {
      const { provider } = github({ [githubUrls.user]: text(JSON.stringify(octocat), type) })
      expect(await signIn(provider)).toMatchObject({ userName: 'octocat' })
    })

    test('signs in whom it describes badly but for id and user name', async () => {
      const { provider } = github({
        [githubUrls.user]: () =>
          json({ id: '1', login: 'ada', name: 5, avatar_url: 'javascript:alert(1)', email: 'a@x.example\r\nb' }),
        [githubUrls.emails]: () => json([]),
      })
      expect(await signIn(provider)).toEqual({
        userId: '1',
        userName: 'ada',
        displayName: 'ada',
        profileUrl: '',
        email: '',
      })
    })
  })

  describe('an e-mail address that the profile hides', () => {
    const hidden = { [githubUrls.user]: () => json({ ...octocat, email: null }) }

    test('is asked for, and is the primary one', async () => {
      const { provider, asked } = github(hidden)
      expect(await signIn(provider)).toMatchObject({ email: 'primary@x.example' })
      expect(asked.at(-1)).toMatchObject({
        url: githubUrls.emails,
        method: 'GET',
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'svc' },
      })
    })

    test.each<[string, () => Response]>([
      ...outages.map(([name, answer]): [string, () => Response] => [name, answer]),
      ['has none', () => json([])],
      ['has no primary one', () => json([{ email: 'a@x.example', primary: false, verified: true }])],
      ['has none that is verified', () => json([{ email: 'a@x.example', primary: true, verified: false }])],
      [
        'has odd things',
        () =>
          json([
            null,
            5,
            'x',
            [],
            { primary: 'true', verified: 'true', email: 'a@x.example' },
            { primary: true, verified: true, email: 5 },
          ]),
      ],
      ['is refused', () => json({ message: 'Not Found' }, { status: 404 })],
    ])('where the endpoint %s is not known, and that is all', async (_, answer) => {
      const { provider, lines } = github({ ...hidden, [githubUrls.emails]: answer })
      expect(await signIn(provider)).toEqual({
        userId: '583231',
        userName: 'octocat',
        displayName: 'The Octocat',
        profileUrl: 'https://avatars.example/1',
        email: '',
      })
      expect(lines).toEqual([])
    })

    test.each([
      ['read:user', false],
      ['', false],
      ['read:user,user:email', true],
      ['user', true],
      ['read:user user:email', true],
      ['user:emails', false],
      ['superuser', false],
    ])('is asked for with the scope %j: %p', async (scope, isAsked) => {
      const { provider, asked } = github({
        ...hidden,
        [githubUrls.token]: () => json({ access_token: token, token_type: 'bearer', scope }),
      })
      await signIn(provider)
      expect(asked.some(({ url }) => url === githubUrls.emails)).toBe(isAsked)
    })

    test('is asked for when the provider does not say which scopes it gave, and we asked for it', async () => {
      const answers = { ...hidden, [githubUrls.token]: () => json({ access_token: token, token_type: 'bearer' }) }
      const asking = github(answers),
        modest = github(answers, { scope: 'read:user' })
      expect([await signIn(asking.provider), await signIn(modest.provider)]).toMatchObject([
        { email: 'primary@x.example' },
        { email: '' },
      ])
    })
  })

  test('what is asked has the time that is left, and none when none is left', async () => {
    const { host, asked } = world({
      ...githubAnswers,
      [githubUrls.token]: (question) => {
        const until = performance.now() + 30
        while (performance.now() < until) {
          /* a provider that takes its time */
        }
        return githubAnswers[githubUrls.token]?.(question) ?? fail()
      },
    })
    const provider = identityProvider(settingsOf(), host, { requestMs: 1000, totalMs: 40 })
    await signIn(provider).catch(() => undefined)
    expect(asked[0]?.timeoutMs).toBeLessThanOrEqual(40)
    for (const { timeoutMs } of asked.slice(1)) expect(timeoutMs).toBeLessThanOrEqual(10)
    expect(await refusal(signIn(identityProvider(settingsOf(), host, { requestMs: 1000, totalMs: 20 })))).toMatchObject(
      late,
    )
    const patient = github()
    await signIn(patient.provider)
    expect(patient.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 1000])
  })
})

describe('OpenID Connect', () => {
  const issuer = 'https://id.example.org/realm'
  const at = {
    discovery: `${issuer}/.well-known/openid-configuration`,
    authorize: 'https://id.example.org/authorize',
    token: 'https://id.example.org/token',
    keys: 'https://id.example.org/keys',
    user: 'https://id.example.org/userinfo',
  }
  const metadata = {
    issuer,
    authorization_endpoint: at.authorize,
    token_endpoint: at.token,
    jwks_uri: at.keys,
    userinfo_endpoint: at.user,
    id_token_signing_alg_values_supported: ['ES256'],
    response_types_supported: ['code'],
  }
  const person = {
    sub: 'id-ada',
    preferred_username: 'ada',
    name: 'Ada',
    picture: 'https://x.example/ada',
    email: 'ada@x.example',
    email_verified: true,
  }
  let keys: CryptoKeyPair, others: CryptoKeyPair
  let publicKey: object

  beforeAll(async () => {
    const generate = () => crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    ;[keys, others] = await Promise.all([generate(), generate()])
    publicKey = {
      ...(await crypto.subtle.exportKey('jwk', keys.publicKey)),
      kid: 'k',
      use: 'sig',
      alg: 'ES256',
      key_ops: undefined,
      ext: undefined,
    }
  })

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  async function jwt(
    claims: object,
    header: object = { alg: 'ES256', kid: 'k' },
    key: CryptoKey = keys.privateKey,
  ): Promise<string> {
    const signed = `${part(header)}.${part(claims)}`
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(signed))
    return `${signed}.${Buffer.from(signature).toString('base64url')}`
  }

  interface Faults {
    readonly metadata?: object
    /** Of the id_token. */
    readonly claims?: object
    readonly idToken?: (claims: object) => Promise<string> | string
    readonly answers?: Answers
    readonly config?: Readonly<Record<string, unknown>>
    readonly now?: () => number
  }

  /** A provider that knows the nonce of the one who signs in. */
  function openid({
    metadata: changed = {},
    claims = {},
    idToken = (all) => jwt(all),
    answers = {},
    config = { issuer },
    now = Date.now,
  }: Faults = {}) {
    let nonce: string | undefined
    const everyClaim = () => ({
      iss: issuer,
      aud: clientId,
      exp: Math.floor(now() / 1000) + 300,
      iat: Math.floor(now() / 1000),
      nonce,
      ...person,
      ...claims,
    })
    const outside = world(
      {
        [at.discovery]: () => json({ ...metadata, ...changed }),
        [at.keys]: () => json({ keys: [publicKey] }),
        [at.token]: async () =>
          json({ access_token: token, token_type: 'Bearer', id_token: await idToken(everyClaim()) }),
        [at.user]: () => json(person),
        ...answers,
      },
      now,
    )
    const provider = identityProvider(settingsOf(config), outside.host, { requestMs: 1000, totalMs: 2000 })
    async function signIn(
      callback: Partial<CallbackParameters> = {},
      change: (secrets: FlowSecrets) => FlowSecrets = (secrets) => secrets,
    ) {
      const { secrets } = await provider.begin(state)
      nonce = secrets.nonce
      return provider.identify({ state, code, ...callback }, change(secrets))
    }
    return { ...outside, provider, signIn, urls: () => outside.asked.map(({ url }) => url) }
  }

  test('begin finds out where to send people, and sends a nonce', async () => {
    const { provider, urls } = openid()
    const { url, secrets } = await provider.begin(state)
    const { origin, pathname, searchParams } = new URL(url)
    expect(`${origin}${pathname}`).toBe(at.authorize)
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      state,
      nonce: secrets.nonce ?? '',
      code_challenge: createHash('sha256')
        .update(secrets.codeVerifier ?? '')
        .digest('base64url'),
      code_challenge_method: 'S256',
    })
    expect(secrets).toEqual({
      nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      codeVerifier: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })
    expect(urls()).toEqual([at.discovery])
  })

  test('identify makes a person of a callback', async () => {
    const { signIn, asked, lines } = openid()
    expect(await signIn()).toEqual({
      userId: 'id-ada',
      userName: 'ada',
      displayName: 'Ada',
      profileUrl: 'https://x.example/ada',
      email: 'ada@x.example',
    })
    expect(asked.map(({ url, bytesMax }) => [url, bytesMax])).toEqual([
      [at.discovery, 262_144],
      [at.token, 65_536],
      [at.keys, 262_144],
      [at.user, 262_144],
    ])
    for (const { headers } of asked) expect(headers).toMatchObject({ 'user-agent': 'svc' })
    expect(lines).toEqual([])
  })

  test('takes the claims of the id_token where there is no userinfo endpoint', async () => {
    for (const userinfo_endpoint of [undefined, null]) {
      const { signIn, urls } = openid({ metadata: { userinfo_endpoint } })
      expect(await signIn()).toMatchObject({ userId: 'id-ada', userName: 'ada', email: 'ada@x.example' })
      expect(urls()).not.toContain(at.user)
    }
  })

  test('takes the claims of the id_token where the userinfo endpoint does not tell the user name', async () => {
    const bare = openid({ answers: { [at.user]: () => json({ sub: 'id-ada', email: 'other@x.example' }) } })
    expect(await bare.signIn()).toMatchObject({ userName: 'ada', email: 'ada@x.example' })
    const neither = openid({
      answers: { [at.user]: () => json({ sub: 'id-ada' }) },
      claims: { preferred_username: undefined },
    })
    expect(await refusal(neither.signIn())).toMatchObject(unavailable)
  })

  test('never joins an e-mail address with the verification of another', async () => {
    const config = { issuer, user_fields: { username: 'email' } }
    const { signIn } = openid({
      config,
      answers: { [at.user]: () => json({ sub: 'id-ada', email: 'boss@x.example' }) },
    })
    const told = await refusal(signIn())
    expect(told).toMatchObject(unavailable)
  })

  test.each([
    ['Google', 'google', 'https://accounts.google.com', 'ada@x.example'],
    ['GitLab', 'gitlab', 'https://gitlab.com', 'ada'],
  ])('%s signs people in by its preset', async (_, name, issuer, userName) => {
    const { signIn } = openid({
      config: { provider: name },
      metadata: { issuer },
      claims: { iss: issuer },
      answers: { [`${issuer}/.well-known/openid-configuration`]: () => json({ ...metadata, issuer }) },
    })
    expect(await signIn({ iss: issuer })).toMatchObject({ userName })
  })

  test.each([{ email_verified: false }, { email_verified: undefined }, { email: undefined }])(
    'Google with %j signs nobody in',
    async (rest) => {
      const answers = {
        'https://accounts.google.com/.well-known/openid-configuration': () =>
          json({ ...metadata, issuer: 'https://accounts.google.com' }),
        [at.user]: () => json({ ...person, ...rest }),
      }
      const { signIn, lines } = openid({
        config: { provider: 'google' },
        claims: { iss: 'https://accounts.google.com', ...rest },
        answers,
      })
      expect(await refusal(signIn())).toMatchObject(unavailable)
      expect(lines).toMatchObject([
        { level: 'warn', text: expect.stringContaining('email' in rest ? 'no_username' : 'email_not_verified') },
      ])
    },
  )

  test('says that OAuth is not configured, and asks nobody', async () => {
    const { provider, asked } = openid({ config: { issuer, client_secret: '' } })
    expect(await refusal(provider.begin(state))).toMatchObject({ status: 500, code: 'oauth_not_configured' })
    expect(await refusal(provider.identify({ state, code }, { nonce: 'n' }))).toMatchObject({
      status: 500,
      code: 'oauth_not_configured',
    })
    expect(asked).toEqual([])
  })

  describe('the callback', () => {
    const promise = { authorization_response_iss_parameter_supported: true }

    test.each<[string, object, Partial<CallbackParameters>, object]>([
      ['no iss where it is promised', promise, {}, { status: 400, code: 'invalid_issuer' }],
      [
        'no iss where it is promised, and an error',
        promise,
        { error: 'access_denied' },
        { status: 400, code: 'invalid_issuer' },
      ],
      ['iss of another', {}, { iss: 'https://evil.example' }, { status: 400, code: 'invalid_issuer' }],
      ['iss in another form', promise, { iss: `${issuer}/` }, { status: 400, code: 'invalid_issuer' }],
      ['access_denied', promise, { iss: issuer, error: 'access_denied' }, { status: 403, code: 'access_denied' }],
      ['login_required', {}, { error: 'login_required' }, { status: 400, code: 'identity_provider_error' }],
      ['an empty code', {}, { code: '' }, { status: 400, code: 'missing_code' }],
    ])('with %s asks for no token', async (_, metadata, callback, expected) => {
      const { signIn, urls } = openid({ metadata })
      expect(await refusal(signIn(callback))).toMatchObject(expected)
      expect(urls()).toEqual([at.discovery])
    })

    test('with the iss that is promised signs in', async () => {
      expect(await openid({ metadata: promise }).signIn({ iss: issuer })).toMatchObject({ userName: 'ada' })
      expect(await openid().signIn({ iss: issuer })).toMatchObject({ userName: 'ada' })
    })

    test('of a sign-in that began without a nonce asks nobody', async () => {
      const { signIn, urls } = openid()
      expect(await refusal(signIn({}, ({ nonce: _, ...secrets }) => secrets))).toMatchObject({
        status: 400,
        code: 'invalid_issuer',
      })
      expect(urls()).toEqual([at.discovery])
    })
  })

  describe('an id_token', () => {
    const seconds = () => Math.floor(Date.now() / 1000)

    test.each<[string, Faults]>([
      ['of another issuer', { claims: { iss: 'https://evil.example' } }],
      ['of no issuer', { claims: { iss: undefined } }],
      ['for another', { claims: { aud: 'somebody-else' } }],
      ['for nobody', { claims: { aud: undefined } }],
      ['for several, without azp', { claims: { aud: [clientId, 'x'] } }],
      ['for several, by another', { claims: { aud: [clientId, 'x'], azp: 'x' } }],
      ['of yesterday', { claims: { exp: seconds() - 86_400 } }],
      ['without an end', { claims: { exp: undefined } }],
      ['with an end in words', { claims: { exp: 'tomorrow' } }],
      ['of tomorrow', { claims: { nbf: seconds() + 86_400 } }],
      ['without iat', { claims: { iat: undefined } }],
      ['without sub', { claims: { sub: undefined } }],
      ['with a number for sub', { claims: { sub: 5 } }],
      ['with an empty sub', { claims: { sub: '' }, metadata: { userinfo_endpoint: undefined } }],
      ['of another sign-in', { claims: { nonce: 'another' } }],
      ['without a nonce', { claims: { nonce: undefined } }],
      ['signed by another', { idToken: (claims) => jwt(claims, { alg: 'ES256', kid: 'k' }, others.privateKey) }],
      ['signed with an unknown key', { idToken: (claims) => jwt(claims, { alg: 'ES256', kid: 'other' }) }],
      ['that is not signed', { idToken: (claims) => `${part({ alg: 'none' })}.${part(claims)}.` }],
      [
        'that is not signed, where that is said to be right',
        {
          idToken: (claims) => `${part({ alg: 'none' })}.${part(claims)}.`,
          metadata: { id_token_signing_alg_values_supported: ['none', 'ES256'] },
        },
      ],
      ['without its signature', { idToken: async (claims) => (await jwt(claims)).replace(/[^.]+$/, '') }],
      [
        'with another signature',
        { idToken: async (claims) => (await jwt(claims)).replace(/[^.]+$/, Buffer.alloc(64, 1).toString('base64url')) },
      ],
      [
        'signed with the client secret',
        { idToken: (claims) => hmac(claims), metadata: { id_token_signing_alg_values_supported: ['HS256', 'ES256'] } },
      ],
      [
        'signed with the public key as a secret',
        {
          idToken: (claims) => hmac(claims, JSON.stringify(publicKey)),
          metadata: { id_token_signing_alg_values_supported: ['HS256', 'ES256'] },
        },
      ],
      ['of an algorithm that is not named', { metadata: { id_token_signing_alg_values_supported: ['RS256'] } }],
      ['of an algorithm when none is named', { metadata: { id_token_signing_alg_values_supported: undefined } }],
      ['with crit', { idToken: (claims) => jwt(claims, { alg: 'ES256', kid: 'k', crit: ['x'], x: 1 }) }],
      ['that is garbage', { idToken: () => '<script>' }],
      ['that is empty', { idToken: () => '' }],
      [
        'of JSON that is none',
        { idToken: () => `${part({ alg: 'ES256' })}.${Buffer.from('{').toString('base64url')}.x` },
      ],
      ['of null', { idToken: () => `${Buffer.from('null').toString('base64url')}.bnVsbA.x` }],
      ['that is encrypted', { idToken: () => 'a.b.c.d.e' }],
    ])('%s signs nobody in', async (_, faults) => {
      const { signIn, lines, urls } = openid(faults)
      const told = await refusal(signIn())
      expect(told).toMatchObject(unavailable)
      expect(lines).toMatchObject([{ level: 'warn' }])
      expect(urls()).not.toContain(at.user)
      for (const text of [...foreign, 'ada', 'nonce-'])
        expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    async function hmac(claims: object, secret = clientSecret): Promise<string> {
      const key = await crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
        'sign',
      ])
      const signed = `${part({ alg: 'HS256' })}.${part(claims)}`
      return `${signed}.${Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from(signed))).toString('base64url')}`
    }

    test('that is missing signs nobody in', async () => {
      const { signIn, lines } = openid({
        answers: { [at.token]: () => json({ access_token: token, token_type: 'bearer' }) },
      })
      expect(await refusal(signIn())).toMatchObject(unavailable)
      expect(lines).toMatchObject([{ text: expect.stringContaining('id_token') }])
    })

    test('tells the log which claim was wrong', async () => {
      const { signIn, lines } = openid({ claims: { aud: 'somebody-else' } })
      await refusal(signIn())
      expect(lines).toEqual([
        {
          level: 'warn',
          text: 'the identity provider failed stage=id_token reason=OAUTH_JWT_CLAIM_COMPARISON_FAILED (aud)',
        },
      ])
    })

    test('is judged by the clock of the host', async () => {
      const tomorrow = () => Date.now() + 86_400_000
      expect(await openid({ now: tomorrow }).signIn()).toMatchObject({ userName: 'ada' })
      expect(await refusal(openid({ now: tomorrow, claims: { exp: seconds() + 300 } }).signIn())).toMatchObject(
        unavailable,
      )
    })

    test('for several, us among them and by us, signs in', async () => {
      expect(await openid({ claims: { aud: ['x', clientId], azp: clientId } }).signIn()).toMatchObject({
        userName: 'ada',
      })
    })
  })

  test.each<[string, () => Response]>([
    ['of another', () => json({ ...person, sub: 'id-eve' })],
    ['without sub', () => json({ ...person, sub: undefined })],
    ['with an empty sub', () => json({ ...person, sub: '' })],
    ['signed', () => new Response('a.b.c', { headers: { 'content-type': 'application/jwt' } })],
    ['in HTML', () => new Response('<script>', { headers: { 'content-type': 'text/html' } })],
    ['with 401', () => json({}, { status: 401, headers: { 'www-authenticate': 'Bearer' } })],
    ['that redirects', () => Response.redirect('https://evil.example')],
    ['in an array', () => json([person])],
  ])('userinfo %s signs nobody in', async (_, answer) => {
    const { signIn, lines } = openid({ answers: { [at.user]: answer } })
    expect(await refusal(signIn())).toMatchObject(unavailable)
    expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=user') }])
  })

  test.each<[string, () => Response, object]>([
    [
      'cannot be had',
      () => {
        throw new Error('connect ECONNREFUSED')
      },
      unavailable,
    ],
    [
      'do not come in time',
      () => {
        throw new DOMException('late', 'TimeoutError')
      },
      late,
    ],
    ['are none', () => json({ keys: [] }), unavailable],
    ['are HTML', () => new Response('<script>', { headers: { 'content-type': 'text/html' } }), unavailable],
    ['are a number', () => json({ keys: 5 }), unavailable],
    ['are numbers', () => json({ keys: [5] }), unavailable],
    ['are broken', () => json({ keys: [{ kty: 'EC', crv: 'P-256', kid: 'k', x: '!', y: '!' }] }), unavailable],
    ['are doubled', () => json({ keys: [publicKey, publicKey] }), unavailable],
  ])('keys that %s sign nobody in', async (_, answer, expected) => {
    const { signIn, lines } = openid({ answers: { [at.keys]: answer } })
    expect(await refusal(signIn())).toMatchObject(expected)
    expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=id_token') }])
  })

  describe('discovery', () => {
    test.each<[string, () => Response, object]>([
      [
        'cannot be had',
        () => {
          throw new Error('connect ECONNREFUSED')
        },
        unavailable,
      ],
      [
        'does not come in time',
        () => {
          throw new DOMException('late', 'TimeoutError')
        },
        late,
      ],
      ['is of another issuer', () => json({ ...metadata, issuer: 'https://evil.example' }), unavailable],
      ['is of no issuer', () => json({ ...metadata, issuer: undefined }), unavailable],
      ['is of an issuer that is none', () => json({ ...metadata, issuer: 'x' }), unavailable],
      ['is HTML', () => new Response('<script>', { headers: { 'content-type': 'text/html' } }), unavailable],
      ['redirects', () => Response.redirect('https://evil.example'), unavailable],
      ['is not there', () => json({}, { status: 404 }), unavailable],
      ['is an array', () => json([metadata]), unavailable],
      ...[
        undefined,
        null,
        5,
        '',
        'x',
        '/authorize',
        'javascript:alert(1)',
        'http://id.example.org/authorize',
        'http://127.0.0.1/authorize',
        'https://user:word@id.example.org/authorize',
        'ftp://id.example.org',
      ].map((authorization_endpoint): [string, () => Response, object] => [
        `sends people to ${JSON.stringify(authorization_endpoint)}`,
        () => json({ ...metadata, authorization_endpoint }),
        unavailable,
      ]),
    ])('that %s sends nobody anywhere', async (_, answer, expected) => {
      const { provider, lines } = openid({ answers: { [at.discovery]: answer } })
      expect(await refusal(provider.begin(state))).toMatchObject(expected)
      expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=discovery') }])
    })

    test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
      'that leads elsewhere by its %s leads us nowhere',
      async (name) => {
        for (const url of [
          'http://127.0.0.1:1/x',
          'http://id.example.org/x',
          'ftp://id.example.org/x',
          'https://user:word@id.example.org/x',
          'x',
          'file:///etc/passwd',
          '',
        ]) {
          const { signIn, urls } = openid({ metadata: { [name]: url } })
          expect(await refusal(signIn())).toMatchObject(unavailable)
          expect(urls()).not.toContain(url)
        }
      },
    )

    test('is asked once by all who wait for it, and believed for an hour', async () => {
      let time = Date.now()
      const { provider, urls } = openid({ now: () => time })
      await Promise.all(Array.from({ length: 10 }, () => provider.begin(state)))
      time += 59 * 60_000
      await provider.begin(state)
      expect(urls()).toEqual([at.discovery])
      time += 2 * 60_000
      await provider.begin(state)
      expect(urls()).toEqual([at.discovery, at.discovery])
      time -= 24 * 60 * 60_000
      await provider.begin(state)
      expect(urls()).toHaveLength(3)
    })

    test('that failed is asked again', async () => {
      let isWell = false
      const { provider, urls } = openid({
        answers: { [at.discovery]: () => (isWell ? json(metadata) : json({}, { status: 503 })) },
      })
      await Promise.all([refusal(provider.begin(state)), refusal(provider.begin(state))])
      expect(urls()).toEqual([at.discovery])
      isWell = true
      expect((await provider.begin(state)).url).toStartWith(at.authorize)
    })

    test('keys are asked for once by many who sign in', async () => {
      const { signIn, urls } = openid()
      for (let index = 0; index < 5; index++) await signIn()
      expect(urls().filter((url) => url === at.keys)).toHaveLength(1)
    })
  })

  test('an issuer on this machine may be http, and lead to itself', async () => {
    const local = 'http://127.0.0.1:9'
    const ends = {
      issuer: local,
      authorization_endpoint: `${local}/a`,
      token_endpoint: `${local}/t`,
      jwks_uri: `${local}/k`,
      userinfo_endpoint: `${local}/u`,
    }
    const answers: Answers = {
      [`${local}/.well-known/openid-configuration`]: () => json({ ...metadata, ...ends }),
      [`${local}/k`]: () => json({ keys: [publicKey] }),
      [`${local}/u`]: () => json(person),
    }
    let nonce: string | undefined
    const { host } = world({
      ...answers,
      [`${local}/t`]: async () =>
        json({
          access_token: token,
          token_type: 'bearer',
          id_token: await jwt({ iss: local, aud: clientId, exp: Date.now() / 1000 + 60, iat: 0, nonce, sub: 'id-ada' }),
        }),
    })
    const provider = identityProvider(settingsOf({ issuer: local }), host)
    const { url, secrets } = await provider.begin(state)
    nonce = secrets.nonce
    expect(url).toStartWith(`${local}/a?`)
    expect(await provider.identify({ state, code }, secrets)).toMatchObject({ userName: 'ada' })
  })
})
