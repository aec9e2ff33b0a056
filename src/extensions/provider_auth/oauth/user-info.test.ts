import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { oauthFields, openidFields, presets } from '../settings/presets.ts'
import { IdentityError, readIdentity } from './user-info.ts'

const octocat = {
  id: 583231,
  login: 'octocat',
  name: 'The Octocat',
  avatar_url: 'https://avatars.example/u/583231?v=4',
  email: 'octocat@github.example',
}
const read = (answer: Readonly<Record<string, unknown>>) =>
  readIdentity({ ...octocat, ...answer }, oauthFields, 'oauth')

function reasonOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof IdentityError) return error.reason
    throw error
  }
  return 'signed in'
}

describe('readIdentity', () => {
  test.each(['key:deploy', 'Key:deploy', 'command line', 'without sign-in'])('refuses the name %s', (login) => {
    expect(reasonOf(() => read({ login }))).toBe('reserved_username')
  })

  test.each(['keynes', 'a key:b', 'command line 2'])('admits the name %s', (login) => {
    expect(read({ login }).userName).toBe(login)
  })

  test('reads a GitHub user', () => {
    expect(read({ company: 'x', plan: { name: 'pro' } })).toEqual({
      userId: '583231',
      userName: 'octocat',
      displayName: 'The Octocat',
      profileUrl: 'https://avatars.example/u/583231?v=4',
      email: 'octocat@github.example',
    })
  })

  test.each([
    [
      'GitLab',
      presets.gitlab.userFields,
      {
        sub: '7',
        preferred_username: 'ada',
        name: 'Ada',
        picture: 'https://x.example/a',
        email: 'ada@x.example',
        email_verified: true,
      },
      { userId: '7', userName: 'ada' },
    ],
    [
      'Google',
      presets.google.userFields,
      {
        sub: '110169484474386276334',
        name: 'Ada',
        picture: 'https://x.example/a',
        email: 'ada@x.example',
        email_verified: true,
      },
      { userId: '110169484474386276334', userName: 'ada@x.example' },
    ],
    [
      'Microsoft',
      presets.microsoft.userFields,
      {
        id: '87d349ed-44d7-43e1-9a83-5f2406dee5bd',
        userPrincipalName: 'ada@x.example',
        displayName: 'Ada',
        mail: null,
        '': 'https://x.example/a',
      },
      { userId: '87d349ed-44d7-43e1-9a83-5f2406dee5bd', userName: 'ada@x.example', email: '', profileUrl: '' },
    ],
    [
      'Gitea',
      presets.gitea.userFields,
      { id: 1, login: 'ada', full_name: '', avatar_url: 'https://x.example/a', email: 'ada@x.example' },
      { userId: '1', userName: 'ada', displayName: 'ada' },
    ],
  ])('reads the user of %s', (_, fields, answer, identity) => {
    expect(readIdentity(answer, fields, 'openid')).toMatchObject(identity)
  })

  test.each([0, 1, -1, Number.MAX_SAFE_INTEGER, '0', 'a', 'a b', '110169484474386276334', 'x'.repeat(256)])(
    'accepts the id %p',
    (id) => {
      expect(read({ id }).userId).toBe(String(id))
    },
  )

  test.each(
    [
      2 ** 53,
      JSON.parse('9007199254740993'),
      -(2 ** 53),
      1.5,
      1e300,
      Number.NaN,
      '',
      ' ',
      '\u00a0',
      null,
      undefined,
      true,
      {},
      ['1'],
      'a\nb',
      'a\u0000',
      'a\u202eb',
      'a\u200bb',
      '\ud800',
      'x'.repeat(257),
    ].map((id) => [id]),
  )('takes the id %p for none', (id) => {
    expect(reasonOf(() => read({ id }))).toBe('no_id')
  })

  test.each(
    [
      5,
      0,
      '',
      ' ',
      '\t',
      null,
      undefined,
      true,
      {},
      ['octocat'],
      'octo\r\ncat',
      'octo\u0000cat',
      'octo\u2028cat',
      'octo\u202ecat',
      'octo\u200bcat',
      'octo\u00adcat',
      'octo\u007fcat',
      '\ud800',
      'x'.repeat(257),
    ].map((login) => [login]),
  )('takes the user name %j for none', (login) => {
    expect(reasonOf(() => read({ login }))).toBe('no_username')
  })

  test('reads id and user name from no other member', () => {
    expect(
      reasonOf(() =>
        readIdentity(
          { sub: '1', username: 'x', preferred_username: 'x', email: 'x@x.example', name: 'x' },
          oauthFields,
          'oauth',
        ),
      ),
    ).toBe('no_id')
    expect(
      reasonOf(() =>
        readIdentity(
          { sub: '1', login: 'x', nickname: 'x', username: 'x', email: 'x@x.example', name: 'x' },
          openidFields,
          'openid',
        ),
      ),
    ).toBe('no_username')
  })

  test('reads own members only, and none with an empty name', () => {
    for (const name of ['constructor', 'toString', '__proto__', ''])
      expect(reasonOf(() => readIdentity({ id: 1, '': 'x' }, { ...oauthFields, username: name }, 'oauth'))).toBe(
        'no_username',
      )
    expect(
      readIdentity(JSON.parse('{"id":1,"__proto__":"x"}'), { ...oauthFields, username: '__proto__' }, 'oauth').userName,
    ).toBe('x')
  })

  test.each([
    ['Ada Lovelace', 'Ada Lovelace'],
    ['  Ada \n\t Lovelace ', 'Ada Lovelace'],
    ['Ada\r\nX: y', 'Ada X: y'],
    ['\u202eecalevoL', 'ecalevoL'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['a\ud800b', 'a\ufffdb'],
    ['', 'octocat'],
    [' \u200b ', 'octocat'],
    [null, 'octocat'],
    [5, 'octocat'],
    [{}, 'octocat'],
    [['Ada'], 'octocat'],
    ['x'.repeat(100_000), 'x'.repeat(256)],
    [`${'x'.repeat(255)}🙂`, 'x'.repeat(255)],
    [`${'x'.repeat(254)}🙂`, `${'x'.repeat(254)}🙂`],
  ])('shows the name %j', (name, shown) => {
    expect(read({ name }).displayName).toBe(shown)
  })

  test.each([
    ['https://x.example/a?b=c', 'https://x.example/a?b=c'],
    ['http://x.example/a', 'http://x.example/a'],
    ['HTTPS://X.example/a', 'https://x.example/a'],
    ['https://x.example/"><script>', 'https://x.example/%22%3E%3Cscript%3E'],
    ['https://x.example/a\nb', 'https://x.example/ab'],
    ['javascript:alert(1)', ''],
    ['JaVaScRiPt:alert(1)', ''],
    ['java\nscript:alert(1)', ''],
    ['data:image/png;base64,AAAA', ''],
    ['file:///etc/passwd', ''],
    ['//x.example/a', ''],
    ['/a', ''],
    ['', ''],
    ['x', ''],
    ['https://alice@x.example/', ''],
    ['https://a:b@x.example/', ''],
    [`https://x.example/${'x'.repeat(2048)}`, ''],
    [`https://x.example/${'ü'.repeat(1000)}`, ''],
    [null, ''],
    [5, ''],
    [{}, ''],
    [['https://x.example/a'], ''],
  ])('shows the avatar %j', (avatar_url, shown) => {
    expect(read({ avatar_url }).profileUrl).toBe(shown)
  })

  test.each([
    ['a@x.example', 'a@x.example'],
    [null, ''],
    [5, ''],
    ['', ''],
    [{}, ''],
    [['a@x.example'], ''],
    ['a@x.example\r\nBcc: b@x.example', ''],
    ['a b@x.example', ''],
    ['a'.repeat(321), ''],
  ])('knows the e-mail address %j', (email, known) => {
    expect(read({ email }).email).toBe(known)
  })

  test.each([
    [true, 'a@x.example'],
    ['true', 'a@x.example'],
    [undefined, 'a@x.example'],
    [null, 'a@x.example'],
    [false, ''],
    ['false', ''],
    [1, ''],
    [{}, ''],
  ])('with email_verified %p', (email_verified, known) => {
    expect(read({ email: 'a@x.example', email_verified }).email).toBe(known)
  })

  test('an id that is an e-mail address must be verified, too', () => {
    const fields = { ...openidFields, id: 'email' }
    const user = { sub: '1', preferred_username: 'eve', email: 'ada@x.example' }
    expect(reasonOf(() => readIdentity(user, fields, 'openid'))).toBe('email_not_verified')
    expect(reasonOf(() => readIdentity({ ...user, email_verified: false }, fields, 'oauth'))).toBe('email_not_verified')
    expect(readIdentity({ ...user, email_verified: true }, fields, 'openid').userId).toBe('ada@x.example')
  })

  describe('a user name that is an e-mail address', () => {
    const signIn = (kind: 'oauth' | 'openid', rest: object) =>
      reasonOf(() => readIdentity({ sub: '1', email: 'a@x.example', ...rest }, presets.google.userFields, kind))

    test.each([true, 'true'])('is taken with email_verified %p', (email_verified) => {
      expect(signIn('openid', { email_verified })).toBe('signed in')
      expect(signIn('oauth', { email_verified })).toBe('signed in')
    })

    test.each([false, 'false', 1, 'yes', {}, []].map((value) => [value]))(
      'is not with email_verified %p',
      (email_verified) => {
        expect(signIn('openid', { email_verified })).toBe('email_not_verified')
        expect(signIn('oauth', { email_verified })).toBe('email_not_verified')
      },
    )

    test.each([{}, { email_verified: null }])(
      'is taken with %j where OAuth has no standard for it, and not where OpenID Connect has one',
      (rest) => {
        expect(signIn('openid', rest)).toBe('email_not_verified')
        expect(signIn('oauth', rest)).toBe('signed in')
      },
    )
  })

  test('returns a user or throws IdentityError for any input', () => {
    const answers = fc.oneof(
      fc.dictionary(
        fc.constantFrom('id', 'login', 'name', 'avatar_url', 'email', 'email_verified', '__proto__'),
        fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.webUrl(), fc.constant(1)),
      ),
      fc.dictionary(fc.string(), fc.jsonValue()),
    )
    fc.assert(
      fc.property(answers, (answer) => {
        try {
          const identity = readIdentity(answer, oauthFields, 'oauth')
          expect(identity.userId).not.toBe('')
          expect(identity.userName.trim()).not.toBe('')
          for (const text of Object.values(identity)) {
            expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
            expect(text.isWellFormed()).toBeTrue()
            expect(text.length).toBeLessThanOrEqual(2048)
          }
          expect(identity.profileUrl).toMatch(/^$|^https?:\/\//)
        } catch (error) {
          if (!(error instanceof IdentityError)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})
