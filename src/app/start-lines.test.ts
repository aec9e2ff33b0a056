import { describe, expect, test } from 'bun:test'
import type { Config } from '../config/config.ts'
import { defaultFailover, defaultLimits } from '../config/defaults.ts'
import type { ParsedProvider } from '../config/file/parse-provider.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import { startLines } from './start-lines.ts'

function linesOf(
  entries: readonly ParsedProvider[],
  source: Config['source'] = { kind: 'file', path: '/home/me/.svc/providers.json' },
  host = '127.0.0.1',
): readonly string[] {
  const config: Config = {
    providers: entries.map((entry) => resolveProvider(entry, {})),
    limits: defaultLimits,
    failover: defaultFailover,
    aliases: {},
    source,
  }
  return startLines({ host, port: 8000, config, path: '/home/me/.svc/providers.json' }).split('\n')
}

const local = (id: string, more: Partial<ParsedProvider> = {}): ParsedProvider => ({
  id,
  baseUrl: 'http://127.0.0.1:1/v1',
  ...more,
})
const models = (...names: readonly string[]) => names.map((name) => ({ name, upstream: name, aliases: [] }))

describe('the lines of a start', () => {
  test('contain the address, and the providers in their order', () => {
    expect(
      linesOf([
        local('one'),
        local('two', { models: models('a', 'b') }),
        local('three', { models: models('a', 'b', 'c', 'd', 'e', 'f') }),
      ]),
    ).toEqual([
      'svc is ready on http://127.0.0.1:8000',
      'Providers, tried in this order (/home/me/.svc/providers.json):',
      '  1. one: every model it offers',
      '  2. two: a, b',
      '  3. three: a, b, c, d and 2 more',
      '',
    ])
  })

  test('contain the address of metrics', () => {
    const config: Config = {
      ...{ providers: [], limits: defaultLimits, failover: defaultFailover, aliases: {}, source: { kind: 'echo' } },
    }
    const lines = startLines({ host: '::1', port: 1, metrics: { host: '::1', port: 2 }, config, path: 'x' })
    expect(lines).toContain('\nMetrics are on http://[::1]:2/metrics\n')
  })

  test('name unused providers, and why', () => {
    const lines = linesOf([local('off', { enabled: false }), local('keyless', { apiKey: '$NOT_SET' }), local('one')])
    expect(lines).toContain('  1. one: every model it offers')
    expect(lines).toContain('  -  off: switched off')
    expect(lines).toContain('  -  keyless: NOT_SET is not set')
  })

  test('say what to do without a usable provider', () => {
    expect(linesOf([local('off', { enabled: false })]).join('\n')).toContain('No provider is usable')
  })

  test('say that this is the echo, and how to add a provider', () => {
    const text = linesOf([{ id: 'echo', protocol: 'echo' }], { kind: 'echo' }).join('\n')
    expect(text).toContain('the built-in echo')
    expect(text).toContain('/home/me/.svc/providers.json')
  })

  test('say that providers were found, and how to keep them', () => {
    const text = linesOf([local('one')], { kind: 'detected' }).join('\n')
    expect(text).toContain('found on this machine')
    expect(text).toContain('svc init')
  })

  test.each([
    [[], []],
    [[{ name: 'one', isOn: true }], ['one is on.']],
    [
      [
        { name: 'one', isOn: false },
        { name: 'two', isOn: false },
      ],
      [
        'one is OFF: every client that reaches this address can use it.',
        'two is OFF: every client that reaches this address can use it.',
      ],
    ],
    [
      [
        { name: 'one', isOn: false },
        { name: 'two', isOn: true },
      ],
      ['one is OFF.', 'two is on.'],
    ],
  ])('say which extensions are on: %j', (extensions, expected) => {
    const config: Config = {
      providers: [],
      limits: defaultLimits,
      failover: defaultFailover,
      aliases: {},
      source: { kind: 'detected' },
    }
    expect(
      startLines({ host: '127.0.0.1', port: 8000, config, path: 'x', extensions }).split('\n').slice(3, -1),
    ).toEqual(expected)
  })

  test.each([
    ['0.0.0.0', 'http://127.0.0.1:8000'],
    ['::1', 'http://[::1]:8000'],
    ['::', 'http://[::1]:8000'],
    ['192.0.2.1', 'http://192.0.2.1:8000'],
    ['localhost', 'http://localhost:8000'],
  ])('give an address that can be opened for %s', (host, address) => {
    expect(linesOf([local('one')], undefined, host)[0]).toBe(`svc is ready on ${address}`)
  })

  test.each([
    ['127.0.0.1', []],
    ['::1', []],
    ['localhost', []],
    ['0.0.0.0', ['No one signs in: every client that reaches this address can use it.']],
    ['192.0.2.1', ['No one signs in: every client that reaches this address can use it.']],
  ])('say on %s without extensions that it is open to all, if others reach it', (host, expected) => {
    expect(linesOf([local('one')], undefined, host).slice(3, -1)).toEqual(expected)
  })
})
