import { expect, test } from 'bun:test'
import { LimitAdmission } from '../../limits/admission.ts'
import { newCounter, type CounterKind } from '../../limits/counter.ts'
import { Limiter } from '../../limits/limiter.ts'
import { durationText, limitHeaders, limitReached } from './limit-answers.ts'

test.each([
  [0, '0s'],
  [0.2, '1ms'],
  [12, '12ms'],
  [999, '999ms'],
  [999.5, '1s'],
  [1_001, '2s'],
  [60_000, '1m0s'],
  [359_999, '6m0s'],
  [3_600_000, '1h0m0s'],
  [86_400_000, '24h0m0s'],
])('%d ms are written as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})

function refusal(waitMs: number, kind: CounterKind = 'requests') {
  const spec = { key: '', kind, most: 5, perMs: 60_000, subject: 'each key', text: '5 requests a minute for each key' }
  return limitReached({ counter: newCounter(spec), waitMs })
}

test('a refusal tells when to come back, in whole seconds that differ from caller to caller', () => {
  const seconds = Array.from({ length: 200 }, () => Number(refusal(30_000).headers['retry-after']))
  expect(seconds.every((each) => Number.isInteger(each) && each >= 30 && each <= 37)).toBe(true)
  expect(new Set(seconds).size).toBeGreaterThan(3)
  expect(refusal(1_000).toJSON().error).toMatchObject({
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: expect.stringContaining('Limit reached: 5 requests a minute for each key; try again in'),
  })
  expect(refusal(1_000, 'at_once').code).toBe('concurrency_limit_exceeded')
})

test('the headers of the IETF are there if the file asks for them', () => {
  const rate = (count: number) => ({ count, per: 'minute' as const })
  const limit = { place: 'limits[0]', subject: { kind: 'everyone' as const }, requests: rate(60), tokens: rate(600) }
  const headersOf = (hasIetfHeaders: boolean) => {
    const limits = new Limiter({ clock: () => 5 })
    limits.replace({ timeZone: 'UTC', limits: [limit], teams: new Map(), hasIetfHeaders })
    const admission = limits.admit({})
    if (!(admission instanceof LimitAdmission)) throw new Error('no limit')
    void admission.ask({ models: [], tokens: 30 })
    return limitHeaders(admission, 'chat')
  }
  expect(headersOf(true)).toMatchObject({
    'ratelimit-policy': '"requests";q=60;w=60, "tokens";q=600;w=60',
    ratelimit: '"requests";r=59;t=1, "tokens";r=570;t=3',
    'x-ratelimit-limit-requests': '60',
  })
  expect(Object.keys(headersOf(false)).filter((name) => name.startsWith('ratelimit'))).toEqual([])
})

test('clients are told to try again by themselves only when that helps soon', () => {
  expect(refusal(60_000).headers['x-should-retry']).toBe('true')
  expect(refusal(61_000).headers).toMatchObject({ 'x-should-retry': 'false', 'retry-after': expect.any(String) })
  expect(refusal(Infinity).headers).toEqual({ 'x-should-retry': 'false' })
})
