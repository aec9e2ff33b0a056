import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ExtensionConfigError } from '../../extension.ts'
import { parseSettings, type ParsedSettings } from './parse-settings.ts'
import type { Endpoints } from './settings.ts'

const redirect_uri = 'https://chat.example.org/auth/provider/callback'
const minimal = { client_id: 'the-client', client_secret: 'the-secret', redirect_uri }
const parse = (values: Readonly<Record<string, unknown>>, unset: Readonly<Record<string, string>> = {}) =>
  parseSettings({ values, unset: new Map(Object.entries(unset)) })

function on(parsed: ParsedSettings | undefined): ParsedSettings {
  if (parsed === undefined) throw new Error('sign-in is off')
  return parsed
}

const settingsOf = (values: Readonly<Record<string, unknown>>, unset = {}) => on(parse(values, unset)).settings
const warningsOf = (values: Readonly<Record<string, unknown>>, unset = {}) => on(parse(values, unset)).warnings

function errorOf(
  values: Readonly<Record<string, unknown>>,
  unset = {},
): { readonly field: string; readonly found: string; readonly allowed: string } {
  try {
    parse(values, unset)
  } catch (error) {
    if (error instanceof ExtensionConfigError) return { field: error.field, found: error.found, allowed: error.allowed }
    throw error
  }
  throw new Error('there is no error')
}

describe('parseSettings', () => {
  test('accepts the minimal file of docs/sign-in.md', () => {
    const { restrictTo, ...settings } = settingsOf({ ...minimal, restrict_to: 'alice, bob', enabled: true })
    expect(settings).toEqual({
      client: { id: 'the-client', secret: 'the-secret' },
      redirectUri: redirect_uri,
      endpoints: {
        kind: 'oauth',
        authorizeUrl: 'https://github.com/login/oauth/authorize',
        tokenUrl: 'https://github.com/login/oauth/access_token',
        userUrl: 'https://api.github.com/user',
        emailsUrl: 'https://api.github.com/user/emails',
        issuer: 'https://github.com/login/oauth',
      },
      scope: 'read:user user:email',
      tokenAuthMethod: 'client_secret_post',
      hasPkce: true,
      userFields: { id: 'id', username: 'login', displayName: 'name', avatar: 'avatar_url', email: 'email' },
      displayName: 'GitHub',
      hasCaselessNames: true,
      allowsInsecureHttp: false,
      cookieName: 'token',
      requestsPerMinute: 120,
      trustedProxies: [],
      hasAgents: false,
      agentDays: 7,
    })
    expect(restrictTo?.allows({ userId: '1', userName: 'Alice' })).toBeTrue()
    expect(restrictTo?.allows({ userId: '1', userName: 'carol' })).toBeFalse()
    expect(warningsOf({ ...minimal, restrict_to: 'alice' })).toEqual([])
  })

  test.each<[string, Record<string, unknown>, boolean]>([
    ['GitHub', {}, true],
    ['GitHub Enterprise', { base_url: 'https://git.example.org' }, true],
    ['GitLab', { provider: 'gitlab' }, true],
    ['Gitea', { provider: 'gitea', base_url: 'https://git.example.org' }, true],
    ['GitHub, by another member', { user_fields: { username: 'node_id' } }, false],
    ['Google', { provider: 'google' }, false],
    ['Microsoft', { provider: 'microsoft' }, false],
    ['an issuer', { issuer: 'https://id.example.org' }, false],
    [
      'three URLs',
      {
        authorize_url: 'https://id.example.org/a',
        token_url: 'https://id.example.org/t',
        user_url: 'https://id.example.org/u',
      },
      false,
    ],
  ])('compares names of %s without regard to case only where the provider does', (_, values, expected) => {
    const { hasCaselessNames, restrictTo } = settingsOf({ ...minimal, ...values, restrict_to: 'OctoCat id:7' })
    expect([
      hasCaselessNames,
      restrictTo?.allows({ userId: '1', userName: 'OCTOCAT' }),
      restrictTo?.allows({ userId: '7', userName: 'x' }),
    ]).toEqual([expected, expected, true])
  })

  test('reads every optional member', () => {
    const settings = settingsOf({
      ...minimal,
      issuer: 'https://id.example.org/realms/x',
      scope: ' openid  email ',
      token_auth_method: 'client_secret_basic',
      pkce: false,
      display_name: 'The Lab',
      icon: 'data:image/svg+xml;base64,PHN2Zy8+',
      sign_in_note: 'Für <b>Mitglieder</b> 👩‍🚀',
      cookie_name: '__Host-token',
      requests_per_minute: 5,
      trusted_proxies: ['10.0.0.0/8', '::1'],
      user_fields: { id: 'oid', username: 'upn', display_name: '', avatar: 'photo', email: 'mail' },
    })
    expect(settings).toMatchObject({
      endpoints: { kind: 'openid', issuer: 'https://id.example.org/realms/x' },
      scope: 'openid email',
      tokenAuthMethod: 'client_secret_basic',
      hasPkce: false,
      displayName: 'The Lab',
      icon: 'data:image/svg+xml;base64,PHN2Zy8+',
      note: 'Für <b>Mitglieder</b> 👩‍🚀',
      cookieName: '__Host-token',
      requestsPerMinute: 5,
      trustedProxies: ['10.0.0.0/8', '::1'],
      userFields: { id: 'oid', username: 'upn', displayName: '', avatar: 'photo', email: 'mail' },
    })
  })

  describe('enabled', () => {
    test.each([false, 'false'])('%p switches sign-in off, regardless of other members', (enabled) => {
      expect(parse({ enabled, client_id: 5, unheard_of: {} })).toBeUndefined()
    })

    test.each([[{ enabled: true }], [{ enabled: 'true' }], [{}]])('%j leaves sign-in on', (values) => {
      expect(on(parse({ ...minimal, ...values })).settings.displayName).toBe('GitHub')
    })

    test.each([0, 1, null, '', 'no', 'False', 'off', [], {}, [false], 'disabled'].map((enabled) => [enabled]))(
      '%j is an error, and does not switch sign-in off',
      (enabled) => {
        expect(errorOf({ ...minimal, enabled })).toMatchObject({ field: 'enabled', allowed: 'true or false' })
      },
    )

    test('an unset variable leaves sign-in on, with a warning', () => {
      expect(warningsOf({ ...minimal, restrict_to: 'alice' }, { enabled: 'SIGN_IN' })).toEqual([
        'enabled has its default value: $SIGN_IN is not set',
      ])
    })
  })

  describe('client_id and client_secret', () => {
    test.each([
      ['no id', { client_secret: 's', redirect_uri }, {}, ['client_id is missing']],
      ['no secret', { client_id: 'i', redirect_uri }, {}, ['client_secret is missing']],
      ['neither', {}, {}, ['client_id is missing', 'client_secret is missing']],
      ['an empty id', { ...minimal, client_id: '' }, {}, ['client_id is empty']],
      ['an empty secret', { ...minimal, client_secret: '' }, {}, ['client_secret is empty']],
      [
        'unset variables',
        { redirect_uri },
        { client_id: 'PROVIDER_CLIENT_ID', client_secret: 'PROVIDER_CLIENT_SECRET' },
        [
          'client_id is $PROVIDER_CLIENT_ID, which is not set',
          'client_secret is $PROVIDER_CLIENT_SECRET, which is not set',
        ],
      ],
    ])('with %s sign-in is on, and warns that all sign-ins fail', (_, values, unset, reasons) => {
      const { settings, warnings } = on(parse({ ...values, restrict_to: 'alice' }, unset))
      expect(settings).not.toHaveProperty('client')
      expect(warnings).toEqual(reasons.map((reason) => `Provider OAuth not configured, all sign-ins fail: ${reason}`))
    })

    test.each([
      ['client_id', 'PROVIDER_CLIENT_ID'],
      ['client_secret', 'PROVIDER_CLIENT_SECRET'],
      ['restrict_to', 'PROVIDER_USERS'],
      ['client_secret', 'PROVIDER_CLIENT_ID'],
      ['restrict_to', ' PROVIDER_USERS '],
    ])('%s: %j without "$" is an error', (field, value) => {
      expect(errorOf({ ...minimal, [field]: value })).toEqual({
        field,
        found: 'the name of a variable without its "$"',
        allowed: `"$${value.trim()}", for the environment variable of that name`,
      })
      expect(errorOf({ ...minimal, restrict_to: ['alice', 'PROVIDER_USERS'] }).field).toBe('restrict_to')
    })

    test.each(
      [5, null, true, {}, [], ['x'], 'two\nlines', 'trailing ', ' leading', 'ü', 'x'.repeat(4097)].map((value) => [
        value,
      ]),
    )('%j is an error, and is not shown', (value) => {
      for (const field of ['client_id', 'client_secret']) {
        const error = errorOf({ ...minimal, [field]: value })
        expect(error.field).toBe(field)
        expect(error.found).toMatch(/^a value of type \w+ \(not shown\)$|^4097 characters$/)
      }
    })
  })

  describe('redirect_uri', () => {
    test.each([
      'http://127.0.0.1:8000/auth/provider/callback',
      'http://localhost/auth/provider/callback',
      'https://[2001:db8::1]:8443/auth/provider/callback',
      'https://xn--bcher-kva.example/auth/provider/callback',
    ])('%j is kept exactly as it is', (uri) => {
      expect(settingsOf({ ...minimal, redirect_uri: uri }).redirectUri).toBe(uri)
    })

    test.each(
      [
        '/auth/provider/callback',
        'chat.example.org/auth/provider/callback',
        'ftp://chat.example.org/auth/provider/callback',
        'javascript://x/auth/provider/callback',
        'https:///auth/provider/callback',
        'https://chat.example.org',
        'https://chat.example.org/',
        'https://chat.example.org/auth/provider/callback/',
        'https://chat.example.org/auth/provider/Callback',
        'https://chat.example.org//auth/provider/callback',
        'https://chat.example.org/x/../auth/provider/callback',
        'https://chat.example.org/auth/provider%2Fcallback',
        'https://chat.example.org/app/auth/provider/callback',
        'https://chat.example.org/auth/github/callback',
        'https://chat.example.org/auth/provider/callback?',
        'https://chat.example.org/auth/provider/callback?x=1',
        'https://chat.example.org/auth/provider/callback#',
        'https://chat.example.org/auth/provider/callback#x',
        'https://alice@chat.example.org/auth/provider/callback',
        'https://alice:word@chat.example.org/auth/provider/callback',
        'https://chat.example.org\\auth/provider/callback',
        ' https://chat.example.org/auth/provider/callback',
        'https://chat.example.org/auth/provider/callback\n',
        'https://chat.example.org:99999/auth/provider/callback',
        'https://[::g]/auth/provider/callback',
        'https://chat example.org/auth/provider/callback',
        '',
        5,
        null,
        [redirect_uri],
      ].map((uri) => [uri]),
    )('%j is an error', (uri) => {
      const error = errorOf({ ...minimal, redirect_uri: uri })
      expect(error).toMatchObject({
        field: 'redirect_uri',
        allowed: expect.stringContaining('/auth/provider/callback'),
      })
      expect(error.found).not.toContain('word@')
    })

    test('is required with a client, and optional without', () => {
      const { redirect_uri: _, ...client } = minimal
      expect(errorOf(client)).toMatchObject({ field: 'redirect_uri', found: 'nothing' })
      expect(errorOf(client, { redirect_uri: 'CALLBACK' })).toMatchObject({
        field: 'redirect_uri',
        found: '$CALLBACK, which is not set',
      })
      expect(settingsOf({})).not.toHaveProperty('redirectUri')
    })

    test('warns of plain http to other machines', () => {
      expect(
        warningsOf({ ...minimal, restrict_to: 'a', redirect_uri: 'http://chat.example.org/auth/provider/callback' }),
      ).toEqual(['sessions are sent unencrypted: redirect_uri is http and not a loopback address'])
      expect(
        warningsOf({ ...minimal, restrict_to: 'a', redirect_uri: 'http://localhost:8000/auth/provider/callback' }),
      ).toEqual([])
    })
  })

  describe('restrict_to', () => {
    const anyone = 'anyone with an account at GitHub may sign in'

    test.each([
      ['absent', {}, {}, `${anyone}: restrict_to is missing`],
      ['empty', { restrict_to: '' }, {}, `${anyone}: restrict_to is empty`],
      [
        'an unset variable',
        {},
        { restrict_to: 'PROVIDER_USERS' },
        `${anyone}: restrict_to is $PROVIDER_USERS, which is not set`,
      ],
    ])('that is %s allows all users, with a warning', (_, values, unset, warning) => {
      const { settings, warnings } = on(parse({ ...minimal, ...values }, unset))
      expect(settings).not.toHaveProperty('restrictTo')
      expect(warnings).toEqual([warning])
    })

    test.each([[' , '], [' '], ['@'], [[]], [['']], [[' ', '']]])(
      '%j allows no user, with a warning',
      (restrict_to) => {
        const { settings, warnings } = on(parse({ ...minimal, restrict_to }))
        expect(settings.restrictTo?.allows({ userId: '', userName: '' })).toBeFalse()
        expect(warnings).toEqual(['no user may sign in: restrict_to contains no name'])
      },
    )

    test('may be an array', () => {
      const list = settingsOf({ ...minimal, restrict_to: ['alice', 'bob', 'id:7'] }).restrictTo
      expect(['alice', 'bob', 'carol'].map((userName) => list?.allows({ userId: '1', userName }))).toEqual([
        true,
        true,
        false,
      ])
      expect(list?.allows({ userId: '7', userName: 'x' })).toBeTrue()
    })

    test('with an unset variable in an array lacks it, with a warning', () => {
      expect(warningsOf({ ...minimal, restrict_to: ['alice'] }, { restrict_to: 'MORE' })).toEqual([
        'restrict_to lacks the users of $MORE, which is not set',
      ])
      expect(
        on(parse({ ...minimal, restrict_to: [] }, { restrict_to: 'MORE' })).settings.restrictTo?.allows({
          userId: '1',
          userName: 'x',
        }),
      ).toBeFalse()
    })

    test.each([null, 5, true, {}, [5], ['alice', null], [['alice']]].map((value) => [value]))(
      '%j is an error',
      (restrict_to) => {
        expect(errorOf({ ...minimal, restrict_to }).field).toBe('restrict_to')
      },
    )
  })

  describe('the identity provider', () => {
    test.each<[Readonly<Record<string, unknown>>, Endpoints, string, string]>([
      [
        { provider: 'github', base_url: 'https://ghe.example.org/' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://ghe.example.org/login/oauth/authorize',
          tokenUrl: 'https://ghe.example.org/login/oauth/access_token',
          userUrl: 'https://ghe.example.org/api/v3/user',
          emailsUrl: 'https://ghe.example.org/api/v3/user/emails',
        },
        'GitHub',
        'read:user user:email',
      ],
      [
        { base_url: 'https://OctoCorp.ghe.com/' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://OctoCorp.ghe.com/login/oauth/authorize',
          tokenUrl: 'https://OctoCorp.ghe.com/login/oauth/access_token',
          userUrl: 'https://api.octocorp.ghe.com/user',
          emailsUrl: 'https://api.octocorp.ghe.com/user/emails',
        },
        'GitHub',
        'read:user user:email',
      ],
      [
        { base_url: 'https://octocorp.ghe.com.example.org' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://octocorp.ghe.com.example.org/login/oauth/authorize',
          tokenUrl: 'https://octocorp.ghe.com.example.org/login/oauth/access_token',
          userUrl: 'https://octocorp.ghe.com.example.org/api/v3/user',
          emailsUrl: 'https://octocorp.ghe.com.example.org/api/v3/user/emails',
        },
        'GitHub',
        'read:user user:email',
      ],
      [{ provider: 'gitlab' }, { kind: 'openid', issuer: 'https://gitlab.com' }, 'GitLab', 'openid email'],
      [
        { provider: 'gitlab', base_url: 'https://git.example.org/lab//' },
        { kind: 'openid', issuer: 'https://git.example.org/lab' },
        'GitLab',
        'openid email',
      ],
      [
        { provider: 'google' },
        { kind: 'openid', issuer: 'https://accounts.google.com' },
        'Google',
        'openid email profile',
      ],
      [
        { provider: 'microsoft' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize',
          tokenUrl: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/token',
          userUrl: 'https://graph.microsoft.com/v1.0/me',
        },
        'Microsoft',
        'User.Read',
      ],
      [
        { provider: 'microsoft', tenant: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://login.microsoftonline.com/8eaef023-2b34-4da1-9baa-8bc8c9d6a490/oauth2/v2.0/authorize',
          tokenUrl: 'https://login.microsoftonline.com/8eaef023-2b34-4da1-9baa-8bc8c9d6a490/oauth2/v2.0/token',
          userUrl: 'https://graph.microsoft.com/v1.0/me',
        },
        'Microsoft',
        'User.Read',
      ],
      [
        { provider: 'gitea', base_url: 'http://127.0.0.1:3000' },
        {
          kind: 'oauth',
          authorizeUrl: 'http://127.0.0.1:3000/login/oauth/authorize',
          tokenUrl: 'http://127.0.0.1:3000/login/oauth/access_token',
          userUrl: 'http://127.0.0.1:3000/api/v1/user',
        },
        'Gitea',
        'read:user',
      ],
      [
        { issuer: 'https://id.example.org' },
        { kind: 'openid', issuer: 'https://id.example.org' },
        'id.example.org',
        'openid profile email',
      ],
      [
        { authorize_url: 'https://a.example/x?y=1', token_url: 'https://b.example/t', user_url: 'https://c.example/u' },
        {
          kind: 'oauth',
          authorizeUrl: 'https://a.example/x?y=1',
          tokenUrl: 'https://b.example/t',
          userUrl: 'https://c.example/u',
        },
        'a.example',
        '',
      ],
    ])('%j has the right endpoints', (values, endpoints, displayName, scope) => {
      expect(settingsOf({ ...minimal, ...values })).toMatchObject({ endpoints, displayName, scope })
      expect(settingsOf({ ...minimal, ...values }).endpoints).toEqual(endpoints)
    })

    test.each<[string, Readonly<Record<string, unknown>>]>([
      ['base_url', { provider: 'gitea' }],
      ['base_url', { provider: 'google', base_url: 'https://x.example' }],
      ['base_url', { provider: 'microsoft', base_url: 'https://x.example' }],
      ['tenant', { tenant: 'common' }],
      ['tenant', { provider: 'google', tenant: 'x' }],
      ['tenant', { provider: 'microsoft', tenant: '../common' }],
      ['tenant', { provider: 'microsoft', tenant: '' }],
      ['provider', { provider: 'github', issuer: 'https://x.example' }],
      ['provider', { provider: 'github', authorize_url: 'https://x.example' }],
      ['authorize_url', { issuer: 'https://x.example', authorize_url: 'https://x.example' }],
      ['base_url', { issuer: 'https://x.example', base_url: 'https://x.example' }],
      ['tenant', { issuer: 'https://x.example', tenant: 'x' }],
      ['token_url', { authorize_url: 'https://x.example' }],
      ['authorize_url', { token_url: 'https://x.example' }],
      ['user_url', { authorize_url: 'https://x.example', token_url: 'https://x.example' }],
      ['issuer', { issuer: 'https://x.example/.well-known/openid-configuration' }],
      ['scope', { provider: 'google', scope: 'email' }],
      ['scope', { issuer: 'https://x.example', scope: '' }],
      ['scope', { scope: 'a"b' }],
      ['scope', { scope: 'a\nb' }],
      ['scope', { scope: ['a'] }],
      ['provider', { provider: 'facebook' }],
      ['provider', { provider: 5 }],
      ['provider', { provider: '__proto__' }],
      ['token_auth_method', { token_auth_method: 'none' }],
      ['pkce', { pkce: 'yes' }],
      ['display_name', { display_name: '' }],
      ['display_name', { display_name: ' ' }],
      ['display_name', { display_name: 'a\u202eb' }],
      ['sign_in_note', { sign_in_note: '' }],
      ['sign_in_note', { sign_in_note: 'two\nlines' }],
      ['sign_in_note', { sign_in_note: 'a\u202eb' }],
      ['sign_in_note', { sign_in_note: 'x'.repeat(201) }],
      ['sign_in_note', { sign_in_note: 5 }],
      ['icon', { icon: 'https://id.example/icon.svg' }],
      ['icon', { icon: 'data:text/html;base64,AAAA' }],
      ['icon', { icon: `data:image/png;base64,${'A'.repeat(16_384)}` }],
      ['user_fields', { user_fields: 'id' }],
      ['user_fields', { user_fields: ['id'] }],
      ['user_fields.id', { user_fields: { id: '' } }],
      ['user_fields.username', { user_fields: { username: 5 } }],
      ['user_fields.username', { user_fields: { username: '' } }],
      ['user_fields.login', { user_fields: { login: 'x' } }],
      ['user_fields.email', { user_fields: { email: null } }],
      ['user_fields.username', { provider: 'microsoft', user_fields: { username: 'mail' } }],
      ['user_fields.username', { provider: 'microsoft', user_fields: { username: 'email' } }],
      ['user_fields.username', { user_fields: { username: 'name' } }],
      ['user_fields.id', { user_fields: { id: 'name' } }],
      ['user_fields.id', { provider: 'microsoft', user_fields: { id: 'mail' } }],
      ['user_fields.username', { provider: 'google', user_fields: { username: 'name' } }],
    ])('the error names %s in %j', (field, values) => {
      expect(errorOf({ ...minimal, ...values }).field).toBe(field)
    })

    test.each(['provider', 'base_url', 'tenant', 'issuer', 'authorize_url', 'token_url', 'user_url', 'user_fields'])(
      '%s of an unset variable is an error',
      (field) => {
        expect(errorOf(minimal, { [field]: 'UNSET' })).toMatchObject({ field, found: '$UNSET, which is not set' })
      },
    )

    test.each([
      'http://id.example.org',
      'ftp://id.example.org',
      'https://alice@id.example.org',
      'https://alice:word@id.example.org',
      'https://id.example.org#x',
      'https://id.example.org?x=1',
      'id.example.org',
      '//id.example.org',
      '',
      'https://',
      'https://id.example.org/a b',
      'https://id.example.org\\x',
      ' https://id.example.org',
      'https://id.example.org:99999',
      'http://10.0.0.1',
      'http://localhost.example.org',
      'http://127.0.0.1.example.org',
      'http://0.0.0.0',
      `https://id.example.org/${'x'.repeat(2048)}`,
      5,
      null,
    ])('issuer %j is an error', (issuer) => {
      const error = errorOf({ ...minimal, issuer })
      expect(error.field).toBe('issuer')
      expect(error.found).not.toContain('word@')
    })

    test.each([
      'http://localhost:8080',
      'http://id.localhost',
      'http://127.0.0.1',
      'http://127.8.8.8:1',
      'http://[::1]:9000',
    ])('issuer %j is a loopback address, and may use http', (issuer) => {
      expect(settingsOf({ ...minimal, issuer }).endpoints).toEqual({ kind: 'openid', issuer })
    })

    test('http to other machines needs allow_insecure_http, with a warning', () => {
      const { settings, warnings } = on(
        parse({ ...minimal, restrict_to: 'a', issuer: 'http://id.lan', allow_insecure_http: true }),
      )
      expect(settings.allowsInsecureHttp).toBeTrue()
      expect(warnings).toEqual([
        'responses of the identity provider can be read and changed on the network: allow_insecure_http is true',
      ])
      expect(errorOf({ ...minimal, issuer: 'ftp://id.lan', allow_insecure_http: true }).field).toBe('issuer')
    })
  })

  describe('other members', () => {
    test.each([
      ['cookie_name', ''],
      ['cookie_name', 'a b'],
      ['cookie_name', 'a;b'],
      ['cookie_name', 'a=b'],
      ['cookie_name', 'ü'],
      ['cookie_name', 'a\r\nb'],
      ['cookie_name', 'svc_flow_x'],
      ['cookie_name', '__Host-svc_flow_x'],
      ['cookie_name', 'x'.repeat(65)],
      ['cookie_name', 5],
      ['requests_per_minute', -1],
      ['requests_per_minute', 1.5],
      ['requests_per_minute', '1.5'],
      ['requests_per_minute', ''],
      ['requests_per_minute', '0x10'],
      ['requests_per_minute', 1e9],
      ['requests_per_minute', null],
      ['requests_per_minute', true],
      ['trusted_proxies', 'example.org'],
      ['trusted_proxies', '10.0.0.0/33'],
      ['trusted_proxies', '::/129'],
      ['trusted_proxies', '10.0.0/8'],
      ['trusted_proxies', '10.0.0.1/'],
      ['trusted_proxies', '10.0.0.1/8/8'],
      ['trusted_proxies', '10.0.0.1/-1'],
      ['trusted_proxies', '10.0.0.1:80'],
      ['trusted_proxies', ['10.0.0.1', 5]],
      ['trusted_proxies', {}],
      ['trusted_proxies', '*'],
      ['allow_insecure_http', 'x'],
    ])('%s %j is an error', (field, value) => {
      expect(errorOf({ ...minimal, [field]: value }).field).toBe(field)
    })

    test('numbers and booleans may be text, as they come from the environment', () => {
      expect(
        settingsOf({
          ...minimal,
          requests_per_minute: '0',
          pkce: 'false',
          allow_insecure_http: 'true',
          trusted_proxies: '10.0.0.1, ::1/64  192.168.0.0/16',
        }),
      ).toMatchObject({
        requestsPerMinute: 0,
        hasPkce: false,
        allowsInsecureHttp: true,
        trustedProxies: ['10.0.0.1', '::1/64', '192.168.0.0/16'],
      })
    })

    test.each(['__Host-token', '__Secure-token', '__host-token'])('cookie_name %j needs https', (cookie_name) => {
      expect(settingsOf({ ...minimal, cookie_name }).cookieName).toBe(cookie_name)
      expect(errorOf({ ...minimal, cookie_name, redirect_uri: 'http://localhost/auth/provider/callback' }).field).toBe(
        'cookie_name',
      )
      expect(errorOf({ cookie_name }).field).toBe('cookie_name')
    })

    test('warns of a network of all addresses', () => {
      expect(warningsOf({ ...minimal, restrict_to: 'a', trusted_proxies: '0.0.0.0/0' })).toEqual([
        'any client can claim any address: trusted_proxies contains a network of all addresses',
      ])
    })

    test.each([
      ['clientid', 'client_id'],
      ['redirect_url', 'redirect_uri'],
      ['restrict-to', 'restrict_to'],
      ['enable', 'enabled'],
      ['Issuer', 'issuer'],
      ['trusted_proxy', 'trusted_proxies'],
    ])('%s is an error that suggests %s', (name, meant) => {
      const error = errorOf({ ...minimal, [name]: 'a value' })
      expect(error).toMatchObject({ field: name, found: 'an unknown name' })
      expect(error.allowed).toEndWith(`(did you mean "${meant}"?)`)
    })

    test('an unknown member is an error, also when its variable is unset', () => {
      expect(errorOf({ ...minimal, whatever_this_is: 1 }).allowed).not.toContain('did you mean')
      expect(errorOf(minimal, { constructor: 'X' }).field).toBe('constructor')
    })

    test('an unknown word is an error that suggests the nearest', () => {
      expect(errorOf({ ...minimal, provider: 'gihub' })).toEqual({
        field: 'provider',
        found: '"gihub"',
        allowed: '"github", "gitlab", "google", "microsoft", "gitea" (did you mean "github"?)',
      })
    })
  })

  const names = [
    'client_id',
    'client_secret',
    'redirect_uri',
    'restrict_to',
    'enabled',
    'provider',
    'base_url',
    'tenant',
    'issuer',
    'authorize_url',
    'token_url',
    'user_url',
    'scope',
    'token_auth_method',
    'pkce',
    'user_fields',
    'display_name',
    'sign_in_note',
    'icon',
    'allow_insecure_http',
    'cookie_name',
    'requests_per_minute',
    'trusted_proxies',
    'other',
    '__proto__',
    'constructor',
  ]
  const likely = fc.constantFrom<unknown>(
    '',
    ' ',
    'a',
    'true',
    'false',
    '5',
    redirect_uri,
    'https://x.example',
    'http://x.example',
    'https://u:p@x.example',
    'github',
    'gitea',
    'openid',
    true,
    false,
    0,
    120,
    null,
    [],
    {},
    ['alice'],
    '10.0.0.0/8',
    { id: 'x' },
  )
  const anything = fc.oneof({ weight: 4, arbitrary: likely }, fc.jsonValue(), fc.string({ unit: 'binary' }))
  const configurations = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), anything), { selector: ([name]) => name, maxLength: 8 })
    .map((entries) => Object.fromEntries(entries))

  test('returns settings or throws for any input, and is off only with "enabled": false', () => {
    fc.assert(
      fc.property(
        configurations,
        fc.dictionary(fc.constantFrom(...names), fc.constant('X'), { maxKeys: 2 }),
        (values, unset) => {
          let parsed: ParsedSettings | undefined
          try {
            parsed = parse(values, unset)
          } catch (error) {
            expect(error).toBeInstanceOf(ExtensionConfigError)
            return
          }
          if (parsed === undefined) {
            expect(values['enabled'] === false || values['enabled'] === 'false').toBeTrue()
            return
          }
          const { settings } = parsed
          if (settings.client !== undefined)
            expect(settings.redirectUri).toMatch(/^https?:\/\/[^@?#]+\/auth\/provider\/callback$/)
          if (settings.restrictTo === undefined) expect(values['restrict_to'] ?? 'absent').toBeOneOf(['absent', ''])
          if (settings.endpoints.kind === 'openid') expect(settings.scope.split(' ')).toContain('openid')
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('never shows the secret in errors', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/)
    fc.assert(
      fc.property(
        secret,
        configurations,
        fc.constantFrom(...names.filter((name) => name !== 'display_name')),
        fc.constantFrom('', 'https://', 'https://x:', 'x '),
        fc.constantFrom('', '@x.example', ' y', '\n'),
        (secret, values, name, before, after) => {
          const config = { ...values, client_secret: secret, [name]: `${before}${secret}${after}` }
          try {
            expect(JSON.stringify(parse(config)?.warnings ?? [])).not.toContain(secret)
          } catch (error) {
            if (!(error instanceof ExtensionConfigError)) throw error
            expect(error.message).not.toContain(secret)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})
