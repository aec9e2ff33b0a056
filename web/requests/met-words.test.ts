import { expect, test } from 'bun:test'
import { metInWords } from './met-words.ts'

test('limits that a request met are told in words', () => {
  expect(metInWords({})).toEqual([])
  expect(
    metInWords({
      waitedMs: 1_200,
      limits: [
        { met: 'waited', for: 'each key', kind: 'at_once', limit: 4 },
        { met: 'refused', for: 'person', kind: 'requests', limit: 60, per: 'minute', models: ['gpt-5*'] },
        { met: 'passed_over', for: 'each person', kind: 'usd', limit: 2.5, per: 'day' },
        { met: 'passed_over', for: 'team:search', kind: 'usd', per: 'month' },
      ],
    }),
  ).toEqual([
    'waited 1.2 s: 4 at once (each key)',
    'refused: 60 requests a minute (one person, gpt-5*)',
    'a provider was passed over: $2.50 a day (each person)',
    'a provider was passed over: a shared budget a month (team:search)',
  ])
})
