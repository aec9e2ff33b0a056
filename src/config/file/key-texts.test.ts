import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ConfigError } from '../config.ts'
import { fileVariable } from './environment.ts'
import { KeyTexts, parseKeysEnv } from './key-texts.ts'
import { parseConfig } from './parse-config.ts'

describe('keys.env', () => {
  test.each([
    ['A=1\nB=2', { A: '1', B: '2' }],
    ['\ufeffA=1', { A: '1' }],
    ['  export A = "one two" \r\n\r\n# B=2\r\n', { A: 'one two' }],
    [`A='it"s'\nB="x`, { A: 'it"s', B: '"x' }],
    ['A=', { A: '' }],
    ['A=b=c#d', { A: 'b=c#d' }],
    ['A', undefined],
    ['1A=x', undefined],
    ['A=1\nA=2', undefined],
    [`A=${'x'.repeat(64 * 1024)}`, undefined],
  ])('%j', (text, variables) => {
    if (variables === undefined) expect(() => parseKeysEnv(text, 'keys.env')).toThrow(ConfigError)
    else expect(Object.fromEntries(parseKeysEnv(text, 'keys.env'))).toEqual(variables)
  })

  test('its faults quote no value of any text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('A=', 'B', '\n', '=', 'secret', '"', ' '), { maxLength: 12 }), (pieces) => {
        try {
          parseKeysEnv(pieces.join(''), 'keys.env')
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
          expect(String(error)).not.toContain('secret')
        }
      }),
    )
  })
})

describe('the environment of providers', () => {
  test('has the variables of keys.env beneath those of the process, and forgets those that are gone', () => {
    const texts = new KeyTexts({ A: 'process', B: ' ' })
    texts.setVariables(new Map([['A', 'file'], ['B', 'file'], ['C', 'file']])) // prettier-ignore
    expect(texts.environment).toEqual({ A: 'process', B: 'file', C: 'file' })
    texts.setVariables(new Map([['B', ''], ['C', ' ']])) // prettier-ignore
    expect(texts.environment).toEqual({ A: 'process', B: 'file', C: 'file' })
    texts.setVariables(new Map([['A', 'file']]))
    expect(texts.environment).toEqual({ A: 'process', B: ' ', C: undefined })
  })

  test.each([
    ['a key', ' sk-1\n', { apiKey: 'sk-1' }],
    ['nothing', '', { code: 'missing_file' }],
    ['two lines', 'a\nb', { code: 'invalid_file' }],
    ['a variable', '$OTHER', { code: 'invalid_file' }],
    ['too much', 'x'.repeat(64 * 1024 + 1), { code: 'invalid_file' }],
  ])('of a key file with %s', (_, text, expected) => {
    const texts = new KeyTexts({})
    texts.setFile('/run/groq', text)
    const entry = { id: 'x', base_url: 'http://127.0.0.1:1/v1', api_key: { file: '/run/groq' } }
    const [provider] = parseConfig(JSON.stringify({ providers: [entry] }), {
      file: 'providers.json',
      environment: texts.environment,
    }).providers
    expect({ ...provider, ...provider?.lacks?.[0] }).toMatchObject({ ...expected, keyName: fileVariable('/run/groq') })
  })

  test.each(['$file:', '$file:../groq', '$file:a/b', '$FILE:x', '$file:/run/\n'])('no key is %j', (api_key) => {
    const entry = { id: 'x', base_url: 'http://127.0.0.1:1/v1', api_key }
    const parse = () => parseConfig(JSON.stringify({ providers: [entry] }), { file: 'providers.json', environment: {} })
    expect(parse).toThrow('api_key')
  })

  test.each([[''], ['../groq'], ['a/b'], ['..'], ['/run/\n'], [7]])('no file has the path %j', (file) => {
    const entry = { id: 'x', base_url: 'http://127.0.0.1:1/v1', api_key: { file } }
    const parse = () => parseConfig(JSON.stringify({ providers: [entry] }), { file: 'providers.json', environment: {} })
    expect(parse).toThrow('api_key.file')
  })
})
