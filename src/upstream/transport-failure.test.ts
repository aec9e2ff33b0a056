import { describe, expect, test } from 'bun:test'
import { transportError } from '../protocols/testing.ts'
import type { TransportErrorKind } from '../transport/transport.ts'
import { bodyFailure, exchangeFailure } from './transport-failure.ts'

describe('an exchange that failed before its head', () => {
  const cases: readonly (readonly [TransportErrorKind, Readonly<Record<string, unknown>>])[] = [
    ['dns', { failure: 'dns', ambiguous: false, timedOut: false }],
    ['connect', { failure: 'connect', ambiguous: false, timedOut: false }],
    ['connect_timeout', { failure: 'connect', ambiguous: false, timedOut: true }],
    ['tls', { failure: 'tls', ambiguous: false }],
    ['reset', { failure: 'reset', ambiguous: true }],
    ['informational', { failure: 'informational', ambiguous: true }],
    ['malformed', { failure: 'malformed', ambiguous: true }],
    ['too_large', { failure: 'too_large' }],
    ['short_body', { failure: 'malformed', ambiguous: true }],
    ['resources', { failure: 'resources', isFinal: true }],
  ]
  test.each(cases)('by %s is %j (failover.md rows 1 to 8, 42)', (kind, expected) => {
    const error = transportError(kind)
    const failure = exchangeFailure(error)
    expect(failure).toMatchObject({ name: 'UpstreamFailure', status: undefined, isFinal: false, ...expected })
    expect(failure).toHaveProperty('cause', error)
  })

  test('by an abort is no upstream failure', () => {
    const error = transportError('aborted')
    expect(exchangeFailure(error)).toBe(error)
  })

  test('by an internal error is passed on unchanged', () => {
    const mistake = new TypeError('ours')
    expect(exchangeFailure(mistake)).toBe(mistake)
    expect(bodyFailure(mistake)).toBe(mistake)
  })
})

describe('a body that could not be read', () => {
  const cases: readonly (readonly [TransportErrorKind, Readonly<Record<string, unknown>>])[] = [
    ['too_large', { failure: 'too_large', status: 200 }],
    ['short_body', { failure: 'malformed', status: 200 }],
    ['malformed', { failure: 'malformed', status: 200 }],
    ['reset', { failure: 'malformed', status: 200 }],
    ['resources', { failure: 'resources', isFinal: true }],
  ]
  test.each(cases)('for %s is %j (failover.md rows 23, 29, 42)', (kind, expected) => {
    expect(bodyFailure(transportError(kind))).toMatchObject({ name: 'UpstreamFailure', ...expected })
  })

  test('by an abort is no upstream failure', () => {
    const error = transportError('aborted')
    expect(bodyFailure(error)).toBe(error)
  })
})
