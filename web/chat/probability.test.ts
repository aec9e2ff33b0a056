import { describe, expect, test } from 'bun:test'
import { formatProbability, likelihoodOf, visibleToken } from './probability.ts'

describe('likelihoodOf', () => {
  test.each([
    [1, 'high'],
    [0.5, 'high'],
    [0.49, 'middle'],
    [0.1, 'middle'],
    [0.09, 'low'],
    [0, 'low'],
  ] as const)('%d is %s', (probability, expected) => {
    expect(likelihoodOf(probability === 0 ? -9_999 : Math.log(probability) + 1e-12)).toBe(expected)
  })
})

describe('formatProbability', () => {
  test.each([
    [0, '100.0 %'],
    [Math.log(0.982), '98.2 %'],
    [Math.log(0.0004), '<0.1 %'],
    [-9_999, '<0.1 %'],
  ])('%d is %s', (logprob, expected) => {
    expect(formatProbability(logprob)).toBe(expected)
  })
})

describe('visibleToken', () => {
  test.each([
    ['', '(empty)'],
    [' a b ', '␣a b␣'],
    ['\n\n', '⏎⏎'],
    ['a', 'a'],
  ])('%p is %s', (token, expected) => {
    expect(visibleToken(token)).toBe(expected)
  })
})
