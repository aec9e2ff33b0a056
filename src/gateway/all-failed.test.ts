import { describe, expect, test } from 'bun:test'
import type { Unavailability } from '../service/circuit.ts'
import { AllFailed } from '../service/failover.ts'
import type { FailureClass, FailureDetails, UpstreamFailure } from '../service/failure.ts'
import { allFailed, cutOff, modelNotFound, overloaded, policyViolation } from './all-failed.ts'
import { failureOf } from './testing.ts'

type Told = FailureClass | readonly [FailureClass, FailureDetails]

function failed(told: readonly Told[], skipped: readonly Unavailability[] = []) {
  const failures = told.map((each, position): { name: string; failure: UpstreamFailure } => ({
    name: `p${position + 1}`,
    failure: typeof each === 'string' ? failureOf(each) : failureOf(each[0], each[1]),
  }))
  return allFailed('m', new AllFailed(failures, skipped))
}

describe('when all have failed the status', () => {
  const cases: readonly (readonly [number, string, readonly Told[]])[] = [
    [504, 'all timed out', ['timeout', 'timeout']],
    [504, 'all timed out, some while connecting', ['timeout', ['connect', { timedOut: true }]]],
    [429, 'all were rate limits', ['rate_limit', 'rate_limit']],
    [502, 'one was a rate limit and one a quota', ['rate_limit', 'quota']],
    [502, 'all were quotas', ['quota']],
    [503, 'all were overloaded', ['overloaded']],
    [503, 'all were overloaded or rate limits', ['overloaded', 'rate_limit']],
    [400, 'all rejected the request', ['bad_request', 'context_length']],
    [502, 'one rejected the request and one failed', ['bad_request', 'server_error']],
    [502, 'all failed', ['server_error', 'dns', 'tls']],
    [502, 'one timed out and one failed', ['timeout', 'reset']],
    [502, "all have a bad key, which is never the client's own 401", ['credential', 'credential']],
    [502, 'nobody has the model any more', ['model_gone']],
  ]
  test.each(cases)('is %p if %s', (status, _name, failures) => {
    expect(failed(failures)).toMatchObject({ status, type: 'api_error', code: 'provider_error', param: null })
  })
})

describe('when all have failed the message', () => {
  test('names the model, and each provider with its reason (docs/errors.md)', () => {
    expect(failed(['server_error', 'dns']).message).toBe(
      "All providers failed for model 'm': p1: it was server_error; p2: it was dns",
    )
  })
})

describe('when all have failed x-should-retry', () => {
  const cases: readonly (readonly [string, readonly Told[]])[] = [
    ['false', ['bad_request', 'credential', 'quota', 'model_gone', 'context_length', 'redirect']],
    ['true', ['bad_request', 'server_error']],
    ['true', ['rate_limit']],
    ['true', ['timeout']],
    ['true', ['tls']],
  ]
  test.each(cases)('is %s for %j', (expected, failures) => {
    expect(failed(failures).headers['x-should-retry']).toBe(expected)
  })
})

describe('when all who were asked have failed, and somebody was not asked', () => {
  const skipped: readonly Unavailability[] = [{ reason: 'open', remainingMs: 4_000 }]
  const cases: readonly (readonly [number, readonly Told[]])[] = [
    [502, ['bad_request', 'context_length']],
    [502, ['credential']],
    [429, ['rate_limit']],
    [503, ['overloaded']],
    [504, ['timeout']],
  ]
  test.each(cases)('it is %p for %j, and worth another try', (status, failures) => {
    expect(failed(failures, skipped)).toMatchObject({ status, headers: { 'x-should-retry': 'true' } })
  })
})

describe('when all have failed Retry-After', () => {
  const wait = (reason: Unavailability['reason'], remainingMs: number): Unavailability => ({ reason, remainingMs })
  const cases: readonly (readonly [string, string | undefined, readonly Told[], readonly Unavailability[]])[] = [
    [
      'is the smallest one',
      '2',
      [
        ['rate_limit', { retryAfterMs: 9_000 }],
        ['rate_limit', { retryAfterMs: 2_000 }],
      ],
      [],
    ],
    ['is rounded up to whole seconds', '3', [['rate_limit', { retryAfterMs: 2_001 }]], []],
    ['is at least 1', '1', [['rate_limit', { retryAfterMs: 0 }]], []],
    ['is 1 when nobody said', '1', ['overloaded'], []],
    [
      'is that of who was skipped when that is sooner',
      '4',
      [['overloaded', { retryAfterMs: 9_000 }]],
      [wait('retry_after', 3_500)],
    ],
    ['is not given with 502', undefined, [['server_error', { retryAfterMs: 9_000 }]], []],
    ['is not given with 504', undefined, ['timeout'], []],
  ]
  test.each(cases)('%s', (_name, expected, failures, skipped) => {
    expect(failed(failures, skipped).headers['retry-after']).toBe(expected)
  })
})

describe('when everybody is full', () => {
  test('the answer is 503 with Retry-After, and no upstream is blamed', () => {
    const error = failed([], [{ reason: 'full', remainingMs: 1_000 }])
    expect(error).toMatchObject({
      status: 503,
      type: 'overloaded_error',
      code: 'overloaded',
      headers: { 'retry-after': '1', 'x-should-retry': 'true' },
    })
    expect(error.message).toContain("'m'")
  })
})

describe('the other errors', () => {
  test("tell a content policy's reason as 400, not to be retried (failover.md row 13)", () => {
    expect(policyViolation(failureOf('content_policy'))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'content_policy_violation',
      message: 'The provider rejected the content: it was content_policy',
      headers: { 'x-should-retry': 'false' },
    })
  })

  test('tell our own lack of room as 503 (failover.md row 42)', () => {
    expect(overloaded('full')).toMatchObject({
      status: 503,
      type: 'overloaded_error',
      code: 'overloaded',
      headers: { 'retry-after': '1', 'x-should-retry': 'true' },
    })
  })

  test('tell a cut as provider_error', () => {
    expect(cutOff(failureOf('cut'))).toMatchObject({
      type: 'api_error',
      code: 'provider_error',
      message: 'The answer was cut off: it was cut',
    })
  })

  test('tell an unknown model as 404, not to be retried (docs/errors.md)', () => {
    expect(modelNotFound('x')).toMatchObject({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      message: "The model 'x' was not found in any enabled provider",
      headers: { 'x-should-retry': 'false' },
    })
  })
})
