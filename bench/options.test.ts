import { describe, expect, test } from 'bun:test'
import { measureNames, sideBySideMeasures, usualMeasures } from './measures/measure.ts'
import { helpText, parseBenchOptions, UsageError } from './options.ts'

const peers = ['nginx', 'svc']
const proxies = { all: ['nginx', 'svc', 'litellm'], usual: peers, sideBySide: ['svc', 'litellm'] }

describe('parseBenchOptions', () => {
  test('runs five rounds of everything by default', () => {
    expect(parseBenchOptions([], proxies)).toEqual({
      rounds: 5,
      seconds: 2,
      measures: usualMeasures,
      peers,
      isSideBySide: false,
      isPartial: false,
    })
  })

  test.each([
    { commandLine: ['--rounds', '7'], expected: { rounds: 7, isPartial: false } },
    { commandLine: ['--rounds=4'], expected: { rounds: 4, isPartial: true } },
    { commandLine: ['--seconds', '3'], expected: { seconds: 3, isPartial: false } },
    { commandLine: ['--only', 'memory,plain'], expected: { measures: ['plain', 'memory'] as const, isPartial: true } },
    { commandLine: ['--peers', 'svc'], expected: { peers: ['svc'], isPartial: true } },
    { commandLine: ['--peers', 'litellm'], expected: { peers: ['litellm'], isSideBySide: false, isPartial: true } },
    {
      commandLine: ['--peers', 'svc,litellm,nginx'],
      expected: { peers: ['nginx', 'svc', 'litellm'], isPartial: false },
    },
    { commandLine: ['--quick'], expected: { rounds: 2, seconds: 1, isPartial: true } },
    { commandLine: ['--quick', '--seconds', '4'], expected: { rounds: 2, seconds: 4 } },
  ])('reads $commandLine', ({ commandLine, expected }) => {
    expect(parseBenchOptions(commandLine, proxies)).toMatchObject(expected)
  })

  test.each([
    { commandLine: ['--peers'], expected: { rounds: 5, isPartial: false } },
    { commandLine: ['--peers', '--quick'], expected: { rounds: 2, isPartial: true } },
    { commandLine: ['--rounds', '6', '--peers'], expected: { rounds: 6, isPartial: false } },
  ])('makes the side by side of $commandLine', ({ commandLine, expected }) => {
    expect(parseBenchOptions(commandLine, proxies)).toMatchObject({
      ...expected,
      peers: proxies.sideBySide,
      measures: sideBySideMeasures,
      isSideBySide: true,
    })
  })

  test('makes a partial report with fewer proxies or measures', () => {
    expect(parseBenchOptions(['--peers', '--only', 'start'], proxies)).toMatchObject({
      measures: ['start'],
      isSideBySide: true,
      isPartial: true,
    })
  })

  test('returns nothing for --help', () => {
    expect(parseBenchOptions(['--help'], proxies)).toBeUndefined()
  })

  test.each([
    { commandLine: ['--rounds', '0'] },
    { commandLine: ['--rounds', 'many'] },
    { commandLine: ['--seconds', '-1'] },
    { commandLine: ['--only', 'plan'] },
    { commandLine: ['--peers', 'nginx,'] },
    { commandLine: ['--peers='] },
    { commandLine: ['--slow'] },
    { commandLine: ['stray'] },
  ])('refuses $commandLine', ({ commandLine }) => {
    expect(() => parseBenchOptions(commandLine, proxies)).toThrow(UsageError)
  })
})

describe('helpText', () => {
  test('names every proxy and measure', () => {
    expect(helpText(proxies)).toContain('nginx,svc,litellm')
    expect(helpText(proxies)).toContain(measureNames.join(','))
  })
})
