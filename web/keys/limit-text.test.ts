import { expect, test } from 'bun:test'
import type { LimitEntry } from '../../src/http/page/page-api.ts'
import { limitText } from './limit-text.ts'

const limit: LimitEntry = {
  for: 'each person',
  kind: 'requests',
  limit: 60,
  per: 'minute',
  models: null,
  remaining: 58,
}

test.each<readonly [Partial<LimitEntry>, string]>([
  [{}, '58 of 60 requests a minute (each person)'],
  [{ kind: 'at_once', per: null, limit: 8, remaining: 8 }, '8 of 8 at once (each person)'],
  [{ kind: 'usd', per: 'day', limit: 5, remaining: 4.2 }, '$4.20 of $5.00 a day (each person)'],
  [{ kind: 'usd', per: 'total', limit: 5, remaining: 0 }, '$0 of $5.00 in total (each person)'],
  [
    { kind: 'usd', per: 'month', limit: null, remaining: null, for: 'everyone' },
    'a shared budget a month (everyone): only owners see what is left',
  ],
  [{ models: ['gpt-5*', 'm'] }, '58 of 60 requests a minute (each person, gpt-5*, m)'],
  [{ kind: 'new' }, '58 of 60 new a minute (each person)'],
])('%j', (more, text) => {
  expect(limitText({ ...limit, ...more })).toBe(text)
})
