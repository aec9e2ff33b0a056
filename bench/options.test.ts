import { describe, expect, test } from 'bun:test'
import { helpText, parseBenchOptions, UsageError } from './options.ts'

const peers = ['nginx', 'svc']

describe('parseBenchOptions', () => {
  test('runs five rounds of everything unless told otherwise', () => {
    expect(parseBenchOptions([], peers)).toEqual({
      rounds: 5,
      seconds: 2,
      measures: ['plain', 'latency', 'stream', 'first-token', 'memory'],
      peers,
      isPartial: false,
    })
  })

  test.each([
    { commandLine: ['--rounds', '7'], expected: { rounds: 7, isPartial: false } },
    { commandLine: ['--rounds=4'], expected: { rounds: 4, isPartial: true } },
    { commandLine: ['--seconds', '3'], expected: { seconds: 3, isPartial: false } },
    { commandLine: ['--only', 'memory,plain'], expected: { measures: ['plain', 'memory'] as const, isPartial: true } },
    { commandLine: ['--peers', 'svc'], expected: { peers: ['svc'], isPartial: true } },
    { commandLine: ['--quick'], expected: { rounds: 2, seconds: 1, isPartial: true } },
    { commandLine: ['--quick', '--seconds', '4'], expected: { rounds: 2, seconds: 4 } },
  ])('reads $commandLine', ({ commandLine, expected }) => {
    expect(parseBenchOptions(commandLine, peers)).toMatchObject(expected)
  })

  test('gives nothing when help is asked for', () => {
    expect(parseBenchOptions(['--help'], peers)).toBeUndefined()
  })

  test.each([
    { commandLine: ['--rounds', '0'] },
    { commandLine: ['--rounds', 'many'] },
    { commandLine: ['--seconds', '-1'] },
    { commandLine: ['--only', 'plan'] },
    { commandLine: ['--peers', 'nginx,'] },
    { commandLine: ['--slow'] },
    { commandLine: ['stray'] },
  ])('refuses $commandLine', ({ commandLine }) => {
    expect(() => parseBenchOptions(commandLine, peers)).toThrow(UsageError)
  })
})

describe('helpText', () => {
  test('names every proxy and measure', () => {
    expect(helpText(peers)).toContain('nginx,svc')
    expect(helpText(peers)).toContain('plain,latency,stream,first-token,memory')
  })
})
