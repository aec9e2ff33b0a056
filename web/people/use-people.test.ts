import { expect, test } from 'bun:test'
import type { LimitRowEntry } from '../../src/http/page/page-api.ts'
import { tightestOf } from './use-people.ts'

const use = (name: string, remaining: number) => ({ name, used: 0, remaining })
const row = (more: Partial<LimitRowEntry>): LimitRowEntry => ({
  ...{ place: 'limits[0]', for: 'everyone', kind: 'usd', limit: 10, isApart: false, uses: [use('', 1)] },
  ...more,
})

test('the tightest budget of a person is their own with the smallest part left', () => {
  const each = row({ place: 'limits[1]', for: 'each person', isApart: true, uses: [use('ann', 4), use('bob', 0)] })
  const anns = row({ place: 'limits[2]', for: 'person:ann', limit: 100, uses: [use('', 30)] })
  const rates = row({ for: 'each person', kind: 'requests', isApart: true, uses: [use('ann', 0)] })
  const all = [row({}), each, anns, rates]
  expect(tightestOf(all, 'ann')).toEqual({ row: anns, remaining: 30 })
  expect(tightestOf(all, 'bob')).toEqual({ row: each, remaining: 0 })
  expect(tightestOf(all, 'eve')).toEqual({ row: each, remaining: 10 })
  expect(tightestOf([row({})], 'ann')).toBeUndefined()
})
