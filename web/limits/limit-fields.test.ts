import { describe, expect, test } from 'bun:test'
import { entryOf, fieldsOf, freeFields, newFields } from './limit-fields.ts'

describe('the fields of a limit', () => {
  test('of a new one are a line of access.json', () => {
    expect(JSON.stringify(entryOf({ ...newFields('each person'), usd: '$5', requests: '60' }))).toBe(
      '{"for":"each person","usd":5,"per":"day","requests":60}',
    )
  })

  test('of another new one repeat none', () => {
    const subjects = ['each person', 'everyone'] as const
    const day = { kind: 'usd', per: 'day' } as const
    const first = { for: 'each person', ...day }
    const of = (...limits: readonly Parameters<typeof freeFields>[1][number][]) => {
      const { subject, moneyPer } = freeFields(subjects, limits)
      return `${subject} ${moneyPer}`
    }
    expect(of()).toBe('each person day')
    expect(of({ ...first, models: ['m'] }, { ...first, kind: 'tokens' })).toBe('each person day')
    expect(of(first)).toBe('everyone day')
    expect(of(first, { for: 'everyone', ...day })).toBe('each person week')
  })

  test.each([
    { for: 'everyone', usd: 200, per: 'month', hard: true, unpriced: 'ask', when_away: 'open' },
    { for: 'each key', requests: 60, tokens: 5, per: 'hour', models: ['gpt-5*', 'm'] },
    { for: 'key:3', at_once: 4, wait_ms: 500 },
    { for: 'team:search', usd: 1.5, per: 'total', requests: 9 },
  ])('keep the entry %j', (entry) => {
    expect(entryOf(fieldsOf(entry), entry)).toEqual(entry)
  })

  test('leave out what means nothing any more', () => {
    const entry = { for: 'everyone', usd: 5, per: 'day', hard: true, unpriced: 'ask', at_once: 4, wait_ms: 5 }
    const { usd: _, ...fields } = fieldsOf(entry)
    expect(entryOf({ ...fields, models: 'm' }, entry)).toEqual({ for: 'everyone', at_once: 4, models: ['m'] })
  })

  test.each([
    ['5.5', 5.5],
    ['$ 5,50', 5.5],
    ['5,500', '5,500'],
    ['1,000,50', '1,000,50'],
    ['five', 'five'],
  ])('have an amount with a point or a comma, and pass on other text: %s', (usd, expected) => {
    expect(entryOf({ ...newFields('everyone'), usd })).toMatchObject({ usd: expected })
  })
})
