import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  choiceOptions,
  countFilters,
  outcomes,
  outcomeOf,
  filterRequests,
  filtersAt,
  noFilters,
  readFilters,
  writeFilters,
  type Choice,
  type RequestFilters,
} from './filter-requests.ts'
import { addRequests } from './request-rows.ts'
import { requestEntry } from './testing.ts'

const rows = addRequests(
  [],
  [
    requestEntry({ id: 'first', user: 'ada' }),
    requestEntry({
      id: 'second',
      time: 120_000,
      firstTokenMs: 300,
      promptTokens: 30,
      completionTokens: 12,
      cost: 0.002,
      model: 'n',
      provider: 'b',
      totalMs: 900,
      trail: [
        { provider: 'a', status: 429, failure: 'rate_limit', ms: 3 },
        { provider: 'b', status: 200, ms: 9 },
      ],
    }),
    requestEntry({
      id: 'third',
      api: 'messages',
      time: 185_000,
      user: 'bob',
      status: 502,
      error: 'provider_error',
      trail: [{ provider: 'a', failure: 'connect', ms: 1 }],
    }),
  ],
)

function found(filters: Partial<RequestFilters>): readonly string[] {
  return filterRequests(rows, { ...noFilters, ...filters }).map(({ request }) => request.id)
}

describe('filters', () => {
  test.each<[Partial<RequestFilters>, readonly string[]]>([
    [{}, ['third', 'second', 'first']],
    [{ model: 'n' }, ['second']],
    [{ provider: 'b' }, ['second']],
    [{ provider: 'a' }, ['third', 'second', 'first']],
    [{ user: 'ada' }, ['first']],
    [{ failed: 'yes' }, ['third', 'second']],
    [{ status: 'failed' }, ['third']],
    [{ error: 'provider_error' }, ['third']],
    [{ api: 'messages' }, ['third']],
    [{ api: 'responses' }, []],
    [{ text: 'messages' }, ['third']],
    [{ totalMsMin: 900 }, ['second']],
    [{ totalMsMin: 901 }, []],
    [{ firstTokenMsMin: 300 }, ['second']],
    [{ firstTokenMsMin: 301 }, []],
    [{ tokensMin: 42 }, ['second']],
    [{ tokensMin: 43 }, []],
    [{ costMin: 0.002 }, ['second']],
    [{ costMin: 0.0021 }, []],
    [{ from: 120_000 }, ['third', 'second']],
    [{ from: 120_001 }, ['third']],
    [{ to: 60_000 }, ['first']],
    [{ from: 120_000, to: 120_000 }, ['second']],
    [{ from: 180_000, to: 180_000 }, ['third']],
    [{ text: ' RATE_limit ' }, ['second']],
    [{ text: 'third' }, ['third']],
    [{ provider: 'a', status: 'ok', user: 'ada' }, ['first']],
  ])('%p match %p', (filters, ids) => {
    expect(found(filters)).toEqual([...ids])
  })

  test('that are not set return the same rows', () => {
    expect(filterRequests(rows, noFilters)).toBe(rows)
  })
})

test.each([
  [200, undefined, 'ok'],
  [200, 'provider_error', 'cut'],
  [404, 'model_not_found', 'refused'],
  [499, 'client_left', 'left'],
  [502, 'provider_error', 'failed'],
] as const)('a request with status %d and error %p ended as %s', (status, error, outcome) => {
  expect(outcomeOf(requestEntry({ status, ...(error === undefined ? {} : { error }) }))).toBe(outcome)
})

const anyFilters = fc.record({
  model: fc.constantFrom('', 'm', 'n', 'x'),
  provider: fc.constantFrom('', 'a', 'b'),
  user: fc.constantFrom('', 'ada', 'bob'),
  status: fc.constantFrom('', ...outcomes),
  failed: fc.constantFrom('', 'yes'),
  error: fc.constantFrom('', 'provider_error'),
  api: fc.constantFrom('', 'chat', 'messages'),
  text: fc.constantFrom('', 'a', 'first', 'ö'),
  span: fc.constantFrom('', 'hour'),
  from: fc.constantFrom(0, 120_000),
  to: fc.constantFrom(0, 120_000),
  firstTokenMsMin: fc.constantFrom(0, 300),
  totalMsMin: fc.constantFrom(0, 10, 900),
  tokensMin: fc.constantFrom(0, 42),
  costMin: fc.constantFrom(0, 0.001),
})

test('the last hour goes on with the time', () => {
  const hour = { ...noFilters, span: 'hour' } as const
  const keysAt = (now: number) => filterRequests(rows, hour, now).map(({ key }) => key)
  const last = Math.max(...rows.map(({ request }) => request.time))
  expect(keysAt(last)).toEqual(rows.map(({ key }) => key))
  expect(keysAt(last + 3_600_000)).toHaveLength(1)
  expect(keysAt(last + 3_660_000)).toEqual([])
  expect(filtersAt(hour, 7_259_999)).toEqual({ ...noFilters, from: 3_600_000 })
})

describe('the values of a choice', () => {
  test('come most common first, each with the rows it would leave', () => {
    expect(choiceOptions(rows, noFilters, 'provider')).toEqual([
      { value: 'a', count: 3 },
      { value: 'b', count: 1 },
    ])
    expect(choiceOptions(rows, { ...noFilters, provider: 'b' }, 'user')).toEqual([])
  })

  test('are counted as the filter would, and include the chosen value', () => {
    fc.assert(
      fc.property(
        anyFilters,
        fc.constantFrom<Choice>('model', 'provider', 'user', 'status', 'error', 'api'),
        (filters, choice) => {
          const options = choiceOptions(rows, filters, choice)
          for (const { value, count } of options)
            expect(filterRequests(rows, { ...filters, [choice]: value })).toHaveLength(count)
          if (filters[choice] !== '') expect(options.map(({ value }) => value)).toContain(filters[choice])
        },
      ),
    )
  })
})

describe('filters in an address', () => {
  test('are read as they were written', () => {
    const text = fc.string({ unit: 'grapheme' }),
      number = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs)
    const strange = fc.record({
      model: text,
      provider: text,
      user: text,
      status: fc.constantFrom('', ...outcomes),
      failed: fc.constantFrom('', 'yes'),
      error: text,
      api: text,
      text,
      span: fc.constantFrom('', 'hour'),
      from: number,
      to: number,
      firstTokenMsMin: number,
      totalMsMin: number,
      tokensMin: number,
      costMin: number,
    })
    fc.assert(
      fc.property(fc.oneof(anyFilters, strange), (filters) => {
        expect(readFilters(writeFilters(filters))).toEqual(filters)
        expect(readFilters(`?${writeFilters(filters)}`)).toEqual(filters)
      }),
    )
  })

  test('are an empty query when none is set', () => {
    expect(writeFilters(noFilters)).toBe('')
    expect(readFilters('')).toEqual(noFilters)
  })

  test('are ignored if invalid', () => {
    expect(readFilters('status=odd&slower=-3&other=1&slower=x')).toEqual(noFilters)
    fc.assert(
      fc.property(fc.string(), (query) => {
        filterRequests(rows, readFilters(query))
      }),
    )
  })
})

test('filters are counted', () => {
  expect([
    countFilters(noFilters),
    countFilters({ ...noFilters, model: 'm', totalMsMin: 1, from: 1, text: ' ' }),
  ]).toEqual([0, 3])
})
