import { describe, expect, test } from 'bun:test'
import { AllFailed } from '../service/failover.ts'
import { UpstreamFailure, type FailureClass, type FailureDetails } from '../service/failure.ts'
import type { Unavailability } from '../service/health/health-state.ts'
import { failureOf } from '../service/testing.ts'
import { allFailed, cutOff, modelNotFound, overloaded, policyViolation } from './all-failed.ts'

type Failed = FailureClass | readonly [FailureClass, FailureDetails]

function failed(all: readonly Failed[], skipped: readonly Unavailability[] = []) {
  const failures = all.map((each, position): { name: string; failure: UpstreamFailure } => ({
    name: `p${position + 1}`,
    failure: typeof each === 'string' ? failureOf(each) : failureOf(each[0], each[1]),
  }))
  return allFailed('m', new AllFailed(failures, skipped))
}

describe('when all have failed the status', () => {
  const cases: readonly (readonly [number, string, readonly Failed[]])[] = [
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
    [502, 'no provider has the model any more', ['model_gone']],
  ]
  test.each(cases)('is %p if %s', (status, _name, failures) => {
    expect(failed(failures)).toMatchObject({ status, type: 'api_error', code: 'provider_error', param: null })
  })
})

describe('when all say that the conversation is too long', () => {
  test('the error is invalid_request_error with the code that client libraries know', () => {
    const error = failed(['context_length', 'context_length'])
    expect(error).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'messages',
      headers: { 'x-should-retry': 'false' },
    })
    expect(error.message).toStartWith("All providers failed for model 'm': p1: ")
  })

  test('a skipped provider makes it retryable', () => {
    expect(failed(['context_length'], [{ reason: 'open', remainingMs: 4_000 }])).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      headers: { 'x-should-retry': 'true' },
    })
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
  const cases: readonly (readonly [string, readonly Failed[]])[] = [
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

describe('when the work may have been done', () => {
  test('the error says so, and that a retry cannot help', () => {
    const failure = failureOf('timeout')
    const error = allFailed('m', new AllFailed([{ name: 'a', failure }], [], true))
    expect(error).toMatchObject({ status: 504, headers: { 'x-should-retry': 'false' } })
    expect(error.message).toEndWith('; no other provider was asked, since this one may have done the work')
  })
})

describe('when all asked providers failed, and others were skipped', () => {
  const skipped: readonly Unavailability[] = [{ reason: 'open', remainingMs: 4_000 }]
  const cases: readonly (readonly [number, readonly Failed[]])[] = [
    [502, ['bad_request', 'context_length']],
    [502, ['credential']],
    [429, ['rate_limit']],
    [503, ['overloaded']],
    [504, ['timeout']],
  ]
  test.each(cases)('the status is %p for %j, and the request retryable', (status, failures) => {
    expect(failed(failures, skipped)).toMatchObject({ status, headers: { 'x-should-retry': 'true' } })
  })
})

describe('when all have failed Retry-After', () => {
  const wait = (reason: Unavailability['reason'], remainingMs: number): Unavailability => ({ reason, remainingMs })
  const cases: readonly (readonly [string, string | undefined, readonly Failed[], readonly Unavailability[]])[] = [
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
    ['is at most 600', '600', [['rate_limit', { retryAfterMs: 7_200_000 }]], [wait('retry_after', 3_600_000)]],
    ['is at least 1', '1', [['rate_limit', { retryAfterMs: 0 }]], []],
    ['is 1 when no provider gave one', '1', ['overloaded'], []],
    [
      'is that of a skipped provider when it is sooner',
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

describe('when every provider is at its concurrency limit', () => {
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
  test('give the reason of a content policy, with status 400 and no retry (failover.md row 13)', () => {
    expect(policyViolation(failureOf('content_policy'))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'content_policy_violation',
      message: 'The provider rejected the content: it was content_policy',
      headers: { 'x-should-retry': 'false' },
    })
  })

  test('answer 503 for a lack of resources of the service (failover.md row 42)', () => {
    expect(overloaded('full')).toMatchObject({
      status: 503,
      type: 'overloaded_error',
      code: 'overloaded',
      headers: { 'retry-after': '1', 'x-should-retry': 'true' },
    })
  })

  test('answer provider_error for a cut', () => {
    expect(cutOff(failureOf('cut'))).toMatchObject({
      type: 'api_error',
      code: 'provider_error',
      message: 'The answer was cut off: it was cut',
    })
  })

  test('answer 404 for an unknown model, with no retry (docs/errors.md)', () => {
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

describe('when all have failed the message', () => {
  test('has the whole sentence of the last, and short ones of the others', () => {
    const long = (name: string) => `status 400: ${name} ${'x'.repeat(1_000)}`
    const failures = ['one', 'two'].map((name) => ({
      name,
      failure: new UpstreamFailure('bad_request', long(name), { status: 400 }),
    }))
    const { message } = allFailed('m', new AllFailed(failures, []))
    expect(message).toEndWith(`…; two: ${long('two')}`)
    expect(message.length).toBeLessThan(1_400)
  })
})
