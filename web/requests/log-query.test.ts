import { describe, expect, test } from 'bun:test'
import { noFilters, type RequestFilters } from './filter-requests.ts'
import { logQuery } from './log-query.ts'

describe('the query for stored requests', () => {
  test('is empty without filters', () => {
    expect(logQuery(noFilters).toString()).toBe('')
  })

  test('has each filter that is set', () => {
    const filters: RequestFilters = {
      model: 'a/b',
      provider: 'p',
      user: 'ann',
      status: 'failed',
      error: 'e',
      failed: 'yes',
      span: '',
      api: 'chat',
      from: Date.UTC(2026, 10, 23),
      to: Date.UTC(2026, 10, 24),
      firstTokenMsMin: 20,
      totalMsMin: 1.5,
      tokensMin: 1e21,
      costMin: 0.0000015,
      text: ' id ',
    }
    expect(Object.fromEntries(logQuery(filters))).toEqual({
      model: 'a/b',
      provider: 'p',
      person: 'ann',
      status: 'failed',
      failed: 'yes',
      error: 'e',
      api: 'chat',
      from: '2026-11-23T00:00:00.000Z',
      to: '2026-11-24T00:01:00.000Z',
      first_token_ms: '20',
      total_ms: '1.5',
      tokens: '1e+21',
      cost: '0.0000015',
      text: 'id',
    })
  })

  test('has the last hour as it is now', () => {
    const query = logQuery({ ...noFilters, span: 'hour' }, Date.UTC(2026, 10, 23, 10, 0, 59))
    expect(Object.fromEntries(query)).toEqual({ from: '2026-11-23T09:00:00.000Z' })
  })

  test('tells keys from people', () => {
    expect(logQuery({ ...noFilters, user: 'key:indexer' }).toString()).toBe('key=indexer')
  })
})
