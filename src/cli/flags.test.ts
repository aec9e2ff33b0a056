import { describe, expect, test } from 'bun:test'
import { extensionNames } from '../app/extensions/start-extensions.ts'
import { parseArguments } from '../base/command-line/arguments.ts'
import { UsageError } from '../base/start-errors.ts'
import { authFlag, metricsPortFlag } from './flags.ts'

const given = (argv: readonly string[], variable?: string) =>
  parseArguments({ auth: authFlag }, argv, { SVC_AUTH: variable }).flags

describe('the extensions that run', () => {
  test.each([
    ['the flag', ['--auth', 'keys'], 'provider_auth', ['a'], ['keys']],
    ['the variable, without the flag', [], 'provider_auth', ['a'], ['provider_auth']],
    ['the file, without both', [], undefined, ['a', 'b'], ['a', 'b']],
    ['the file, with an empty variable', [], '', ['a'], ['a']],
    ['none, without all', [], undefined, undefined, []],
    ['none by the flag', ['--auth', 'none'], 'provider_auth', ['a'], []],
    ['none by the variable', [], 'none', ['a'], []],
  ])('are those of %s', (_name, argv, variable, auth, names) => {
    expect(extensionNames(given(argv, variable), auth === undefined ? {} : { auth })).toEqual(names)
  })

  test('are none or others', () => {
    expect(() => given(['--auth', 'none,keys'])).toThrow(
      new UsageError('--auth: found "none,keys", allowed: none, or names separated by commas, each once'),
    )
  })
})

test.each([
  ['0', '127.0.0.1', 0],
  ['9464', '127.0.0.1', 9464],
  ['[::]:0', '::', 0],
  ['0.0.0.0:65535', '0.0.0.0', 65_535],
])('metrics answer at %s', (text, host, port) => {
  expect(metricsPortFlag.read([text])).toEqual({ value: { host, port } })
})

test.each(['', '65536', 'x', '127.0.0.1:', ':1', '-1'])('metrics do not answer at "%s"', (text) => {
  expect(metricsPortFlag.read([text])).toBeUndefined()
})
