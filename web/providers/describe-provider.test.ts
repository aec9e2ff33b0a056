import { describe, expect, test } from 'bun:test'
import type { ProviderEntry, ProviderState } from '../../src/http/page/page-api.ts'
import { formatTime } from '../ui/format.ts'
import {
  adviceFor,
  describeFigures,
  describeFirstToken,
  describeKind,
  describeLastError,
  describeState,
  describeSuccess,
  describeTest,
  describeUnpriced,
  ownWords,
} from './describe-provider.ts'

const now = 1_760_000_000_000
const some = { count: 3, ok: 2 }

describe('describeState', () => {
  test.each<[ProviderState, string, string | undefined]>([
    [{ kind: 'ok' }, 'OK', undefined],
    [
      { kind: 'cooling', until: now + 6_400, failure: 'rate_limit' },
      'Cooling',
      `rate limit, until ${formatTime(now + 6_400)}, in 7 s`,
    ],
    [
      { kind: 'cooling', until: now + 150_000, failure: 'quota', askedToWait: true },
      'Cooling',
      `out of credit, it asked to wait, until ${formatTime(now + 150_000)}, in 3 min`,
    ],
    [{ kind: 'cooling', until: now - 1 }, 'Cooling', 'to be asked again now'],
    [{ kind: 'failing', failure: 'model_list', detail: 'GET /models' }, 'Failing', 'its models cannot be listed'],
    [{ kind: 'off' }, 'Off', 'not asked'],
    [
      {
        kind: 'unavailable',
        lacks: [
          { code: 'unset', variables: ['ONE_KEY', 'OTHER_KEY'] },
          { code: 'invalid', variables: ['A_URL'] },
          { code: 'no_base_url', variables: [] },
        ],
      },
      'Unavailable',
      'none of ONE_KEY, OTHER_KEY is set, A_URL has an invalid value, the base URL is missing',
    ],
  ])('%p is %s: %p', (state, word, more) => {
    const look = describeState({ state, attempts: some }, now)
    expect([look.word, look.more]).toEqual([word, more])
  })

  test('says that there were no requests', () => {
    expect(describeState({ state: { kind: 'ok' }, attempts: { count: 0, ok: 0 } }, now).more).toBe(
      'not asked in the last hour',
    )
  })
})

test('the last error has reason, model and time', () => {
  const lastError = { time: now - 125_000, failure: 'rate_limit', model: 'x', status: 429 }
  expect(describeLastError({ lastError }, now)).toBe('429 rate limit, model x, 2 min ago')
  expect(describeLastError({ lastError: { time: now, failure: 'timeout', model: '' } }, now)).toBe('timeout, now')
  expect(describeLastError({}, now)).toBeUndefined()
})

test('success has share and count', () => {
  expect(describeSuccess({ attempts: { count: 1_200, ok: 1_176 } })).toBe('98\u00a0% of 1,200')
  expect(describeSuccess({ attempts: { count: 0, ok: 0 } })).toBeUndefined()
})

test('the first token has median and 95th percentile', () => {
  expect(describeFirstToken({ attempts: { count: 2, ok: 2, firstTokenP50: 340, firstTokenP95: 1_200 } })).toBe(
    'p50 340 ms, p95 1.2 s',
  )
  expect(describeFirstToken({ attempts: { count: 1, ok: 1 } })).toBeUndefined()
})

test('a test has its duration, and why it failed', () => {
  expect(describeTest({ ok: true, ms: 340, model: 'm' })).toBe('Answered in 340 ms (model m)')
  expect(describeTest({ ok: false, ms: 12, model: 'm', status: 401, failure: 'credential' })).toBe(
    'The key is refused (401)',
  )
  expect(describeTest({ ok: false, ms: 0, lacks: [{ code: 'unset', variables: ['A_KEY'] }] })).toBe('A_KEY is not set')
})

test("a provider's own words come without the status that the page shows anyway", () => {
  expect(ownWords('status 429: Rate limit reached')).toBe('Rate limit reached')
  expect(ownWords('connection refused')).toBe('connection refused')
  for (const none of ['status 429', '', undefined]) expect(ownWords(none)).toBeUndefined()
})

test('models without a price are named, with the effect', () => {
  expect(describeUnpriced({ models: ['a'], areRefused: false })).toBe(
    'No price is known for a, and a limit of money counts requests there. Other providers are asked first.',
  )
  expect(describeUnpriced({ models: ['a', 'b', 'c', 'd', 'e'], areRefused: true })).toMatch(
    /for a, b, c and 2 more, .* It is a hard one: they are not sent/,
  )
})

describe('what a provider is', () => {
  const entry: ProviderEntry = {
    ...{ id: 'a', protocol: 'openai', brand: 'Groq', enabled: true, state: { kind: 'ok' }, coolingModels: [] },
    ...{ modelCount: 11, attempts: { count: 0, ok: 0 } },
  }
  const cheap = { input: 0.05, output: 0.08 }

  test.each<[Partial<ProviderEntry>, string]>([
    [{}, 'Groq · 11 models'],
    [{ price: cheap }, 'Groq · 11 models · $0.05 in, $0.08 out'],
    [{ price: cheap, hasOtherPrices: true }, 'Groq · 11 models · from $0.05 in, $0.08 out'],
    [{ price: { input: 0, output: 0 } }, 'Groq · 11 models · free'],
    [{ price: { input: 0, output: 0 }, hasOtherPrices: true }, 'Groq · 11 models · some of them free'],
  ])('with %j is said with its price: %s', (more, words) => {
    expect(describeKind({ ...entry, ...more })).toBe(words)
  })
})

test('figures have their units in words', () => {
  expect(describeFigures({ attempts: { count: 1_200, ok: 1_176, firstTokenP50: 340 } })).toBe(
    '98\u00a0% of 1,200 answered, first token 340 ms',
  )
  expect(describeFigures({ attempts: { count: 0, ok: 0 } })).toBeUndefined()
})

test('a failure comes with advice', () => {
  expect(adviceFor('connect', 'http://a.test/v1')).toMatch(/^Nothing answers at http:\/\/a\.test\/v1\. Start it/)
  expect(adviceFor('quota', undefined)).toMatch(/credit is used up/)
  expect(adviceFor('server_error', undefined)).toMatch(/asked again by itself/)
})
