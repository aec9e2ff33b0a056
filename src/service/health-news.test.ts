import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { failureEffects } from './failure.ts'
import { aged, keptFor, parseHealthNews, type HeldOff } from './health-news.ts'

const open: HeldOff = { breaker: { remainingMs: 4_000.2, stepMs: 5_000 } }

/** Nearly news: right names of members, all sorts of values. */
const nearly = fc.record(
  {
    provider: fc.oneof(
      { weight: 5, arbitrary: fc.string({ minLength: 1 }) },
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      fc.jsonValue(),
    ),
    model: fc.oneof({ weight: 5, arbitrary: fc.string({ minLength: 1 }) }, fc.jsonValue()),
    target: fc.oneof({ weight: 5, arbitrary: fc.string({ minLength: 1, maxLength: 70 }) }, fc.jsonValue()),
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('failed', 'standing', 'answered', 'succeeded', 'probing', 'probe_over') },
      fc.string(),
    ),
    failure: fc.oneof(fc.constantFrom(...Object.keys(failureEffects), '__proto__', 'toString'), fc.jsonValue()),
    retryAfterMs: fc.oneof(fc.double(), fc.jsonValue()),
    row: fc.oneof(fc.double(), fc.jsonValue()),
    sameClass: fc.oneof(fc.double(), fc.jsonValue()),
    heldOff: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          retryAfterMs: fc.oneof(fc.double(), fc.jsonValue()),
          coolDownMs: fc.oneof(fc.double(), fc.jsonValue()),
          breaker: fc.oneof(
            fc.jsonValue(),
            fc.record({ remainingMs: fc.double(), stepMs: fc.oneof(fc.double(), fc.jsonValue()) }),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: ['provider', 'kind'] },
)

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

describe('parsed news of health', () => {
  test.each([
    { provider: 'groq', kind: 'probing' },
    { provider: 'groq', model: 'small', kind: 'probe_over' },
    { provider: 'groq', kind: 'answered', heldOff: { coolDownMs: 1.5 } },
    { provider: 'groq', model: 'small', kind: 'succeeded' },
    { provider: 'groq', model: 'small', kind: 'failed', failure: 'rate_limit', retryAfterMs: 0 },
    { provider: 'groq', kind: 'failed', failure: 'connect', heldOff: open },
    {
      provider: 'groq',
      model: 'small',
      kind: 'standing',
      row: 4,
      failure: 'quota',
      sameClass: 3,
      heldOff: { retryAfterMs: 600_000, coolDownMs: 300_000 },
    },
    { provider: 'groq', kind: 'standing', row: 0, sameClass: 0 },
    { provider: 'groq', target: '0123456789ab', model: 'small', kind: 'failed', failure: 'connect' },
  ])('are what was told: %j', (news) => {
    expect<unknown>(parseHealthNews(JSON.parse(JSON.stringify(news)))).toEqual(news)
  })

  test.each(
    [
      undefined,
      null,
      'failed',
      [],
      {},
      { provider: 'groq' },
      { provider: 'groq', kind: 'gossip' },
      { kind: 'probing' },
      { provider: '', kind: 'probing' },
      { provider: 5, kind: 'probing' },
      { provider: 'groq', model: '', kind: 'probing' },
      { provider: 'groq', model: null, kind: 'probing' },
      { provider: 'g'.repeat(1_025), kind: 'probing' },
      { provider: 'groq', model: 'm'.repeat(1_025), kind: 'probing' },
      { provider: 'groq', target: '', kind: 'probing' },
      { provider: 'groq', target: 1, kind: 'probing' },
      { provider: 'groq', target: 'x'.repeat(65), kind: 'probing' },
      { provider: 'groq', kind: 'failed' },
      { provider: 'groq', kind: 'failed', failure: 'unheard_of' },
      { provider: 'groq', kind: 'failed', failure: 'toString' },
      { provider: 'groq', kind: 'failed', failure: 'bad_request' },
      { provider: 'groq', kind: 'failed', failure: 'resources' },
    ].map((value) => [JSON.stringify(value)?.slice(0, 60), value] as const),
  )('are nothing when they are none: %s', (_, value) => {
    expect(parseHealthNews(value)).toBeUndefined()
  })

  test('have their numbers brought within what can be', () => {
    const much = {
      provider: 'groq',
      kind: 'standing',
      row: 1e300,
      failure: 'quota',
      sameClass: 2.9,
      heldOff: { retryAfterMs: 1e300, coolDownMs: 1e300, breaker: { remainingMs: 1e300, stepMs: 1e300 } },
    }
    expect(parseHealthNews(much)).toEqual({
      provider: 'groq',
      kind: 'standing',
      row: 1_000,
      failure: 'quota',
      sameClass: 2,
      heldOff: { retryAfterMs: 600_000, coolDownMs: 300_000, breaker: { remainingMs: 72_000, stepMs: 60_000 } },
    })
    const little = {
      provider: 'groq',
      kind: 'failed',
      failure: 'quota',
      retryAfterMs: -1,
      heldOff: { coolDownMs: Number.NaN, retryAfterMs: '5', breaker: { remainingMs: -5 } },
    }
    expect(parseHealthNews(little)).toEqual({
      provider: 'groq',
      kind: 'failed',
      failure: 'quota',
      retryAfterMs: 0,
      heldOff: { breaker: { remainingMs: 0, stepMs: 0 } },
    })
  })

  test('are bounded, whatever comes, and read the same again', () => {
    let found = 0
    fc.assert(
      fc.property(fc.oneof(nearly, fc.jsonValue()), (value) => {
        const news = parseHealthNews(value)
        if (news === undefined) return
        found += 1
        expect(numbersIn(news).every((number) => number >= 0 && number <= 600_000)).toBe(true)
        expect(JSON.stringify(news).length).toBeLessThan(2 * 6 * 1_024 + 500)
        expect(parseHealthNews(JSON.parse(JSON.stringify(news)))).toEqual(news)
        const kept = keptFor(news)
        expect(kept === undefined || (Number.isInteger(kept.ms) && kept.ms <= 600_000)).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(found).toBeGreaterThan(50)
  })
})

describe('what is kept for newcomers', () => {
  test.each([
    [
      'an open breaker, until a newcomer may begin with a probe',
      { kind: 'failed', failure: 'connect', heldOff: open },
      34_001,
    ],
    [
      'the longest of what holds it off',
      { kind: 'failed', failure: 'quota', heldOff: { coolDownMs: 300_000, ...open } },
      300_000,
    ],
    ['a Retry-After that outlives a success', { kind: 'succeeded', heldOff: { retryAfterMs: 500_000 } }, 500_000],
    ['a success, for as long as what it ends could have lasted', { kind: 'succeeded' }, 300_000],
    ['that it answers, for as long', { kind: 'answered' }, 300_000],
  ] as const)('is %s', (_, happening, ms) => {
    expect(keptFor({ provider: 'groq', model: 'small', ...happening })).toEqual({ key: '["groq","small"]', ms })
  })

  test.each([
    { kind: 'failed', failure: 'connect' },
    { kind: 'probing' },
    { kind: 'probe_over' },
    { kind: 'standing', row: 4, sameClass: 0 },
  ] as const)('stays as it is after %j', (happening) => {
    expect(keptFor({ provider: 'groq', ...happening })).toBeUndefined()
  })

  test('of a provider is not that of a model, however they are called', () => {
    const keys = [['a/b', 'c'], ['a', 'b/c'], ['a'], ['a","b'], ['a', 'b']].flatMap(([provider = '', model]) =>
      [{}, { target: 'b' }, { target: 'c' }].map(
        (target) => keptFor({ provider, ...target, ...(model === undefined ? {} : { model }), kind: 'succeeded' })?.key,
      ),
    )
    expect(new Set(keys).size).toBe(15)
  })
})

describe('aged news', () => {
  const news = {
    provider: 'groq',
    target: 'a',
    model: 'small',
    kind: 'failed',
    failure: 'overloaded',
    retryAfterMs: 3_000,
    heldOff: { retryAfterMs: 3_000, coolDownMs: 6_000, breaker: { remainingMs: 4_000, stepMs: 5_000 } },
  } as const

  test('say what remains, and count no failure again', () => {
    const subject = {
      provider: 'groq',
      target: 'a',
      model: 'small',
      kind: 'standing',
      row: 0,
      sameClass: 0,
      failure: 'overloaded',
    } as const
    expect(aged(news, 1_000)).toEqual({
      ...subject,
      agoMs: 1_000,
      heldOff: { retryAfterMs: 2_000, coolDownMs: 5_000, breaker: { remainingMs: 3_000, stepMs: 5_000 } },
    })
    expect(aged(news, 5_000)).toEqual({
      ...subject,
      agoMs: 5_000,
      heldOff: { coolDownMs: 1_000, breaker: { remainingMs: 0, stepMs: 5_000 } },
    })
  })

  test('say nothing when all is over', () => {
    expect(aged(news, 33_999)).toBeDefined()
    expect(aged(news, 34_000)).toBeUndefined()
    expect(aged({ provider: 'groq', kind: 'probing' }, 0)).toBeUndefined()
    expect(aged({ provider: 'groq', kind: 'failed', failure: 'connect' }, 0)).toBeUndefined()
    expect(aged({ provider: 'groq', kind: 'succeeded' }, 300_000)).toBeUndefined()
  })

  test('of a success say how long ago it was, and the Retry-After that it did not end', () => {
    expect(aged({ provider: 'groq', kind: 'succeeded', heldOff: { retryAfterMs: 9_000 } }, 2_000)).toEqual({
      provider: 'groq',
      kind: 'succeeded',
      heldOff: { retryAfterMs: 7_000 },
      agoMs: 2_000,
    })
  })
})
