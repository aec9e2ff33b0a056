import { describe, expect, test } from 'bun:test'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { failureEffects } from '../../src/service/failure.ts'
import { failureInWords, stepsOf } from './trail-steps.ts'

const failed = (provider: string, failure: string): TrailEntry => ({ provider, failure, ms: 1 })
const answered = (provider: string): TrailEntry => ({ provider, status: 200, ms: 1 })

/** `✗ a busy → ✓ b`. */
function inWords(...way: Parameters<typeof stepsOf>): string {
  const words = stepsOf(...way).map((step) => {
    switch (step.kind) {
      case 'failed':
        return `✗ ${step.provider} ${step.reason}`
      case 'answered':
        return `✓ ${step.provider}`
      case 'asking':
        return `◉ ${step.provider}`
      case 'next':
        return `${step.place} ${step.provider}`
      case 'more':
        return `${step.count} more`
    }
  })
  return words.join(' → ')
}

describe('the way of a request in short', () => {
  test.each([
    ['one provider answered', { trail: [answered('a')], provider: 'a' }, '✓ a'],
    ['no provider was asked', { trail: [] }, ''],
    [
      'others failed before',
      { trail: [failed('a', 'connect'), answered('b')], provider: 'b' },
      '✗ a unreachable → ✓ b',
    ],
    ['a provider is asked', { trail: [failed('a', 'rate_limit')], asking: { provider: 'b', ms: 4 } }, '✗ a busy → ◉ b'],
    [
      'a provider failed twice, with its last reason',
      { trail: [failed('a', 'rate_limit'), failed('a', 'timeout'), answered('b')], provider: 'b' },
      '✗ a too slow → ✓ b',
    ],
    [
      'the provider that answered had failed before',
      { trail: [failed('b', 'overloaded'), answered('b')], provider: 'b' },
      '✓ b',
    ],
    ['the answer was cut', { trail: [failed('b', 'cut')], provider: 'b' }, '✗ b cut off'],
    ['it was cut, and another goes on', { trail: [failed('a', 'cut'), answered('b')] }, '✗ a cut off → ✓ b'],
    ['all failed', { trail: [failed('a', 'quota'), failed('b', 'a_new_class')] }, '✗ a out of credit → ✗ b failed'],
    [
      'many failed',
      { trail: [...[...'vwxyz'].map((name) => failed(name, 'budget')), answered('b')], provider: 'b' },
      '✗ v over budget → ✗ w over budget → ✗ x over budget → 2 more → ✓ b',
    ],
  ] as const)('%s', (_, way, words) => {
    expect(inWords(way)).toBe(words)
  })
})

test('every class of failures is at most three words, and an unknown one is a failure', () => {
  for (const failure of Object.keys(failureEffects)) expect(failureInWords(failure)).toMatch(/^[a-z]+( [a-z]+){0,2}$/)
  expect(failureInWords('constructor')).toBe('failed')
})
