import { expect, test } from 'bun:test'
import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { costInWords, shortCost } from './cost-words.ts'

const request: RequestEntry = {
  time: 0,
  id: 'r',
  api: 'chat',
  model: 'm',
  stream: false,
  status: 200,
  provider: 'a',
  trail: [],
  totalMs: 1,
  promptTokens: 1,
  completionTokens: 2,
}
const { provider: _provider, ...unanswered } = request
const { promptTokens: _prompt, completionTokens: _completion, ...uncounted } = request

test.each<[string, RequestEntry, string, string]>([
  ['a price', { ...request, cost: 0.5, costSource: 'config' }, '$0.50', '$0.50, by the price in providers.json'],
  ['a price of 0', { ...request, cost: 0, costSource: 'catalogue' }, '$0', '$0, a server on this machine'],
  ['an estimate', { ...request, cost: 0.5, isEstimated: true }, '≈$0.50', '≈$0.50'],
  ['a reported cost', { ...request, cost: 0.5, costSource: 'reported' }, '$0.50', '$0.50, as the provider reported it'],
  [
    'counts in conflict',
    { ...request, cost: 0.5, costSource: 'prices.json', hasConflict: true },
    '$0.50',
    '$0.50, by prices.json; its counts contradict each other, the larger ones were taken',
  ],
  [
    'a cache that was written',
    { ...request, cost: 0.5, saved: -0.25 },
    '$0.50',
    '$0.50; caches of the prompt saved −$0.25',
  ],
  ['no price', request, 'no price', 'no price is known'],
  ['no tokens', uncounted, '–', 'not known, since the provider reported no tokens'],
  ['no answer', unanswered, '–', 'no provider answered'],
])('the cost of a request with %s', (_, entry, short, words) => {
  expect([shortCost(entry), costInWords(entry)]).toEqual([short, words])
})
