import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { WireError } from '../../../formats/error.ts'
import type { FetchOptions, Host } from '../../extension.ts'
import { parseSettings } from '../settings/parse-settings.ts'
import type { Settings } from '../settings/settings.ts'
import type { CallbackParameters, FlowSecrets, IdentityProvider } from './identity-provider.ts'
import { identityProvider } from './make-identity-provider.ts'

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

interface SentRequest extends FetchOptions {
  readonly url: string
}

type Answers = Readonly<Record<string, (request: SentRequest) => Response | Promise<Response>>>

/** A host whose `fetch` answers by URL, and which records requests and log lines. */
function recordingHost(answers: Answers, now: () => number = Date.now) {
  const asked: SentRequest[] = []
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
    lastingStore: () => {
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
      if (answer === undefined) throw new Error(`no answer for ${url}`)
      return answer({ ...options, url })
    },
  }
  return { host, asked, lines }
}

function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causesOf(error.cause)}` : String(error)
}

const json = (value: unknown, init?: ResponseInit) => Response.json(value, init)
const form = ({ body = '' }: SentRequest) => Object.fromEntries(new URLSearchParams(body))

/** The error of a sign-in that must fail. */
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
        text: [JSON.stringify(error), error.advice ?? '', JSON.stringify(error.headers), causesOf(error.cause)].join(
          ' ',
        ),
      }
    throw error
  }
  throw new Error('the sign-in succeeded')
}

const unavailable = { status: 502, code: 'identity_provider_unavailable' }
const nameless = { status: 502, code: 'no_username' }
const late = { status: 504, code: 'identity_provider_unavailable' }

/** Texts that must not appear in logs and errors. */
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

/** Completes a sign-in. */
async function signIn(
  provider: IdentityProvider,
  callback: Partial<CallbackParameters> = {},
  change: (secrets: FlowSecrets) => FlowSecrets = (secrets) => secrets,
) {
  const { secrets } = await provider.begin(state)
  return provider.identify({ state, code, ...callback }, change(secrets))
}

function github(answers: Answers = {}, values: Readonly<Record<string, unknown>> = {}) {
  const { host, asked, lines } = recordingHost({ ...githubAnswers, ...answers })
  return { asked, lines, provider: identityProvider(settingsOf(values), host, { requestMs: 1000, totalMs: 2000 }) }
}

describe('a probe', () => {
  test.each([
    ['knows the client, and refuses the code', { error: 'bad_verification_code' }, 200],
    ['knows the client, as Gitea says it', { error: 'unauthorized_client' }, 400],
    ['has trouble', { error: 'server_error' }, 500],
  ])('passes where the identity provider %s', async (_name, body, status) => {
    const { provider, asked, lines } = github({ [githubUrls.token]: () => json(body, { status }) })
    await provider.probe()
    expect(asked.map(form)).toEqual([expect.objectContaining({ client_id: clientId, client_secret: clientSecret })])
    expect(lines).toEqual([])
  })

  test.each([
    ['incorrect_client_credentials', 200],
    ['invalid_client', 401],
  ])('fails where the client is refused: %s', async (error, status) => {
    const { provider } = github({ [githubUrls.token]: () => json({ error }, { status }) })
    const refused = await refusal(provider.probe())
    expect(refused).toMatchObject({ status: 400, code: 'invalid_value' })
    expect(refused.text).not.toContain(clientSecret)
  })

  test('fails where no identity provider answers', async () => {
    const { host } = recordingHost({})
    const provider = identityProvider(settingsOf({ issuer: 'https://id.test' }), host)
    await expect(provider.probe()).rejects.toThrow('id.test does not answer as an identity provider should (discovery')
  })
})

describe('plain OAuth 2.0', () => {
  describe('begin', () => {
    test('builds an authorization URL with all parameters', async () => {
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

    test('omits PKCE and scope when they are switched off', async () => {
      const { provider } = github({}, { pkce: false, scope: '' })
      const { url, secrets } = await provider.begin(state)
      expect([...new URL(url).searchParams.keys()]).toEqual(['response_type', 'client_id', 'redirect_uri', 'state'])
      expect(secrets).toEqual({})
    })

    test('keeps the query of the configured URL, but replaces our own parameters', async () => {
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

  test('identify exchanges the code and requests the user', async () => {
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

  test.each([
    ['svc-client', 'svc-secret', 'svc-client:svc-secret'],
    ['a.b_c*d-e', '-._*', 'a.b_c*d-e:-._*'],
    ['an app', 'a b', 'an+app:a+b'],
    ['a:b', '%+&=/?~!', 'a%3Ab:%25%2B%26%3D%2F%3F%7E%21'],
  ])(
    'client_secret_basic encodes %s and %s as forms do (RFC 6749 appendix B)',
    async (client_id, client_secret, expected) => {
      const { provider, asked } = github({}, { client_id, client_secret, token_auth_method: 'client_secret_basic' })
      await signIn(provider)
      expect(asked[0]?.headers['authorization']).toBe(`Basic ${btoa(expected)}`)
    },
  )

  test('client_secret_basic is accepted by a server that compares the header without decoding', async () => {
    const strict = ({ headers }: SentRequest) =>
      headers['authorization'] === `Basic ${btoa('svc-client:svc-secret_1.0')}`
        ? json({ access_token: token, token_type: 'bearer' })
        : json({ error: 'invalid_client' }, { status: 401 })
    const { provider } = github(
      { [githubUrls.token]: strict },
      { client_id: 'svc-client', client_secret: 'svc-secret_1.0', token_auth_method: 'client_secret_basic' },
    )
    expect(await signIn(provider)).toMatchObject({ userName: 'octocat' })
  })

  test('sends a code verifier if the sign-in started with PKCE, regardless of the current configuration', async () => {
    const without = github({}, { pkce: false })
    await signIn(without.provider)
    expect(without.asked[0] && form(without.asked[0])).not.toHaveProperty('code_verifier')
    const { provider, asked } = github({}, { pkce: false })
    await signIn(provider, {}, (secrets) => ({ ...secrets, codeVerifier: 'v'.repeat(43) }))
    expect(asked[0] && form(asked[0])).toHaveProperty('code_verifier', 'v'.repeat(43))
  })

  describe('the callback', () => {
    test.each<[string, Partial<CallbackParameters>, object]>([
      ['another iss', { iss: 'https://evil.example' }, { status: 400, code: 'invalid_issuer' }],
      ['iss in another form', { iss: `${githubIssuer}/` }, { status: 400, code: 'invalid_issuer' }],
      ['an empty iss', { iss: '' }, { status: 400, code: 'invalid_issuer' }],
      [
        'another iss and an error',
        { iss: 'https://evil.example', error: 'access_denied' },
        { status: 400, code: 'invalid_issuer' },
      ],
      ['access_denied', { error: 'access_denied' }, { status: 403, code: 'access_denied' }],
      ['access_denied and no code', { error: 'access_denied', code: '' }, { status: 403, code: 'access_denied' }],
      ['server_error', { error: 'server_error' }, unavailable],
      ['temporarily_unavailable', { error: 'temporarily_unavailable' }, unavailable],
      ['invalid_scope', { error: 'invalid_scope' }, { status: 400, code: 'identity_provider_error' }],
      ['an unknown error', { error: '<script>alert(1)</script>' }, { status: 400, code: 'identity_provider_error' }],
      ['an empty error', { error: '' }, { status: 400, code: 'identity_provider_error' }],
      ['an error with line breaks', { error: 'x\r\n<script>: y' }, { status: 400, code: 'identity_provider_error' }],
      ['an empty code', { code: '' }, { status: 400, code: 'missing_code' }],
    ])('with %s sends no request', async (_, callback, expected) => {
      const { provider, asked, lines } = github()
      const told = await refusal(signIn(provider, callback))
      expect(told).toMatchObject(expected)
      expect(asked).toEqual([])
      for (const text of foreign) expect(`${told.text}${JSON.stringify(lines)}`).not.toContain(text)
    })

    test('without a code sends no request', async () => {
      const { provider, asked } = github()
      const { secrets } = await provider.begin(state)
      expect(await refusal(provider.identify({ state }, secrets))).toMatchObject({ status: 400, code: 'missing_code' })
      expect(asked).toEqual([])
    })

    test('needs no iss, and accepts any where the issuer is unknown', async () => {
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
      expect(await signIn(provider, { iss: 'https://any.example' })).toMatchObject({ userName: 'octocat' })
    })

    test('never causes an internal error, and is not repeated', async () => {
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
          const { host, asked, lines } = recordingHost({
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

  /** Failures with the same result at every endpoint. */
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
        'sends an error with 200, as GitHub does',
        () => json({ error: 'bad_verification_code', error_description: '<script>' }),
        { status: 400, code: 'oauth_exchange_failed' },
      ],
      [
        'sends an unknown error',
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
        'sends an error with a token beside it',
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
      ['gives a token of an unknown type', () => json({ access_token: token, token_type: 'mac' }), unavailable],
      ['gives a token that is bound to a key', () => json({ access_token: token, token_type: 'dpop' }), unavailable],
      ['gives a token of no kind', () => json({ access_token: token }), unavailable],
    ])('that %s does not sign in', async (_, answer, expected) => {
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
      ['sends an id beyond what numbers can hold', text('{"id":9007199254740993,"login":"octocat"}'), unavailable],
      ['sends an error with 200', () => json({ error: 'x', message: '<script>' }), unavailable],
      ['sends no user name', () => json({ ...octocat, login: undefined }), nameless],
    ])('that %s does not sign in', async (_, answer, expected) => {
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
  })

  describe('an e-mail address that the profile hides', () => {
    const hidden = { [githubUrls.user]: () => json({ ...octocat, email: null }) }

    test('is requested; the primary one is used', async () => {
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
      ['has no verified one', () => json([{ email: 'a@x.example', primary: true, verified: false }])],
      [
        'has invalid entries',
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

    test('is requested when the provider names no granted scopes, and the configured ones include it', async () => {
      const answers = { ...hidden, [githubUrls.token]: () => json({ access_token: token, token_type: 'bearer' }) }
      const asking = github(answers),
        modest = github(answers, { scope: 'read:user' })
      expect([await signIn(asking.provider), await signIn(modest.provider)]).toMatchObject([
        { email: 'primary@x.example' },
        { email: '' },
      ])
    })
  })

  test('each request gets the remaining time, and none is sent after the total time', async () => {
    const { host, asked } = recordingHost({
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
    /** Claims of the id_token. */
    readonly claims?: object
    readonly idToken?: (claims: object) => Promise<string> | string
    readonly answers?: Answers
    readonly config?: Readonly<Record<string, unknown>>
    readonly now?: () => number
  }

  /** A provider whose id_token has the nonce of the sign-in. */
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
    const outside = recordingHost(
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

  test('begin discovers the authorization URL, and sends a nonce', async () => {
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

  test('identify exchanges the code, validates the id_token and requests userinfo', async () => {
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

  test('takes the claims of the id_token where userinfo lacks the user name', async () => {
    const bare = openid({ answers: { [at.user]: () => json({ sub: 'id-ada', email: 'other@x.example' }) } })
    expect(await bare.signIn()).toMatchObject({ userName: 'ada', email: 'ada@x.example' })
    const neither = openid({
      answers: { [at.user]: () => json({ sub: 'id-ada' }) },
      claims: { preferred_username: undefined },
    })
    expect(await refusal(neither.signIn())).toMatchObject(nameless)
    expect(neither.lines.at(-1)?.text).toContain("no usable 'preferred_username' among")
  })

  test('takes email and email_verified from one source', async () => {
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
    'Google with %j does not sign in',
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
      expect(await refusal(signIn())).toMatchObject('email' in rest ? nameless : unavailable)
      expect(lines).toMatchObject([
        {
          level: 'warn',
          text: expect.stringContaining('email' in rest ? "found no usable 'email' among" : 'email_not_verified'),
        },
      ])
    },
  )

  test('says that OAuth is not configured, and sends no request', async () => {
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
      ['no iss where it is required', promise, {}, { status: 400, code: 'invalid_issuer' }],
      [
        'no iss where it is required, and an error',
        promise,
        { error: 'access_denied' },
        { status: 400, code: 'invalid_issuer' },
      ],
      ['another iss', {}, { iss: 'https://evil.example' }, { status: 400, code: 'invalid_issuer' }],
      ['iss in another form', promise, { iss: `${issuer}/` }, { status: 400, code: 'invalid_issuer' }],
      ['access_denied', promise, { iss: issuer, error: 'access_denied' }, { status: 403, code: 'access_denied' }],
      ['login_required', {}, { error: 'login_required' }, { status: 400, code: 'identity_provider_error' }],
      ['an empty code', {}, { code: '' }, { status: 400, code: 'missing_code' }],
    ])('with %s asks for no token', async (_, metadata, callback, expected) => {
      const { signIn, urls } = openid({ metadata })
      expect(await refusal(signIn(callback))).toMatchObject(expected)
      expect(urls()).toEqual([at.discovery])
    })

    test('with the required iss signs in', async () => {
      expect(await openid({ metadata: promise }).signIn({ iss: issuer })).toMatchObject({ userName: 'ada' })
      expect(await openid().signIn({ iss: issuer })).toMatchObject({ userName: 'ada' })
    })

    test('of a sign-in without a nonce sends no request', async () => {
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
      ['for another audience', { claims: { aud: 'another-client' } }],
      ['without audience', { claims: { aud: undefined } }],
      ['for several audiences, without azp', { claims: { aud: [clientId, 'x'] } }],
      ['for several audiences, with another azp', { claims: { aud: [clientId, 'x'], azp: 'x' } }],
      ['that is expired', { claims: { exp: seconds() - 86_400 } }],
      ['without exp', { claims: { exp: undefined } }],
      ['with a text for exp', { claims: { exp: 'tomorrow' } }],
      ['that is not valid yet', { claims: { nbf: seconds() + 86_400 } }],
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
        'that is not signed, where the metadata allow none',
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
      ['of an algorithm that the metadata exclude', { metadata: { id_token_signing_alg_values_supported: ['RS256'] } }],
      [
        'of an algorithm where the metadata name none',
        { metadata: { id_token_signing_alg_values_supported: undefined } },
      ],
      ['with crit', { idToken: (claims) => jwt(claims, { alg: 'ES256', kid: 'k', crit: ['x'], x: 1 }) }],
      ['that is garbage', { idToken: () => '<script>' }],
      ['that is empty', { idToken: () => '' }],
      ['of invalid JSON', { idToken: () => `${part({ alg: 'ES256' })}.${Buffer.from('{').toString('base64url')}.x` }],
      ['of null', { idToken: () => `${Buffer.from('null').toString('base64url')}.bnVsbA.x` }],
      ['that is encrypted', { idToken: () => 'a.b.c.d.e' }],
    ])('%s does not sign in', async (_, faults) => {
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
      const signature = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from(signed)))
      return `${signed}.${signature.toString('base64url')}`
    }

    test('that is missing does not sign in', async () => {
      const { signIn, lines } = openid({
        answers: { [at.token]: () => json({ access_token: token, token_type: 'bearer' }) },
      })
      expect(await refusal(signIn())).toMatchObject(unavailable)
      expect(lines).toMatchObject([{ text: expect.stringContaining('id_token') }])
    })

    test('with a wrong claim is logged with the name of the claim', async () => {
      const { signIn, lines } = openid({ claims: { aud: 'another-client' } })
      await refusal(signIn())
      expect(lines).toEqual([
        {
          level: 'warn',
          text: 'the identity provider failed stage=id_token reason=OAUTH_JWT_CLAIM_COMPARISON_FAILED (aud)',
        },
      ])
    })

    test('is checked against the clock of the host', async () => {
      const tomorrow = () => Date.now() + 86_400_000
      expect(await openid({ now: tomorrow }).signIn()).toMatchObject({ userName: 'ada' })
      expect(await refusal(openid({ now: tomorrow, claims: { exp: seconds() + 300 } }).signIn())).toMatchObject(
        unavailable,
      )
    })

    test('for several audiences, with the client as azp, signs in', async () => {
      expect(await openid({ claims: { aud: ['x', clientId], azp: clientId } }).signIn()).toMatchObject({
        userName: 'ada',
      })
    })
  })

  test.each<[string, () => Response]>([
    [
      'signs its answer',
      () => new Response('a.b.c', { headers: { 'content-type': 'application/jwt; charset=utf-8' } }),
    ],
    ...[401, 403, 404, 405].map((status): [string, () => Response] => [
      `answers ${status}`,
      () => json({}, { status }),
    ]),
  ])('the claims of the id_token serve where userinfo %s', async (_, answer) => {
    expect(await openid({ answers: { [at.user]: answer } }).signIn()).toMatchObject({ userName: 'ada' })
    for (const claims of [
      { aud: 'another' },
      { exp: 1 },
      { iss: 'https://evil.example' },
      { preferred_username: undefined },
    ])
      expect(await refusal(openid({ answers: { [at.user]: answer }, claims }).signIn())).toMatchObject(
        'preferred_username' in claims ? nameless : unavailable,
      )
    const unsigned = openid({
      answers: { [at.user]: answer },
      idToken: (all) => `${part({ alg: 'none' })}.${part(all)}.`,
    })
    expect(await refusal(unsigned.signIn())).toMatchObject(unavailable)
  })

  test.each<[string, () => Response]>([
    ['of another', () => json({ ...person, sub: 'id-eve' })],
    ['without sub', () => json({ ...person, sub: undefined })],
    ['with an empty sub', () => json({ ...person, sub: '' })],
    ['in HTML', () => new Response('<script>', { headers: { 'content-type': 'text/html' } })],
    ['with 500', () => json({}, { status: 500 })],
    ['that redirects', () => Response.redirect('https://evil.example')],
    ['in an array', () => json([person])],
  ])('userinfo %s does not sign in', async (_, answer) => {
    const { signIn, lines } = openid({ answers: { [at.user]: answer } })
    expect(await refusal(signIn())).toMatchObject(unavailable)
    expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=user') }])
  })

  test.each<[string, () => Response, object]>([
    [
      'fails',
      () => {
        throw new Error('connect ECONNREFUSED')
      },
      unavailable,
    ],
    [
      'time out',
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
  ])('keys that %s do not sign in', async (_, answer, expected) => {
    const { signIn, lines } = openid({ answers: { [at.keys]: answer } })
    expect(await refusal(signIn())).toMatchObject(expected)
    expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=id_token') }])
  })

  describe('discovery', () => {
    test.each<[string, () => Response, object]>([
      [
        'fails',
        () => {
          throw new Error('connect ECONNREFUSED')
        },
        unavailable,
      ],
      [
        'times out',
        () => {
          throw new DOMException('late', 'TimeoutError')
        },
        late,
      ],
      ['is of another issuer', () => json({ ...metadata, issuer: 'https://evil.example' }), unavailable],
      ['is of no issuer', () => json({ ...metadata, issuer: undefined }), unavailable],
      ['has an invalid issuer', () => json({ ...metadata, issuer: 'x' }), unavailable],
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
    ])('that %s causes no redirect', async (_, answer, expected) => {
      const { provider, lines } = openid({ answers: { [at.discovery]: answer } })
      expect(await refusal(provider.begin(state))).toMatchObject(expected)
      expect(lines).toMatchObject([{ level: 'warn', text: expect.stringContaining('stage=discovery') }])
    })

    test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
      'with a %s that is not allowed is refused',
      async (name) => {
        for (const url of [
          5,
          'http://127.0.0.1:1/x',
          'http://id.example.org/x',
          'ftp://id.example.org/x',
          'https://user:word@id.example.org/x',
          'x',
          'file:///etc/passwd',
          '',
          // CVE-2026-45400, CVE-2026-31943: spellings of this machine.
          'https://127.1/x',
          'https://localhost./x',
          'https://0.0.0.0/x',
          'https://[::]/x',
          'https://[::ffff:7f00:1]/x',
        ]) {
          const { signIn, urls } = openid({ metadata: { [name]: url } })
          expect(await refusal(signIn())).toMatchObject(unavailable)
          expect(urls()).not.toContain(String(url))
        }
      },
    )

    test('is requested once for concurrent sign-ins, and cached for an hour', async () => {
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

    test('that failed is requested again', async () => {
      let isWell = false
      const { provider, urls } = openid({
        answers: { [at.discovery]: () => (isWell ? json(metadata) : json({}, { status: 503 })) },
      })
      await Promise.all([refusal(provider.begin(state)), refusal(provider.begin(state))])
      expect(urls()).toEqual([at.discovery])
      isWell = true
      expect((await provider.begin(state)).url).toStartWith(at.authorize)
    })

    test('keys are requested once for many sign-ins', async () => {
      const { signIn, urls } = openid()
      for (let index = 0; index < 5; index++) await signIn()
      expect(urls().filter((url) => url === at.keys)).toHaveLength(1)
    })
  })

  test('an issuer on this machine may use http and loopback URLs', async () => {
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
    const { host } = recordingHost({
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
