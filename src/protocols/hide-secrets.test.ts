import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { UpstreamFailure } from '../service/failure.ts'
import { redact } from '../wire/error-body.ts'
import { hideSecrets } from './hide-secrets.ts'

const apiKey = 'correct-horse-battery-staple'

function told(message: string, headers: Readonly<Record<string, string>> = {}): unknown {
  const error = hideSecrets({ apiKey, headers }).inFailure(new UpstreamFailure('credential', message, { status: 401 }))
  return error instanceof UpstreamFailure ? error.message : error
}

describe('what a provider was given in confidence', () => {
  test.each([
    [
      'its key',
      `status 401: Key ${apiKey} is not known, ${apiKey}!`,
      {},
      'status 401: Key [redacted] is not known, [redacted]!',
    ],
    ['a header', 'no such tenant: blue-whale', { 'x-tenant': 'blue-whale' }, 'no such tenant: [redacted]'],
    [
      'a header with a scheme',
      'Bearer blue-whale; blue-whale',
      { authorization: 'Bearer blue-whale' },
      '[redacted]; [redacted]',
    ],
    ['a key that was cut off', 'status 401: Key correct-horse-b…', {}, 'status 401: Key [redacted]'],
  ])('does not stand in its failures: %s', (_name, message, headers, expected) => {
    expect(told(message, headers)).toBe(expected)
  })

  test('is not looked for where it is a word', () => {
    expect(told('status 400: model m1 is unknown…', { 'x-version': 'm1' })).toBe('status 400: model m1 is unknown…')
    const error = new Error(apiKey)
    expect(hideSecrets({ apiKey: undefined, headers: {} }).inFailure(error)).toBe(error)
  })

  test('does not stand in the body of an error, whatever it looks like', () => {
    const awkward = 'plain-words-10.20.30.40-ä@b.example-more'
    const { inBody } = hideSecrets({ apiKey: awkward, headers: { 'x-tenant': 'blue-whale' } })
    const shown = (text: string) => new TextDecoder().decode(inBody(new TextEncoder().encode(text)))
    expect(shown(`{"error":"ö ${awkward}${awkward} of blue-whale"}`)).toBe(
      '{"error":"ö [redacted][redacted] of [redacted]"}',
    )
    const body = new TextEncoder().encode('ö')
    expect(inBody(body)).toBe(body)
  })

  test('stays in the body where it is but a word: the body tells what the failure means', () => {
    const { inBody, inFailure } = hideSecrets({ apiKey: 'token', headers: {} })
    const body = new TextEncoder().encode('too many tokens')
    expect(inBody(body)).toBe(body)
    expect(inFailure(new UpstreamFailure('context_length', 'too many tokens'))).toMatchObject({
      failure: 'context_length',
      message: 'too many [redacted]s',
    })
  })

  test('changes nothing else of a failure', () => {
    const cause = new Error('why')
    const failure = new UpstreamFailure('rate_limit', `slow down, ${apiKey}`, {
      status: 429,
      retryAfterMs: 7,
      ambiguous: true,
      isFinal: true,
      timedOut: true,
      cause,
    })
    expect(hideSecrets({ apiKey, headers: {} }).inFailure(failure)).toMatchObject({
      failure: 'rate_limit',
      message: 'slow down, [redacted]',
      status: 429,
      retryAfterMs: 7,
      ambiguous: true,
      isFinal: true,
      timedOut: true,
      cause,
    })
  })

  test('does not stand there wherever it was repeated, whole or cut off', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(apiKey, ' ', 'no', '-', 'correct'), { maxLength: 30 }), (words) => {
        const shown = String(told(redact(words.join(''))))
        expect(shown.includes(apiKey)).toBeFalse()
        expect(shown).not.toMatch(/correct-h[a-z-]*…$/)
      }),
    )
  })
})
