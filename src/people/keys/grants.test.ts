import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { KeyFault, keyScopes, parseGrants, parseStoredGrants } from './grants.ts'

describe('grants', () => {
  test('without members are the scopes of the kind, and no limit', () => {
    expect(parseGrants({}, 'program')).toEqual({ scopes: ['chat', 'models:read'] })
    expect(parseGrants({}, 'management')).toEqual({ scopes: ['keys:write'] })
  })

  test('keep each entry once, and scopes in their order', () => {
    const value = {
      models: ['gpt-5*', 'claude-haiku-4-5', 'gpt-5*', '*', 'org/model:free'],
      providers: ['groq'],
      networks: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
      scopes: ['models:read', 'chat', 'chat'],
    }
    expect(parseGrants(value, 'program')).toEqual({
      models: ['gpt-5*', 'claude-haiku-4-5', '*', 'org/model:free'],
      providers: ['groq'],
      networks: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
      scopes: ['chat', 'models:read'],
    })
    expect(parseGrants({ models: null, scopes: null }, 'program')).toEqual({ scopes: ['chat', 'models:read'] })
  })

  test.each([
    ['models', []],
    ['models', 'gpt-5'],
    ['models', ['']],
    ['models', ['a', 7]],
    ['models', ['*-mini']],
    ['models', ['a b']],
    ['models', ['a\0']],
    ['models', ['x'.repeat(257)]],
    ['models', Array.from({ length: 101 }, (_, index) => `m${index}`)],
    ['providers', ['a/b']],
    ['providers', ['a*']],
    ['networks', ['10.0.0.0/33']],
    ['networks', ['example.org']],
    ['networks', ['10.0.0.0/8 ']],
    ['scopes', []],
    ['scopes', ['chats']],
    ['scopes', ['keys:write']],
  ])('refuse %s: %j', (field, value) => {
    expect(() => parseGrants({ [field]: value }, 'program')).toThrow(KeyFault)
    expect(() => parseGrants({ [field]: value }, 'program')).toThrow(expect.objectContaining({ field }))
  })

  test('name the nearest scope, or why it is not allowed', () => {
    expect(() => parseGrants({ scopes: ['model:read'] }, 'program')).toThrow('did you mean "models:read"?')
    expect(() => parseGrants({ scopes: ['keys:write'] }, 'program')).toThrow('metrics:read, at a program key')
    expect(() => parseGrants({ scopes: ['chat'] }, 'management')).toThrow('keys:write, at a management key')
  })

  test.each(['models', 'providers'])('refuse %s at a management key, which calls none', (field) => {
    expect(() => parseGrants({ [field]: ['a'] }, 'management')).toThrow('calls no models')
  })

  test('are read as they were stored, and a fault throws', () => {
    const value = { models: ['a*'], scopes: [...keyScopes].filter((scope) => scope !== 'keys:write') }
    const grants = parseGrants(value, 'program')
    expect(parseStoredGrants(JSON.stringify(grants), 'program')).toEqual(grants)
    expect(() => parseStoredGrants('[]', 'program')).toThrow(KeyFault)
    expect(() => parseStoredGrants('{', 'program')).toThrow(SyntaxError)
  })

  test('of any JSON are grants or a fault', () => {
    fc.assert(
      fc.property(fc.constantFrom('models', 'providers', 'networks', 'scopes'), fc.jsonValue(), (field, value) => {
        try {
          parseGrants({ [field]: value }, 'program')
        } catch (error) {
          expect(error).toBeInstanceOf(KeyFault)
        }
      }),
    )
  })
})
