import { describe, expect, test } from 'bun:test'
import { LoadUsageError, readLoadOptions } from './load-options.ts'
import { commandLine } from './load-report.ts'

const usage = {
  name: 'load',
  does: 'measures',
  numbers: { streams: { fallback: 7, min: 1, max: 100, does: 'streams' } },
  switches: { steady: 'no restarts' },
  parts: ['one', 'two'],
} as const

describe('the options of a load run', () => {
  test('have defaults', () => {
    const options = readLoadOptions([], usage)
    expect(options?.number('streams')).toBe(7)
    expect(options?.has('steady')).toBe(false)
    expect(options?.only).toEqual(['one', 'two'])
    expect(options).toMatchObject({ markdown: false, write: undefined })
  })

  test('are read', () => {
    const options = readLoadOptions(
      ['--streams', '9', '--steady', '--only', 'two', '--markdown', '--write', 'a.md#b'],
      usage,
    )
    expect(options?.number('streams')).toBe(9)
    expect(options?.has('steady')).toBe(true)
    expect(options?.has('streams')).toBe(true)
    expect(options).toMatchObject({ only: ['two'], markdown: true, write: 'a.md#b' })
  })

  test.each([
    ['a number too large', ['--streams', '101']],
    ['no number', ['--streams', 'many']],
    ['an unknown part', ['--only', 'one,three']],
    ['a document without a section', ['--write', 'a.md']],
    ['an unknown option', ['--quickly']],
  ])('are refused with %s', (_, commandLine) => {
    expect(() => readLoadOptions(commandLine, usage)).toThrow(LoadUsageError)
  })
})

test('the command in a report leaves out the options of its output', () => {
  expect(commandLine('soak', ['--minutes', '5', '--write', 'a.md#b', '--markdown', '--steady'])).toBe(
    'npm run soak -- --minutes 5 --steady',
  )
  expect(commandLine('soak', ['--write=a.md#b'])).toBe('npm run soak')
})
