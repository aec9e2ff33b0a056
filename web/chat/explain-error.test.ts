import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { AnswerError } from '../history/conversation.ts'
import { explainError, lastFailures } from './explain-error.ts'

const wire = (code: string, more: Partial<AnswerError> = {}): AnswerError => ({
  kind: 'wire',
  code,
  message: 'text',
  ...more,
})

/** Codes of other routes only. */
const elsewhere = new Set([
  'not_found',
  'method_not_allowed',
  'client_left',
  'unsupported_media_type',
  'page_not_built',
  'unsupported_parameter',
  'websocket_not_supported',
  'not_supported',
  'invalid_form',
  'idempotency_key_reused',
])
const sections = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').split(/^## /m)
const chatSections = sections.filter((section) => /^The (request|providers|service)\n/.test(section)).join('')
const documented = [...chatSections.matchAll(/^\| [\d, ]+ \| `\w+` \| `(\w+)`/gm)].map(([, code = '']) => code)

describe('explainError', () => {
  test.each(
    [
      ...new Set([
        ...documented,
        'authentication_required',
        'invalid_session',
        'access_denied',
        'cross_site_request',
        'store_unavailable',
      ]),
    ].filter((code) => !elsewhere.has(code)),
  )('explains %s', (code) => {
    expect(explainError(wire(code), false).title).not.toBe('There is no answer')
  })

  test.each(['constructor', 'toString', '__proto__'])('takes a provider’s own code %s as unknown', (code) => {
    expect(explainError(wire(code), true)).toMatchObject({
      title: 'There is no answer',
      remedies: ['continue', 'retry', 'choose-model'],
    })
  })

  test('offers another model for an unknown model', () => {
    expect(explainError(wire('model_not_found'), false).remedies[0]).toBe('choose-model')
  })

  test('offers the settings for a refused parameter, and names it', () => {
    expect(explainError(wire('invalid_value', { param: 'temperature' }), false)).toMatchObject({
      title: 'The service does not take this temperature',
      remedies: ['settings', 'retry'],
    })
  })

  test('offers to edit a refused message', () => {
    expect(explainError(wire('invalid_value', { param: 'messages[0].content' }), false).remedies[0]).toBe('edit')
  })

  test('offers to make a conversation smaller that is too large', () => {
    expect(explainError(wire('request_too_large'), false).remedies[0]).toBe('shorten')
  })

  test('distinguishes a cut from failures of all providers', () => {
    expect(explainError(wire('provider_error'), false).title).toBe('Every provider that was asked failed')
    expect(explainError(wire('provider_error'), true).title).toBe('The answer was cut off')
  })

  test.each([
    [401, 'You are not signed in any more'],
    [413, 'The conversation is too large for the service'],
    [503, 'The service is overloaded'],
    [418, 'There is no answer'],
  ])('explains the status %d if the code is unknown', (status, title) => {
    expect(explainError(wire('unknown_code', { status }), false).title).toBe(title)
  })

  test('offers to continue an answer that has text', () => {
    expect(explainError(wire('provider_error'), true).remedies).toEqual(['continue', 'retry'])
    expect(explainError(wire('provider_error'), false).remedies).not.toContain('continue')
  })

  test('offers larger models, and neither retry nor continuation, for too long a conversation', () => {
    for (const hasText of [false, true]) {
      expect(explainError(wire('context_length_exceeded'), hasText)).toMatchObject({
        title: 'The conversation is too long for this model',
        remedies: ['larger-model', 'choose-model', 'shorten'],
      })
    }
  })

  test('can be retried in all other cases', () => {
    for (const code of documented.filter((each) => each !== 'context_length_exceeded'))
      expect(explainError(wire(code), false).remedies).toContain('retry')
  })
})

test('each provider that failed has its last reason', () => {
  const failed = (provider: string, failure: string) => ({ provider, failure, ms: 1 })
  const trail = [failed('a', 'connect'), failed('b', 'rate_limit'), failed('a', 'credential')]
  expect(lastFailures(trail)).toEqual([failed('a', 'credential'), failed('b', 'rate_limit')])
  expect(lastFailures([failed('a', 'connect'), { provider: 'a', ms: 1 }])).toEqual([])
})

test('a refused key is for the owner first: a retry would be refused again', () => {
  const error = wire('provider_error')
  const failed = (failure: string) => ({ provider: 'a', failure, ms: 1 })
  const firstOf = (...failures: readonly string[]) => explainError(error, false, failures.map(failed)).remedies[0]
  expect([firstOf('credential', 'quota'), firstOf('credential', 'timeout'), firstOf()].join()).toBe(
    'providers,retry,retry',
  )
})
