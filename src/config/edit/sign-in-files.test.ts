import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { valueAt } from './edit-config.ts'
import { withMembers, withSignIn } from './sign-in-files.ts'

describe('the file of an extension with a set-up', () => {
  test('is made of its members', () => {
    expect(withMembers(undefined, { provider: 'github', base_url: undefined, restrict_to: ['ada'] })).toBe(
      '{\n  "provider": "github",\n  "restrict_to": [\n    "ada"\n  ]\n}\n',
    )
  })

  test('keeps comments and other members, and loses those that contradict it', () => {
    const text = '{\n  // ours\n  "issuer": "https://x",\n  "trusted_proxies": ["10.0.0.1"], // nginx\n}\n'
    const edited = withMembers(text, { issuer: undefined, tenant: undefined, provider: 'google' })
    expect(edited).toContain('// nginx')
    expect(['issuer', 'tenant', 'provider', 'trusted_proxies'].map((name) => valueAt(edited, [name]))).toEqual([
      ...[undefined, undefined, 'google'],
      ['10.0.0.1'],
    ])
  })
})

describe('providers.json with sign-in', () => {
  const added = { owner: 'ada', extensions: ['provider_auth', 'keys'] }

  test.each([
    ['without both', '{ "providers": [] }', ['ada'], ['provider_auth', 'keys']],
    ['with another owner and keys', '{ "owners": ["$O"], "auth": ["keys"] }', ['$O', 'ada'], ['keys', 'provider_auth']],
    [
      'with both already',
      '{ "owners": ["ada"], "auth": ["keys", "provider_auth"] }',
      ['ada'],
      ['keys', 'provider_auth'],
    ],
  ])('has the owner and the extensions once: %s', (_name, text, owners, auth) => {
    const edited = withSignIn(text, added)
    expect([valueAt(edited, ['owners']), valueAt(edited, ['auth'])]).toEqual([owners, auth])
    expect(withSignIn(edited, added)).toBe(edited)
  })

  test('has no extensions that flags decide', () => {
    const edited = withSignIn('{}', { owner: 'ada', extensions: [] })
    expect([valueAt(edited, ['owners']), valueAt(edited, ['auth'])]).toEqual([['ada'], undefined])
  })

  test('names the owner as the owner was typed', () => {
    fc.assert(
      fc.property(fc.string(), (owner) => {
        expect(valueAt(withSignIn('{ "providers": [] /* all */ }', { ...added, owner }), ['owners'])).toEqual([owner])
      }),
    )
  })
})
