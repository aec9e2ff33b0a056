import { describe, expect, test } from 'bun:test'
import type { LimitRowEntry } from '../../src/http/page/page-api.ts'
import { backWords, limitFacts, limitTitle, limitWords, placeOf, usedShare, windowWords } from './limit-words.ts'

function row(more: Partial<LimitRowEntry>): LimitRowEntry {
  return { place: 'limits[0]', for: 'everyone', kind: 'requests', limit: 60, isApart: false, uses: [], ...more }
}

describe('a limit in words', () => {
  test.each<[Partial<LimitRowEntry>, string]>([
    [{ per: 'minute' }, '60 requests a minute'],
    [{ kind: 'tokens', limit: 200_000, per: 'hour' }, '200,000 tokens an hour'],
    [{ kind: 'at_once', limit: 8 }, '8 at once'],
    [{ kind: 'usd', limit: 5, per: 'day' }, '$5.00 a day'],
    [{ kind: 'usd', limit: 1_000, per: 'total' }, '$1000.00 in total'],
  ])('%p', (more, words) => {
    expect(limitWords(row(more))).toBe(words)
  })

  test('has its place, its models, and that it has no end', () => {
    expect(limitFacts(row({}))).toBe('limits[0] of access.json')
    const total = row({ kind: 'usd', per: 'total', limit: 5, models: ['gpt-5*', 'o4'], isApart: true })
    expect(limitFacts(total)).toBe('each counted apart · only gpt-5*, o4 · limits[0] of access.json')
    expect([windowWords(total, 'UTC'), windowWords(row({}), 'UTC')]).toEqual([', does not begin again', ''])
    expect([limitTitle(total), placeOf(total)]).toEqual(['$5.00 in total for everyone', '0'])
  })

  test('has the end of its window in the zone of the limits', () => {
    const windowEnds = Date.parse('2026-11-30T23:00:00Z')
    expect(windowWords(row({ kind: 'usd', per: 'month', windowEnds }), 'Europe/Berlin')).toMatch(
      /Dec 1, 2026.*12:00 AM/,
    )
  })

  test.each([
    [60, 60, 0],
    [60, 15, 0.75],
    [60, 0, 1],
    [60, 90, 0],
    [0, 0, 1],
  ])('%p with %p left is used by %p', (limit, remaining, share) => {
    expect(usedShare(limit, remaining)).toBe(share)
  })

  test('says when all is back only while it is not', () => {
    expect([backWords(undefined, 5), backWords(5, 5), backWords(2_505, 5)]).toEqual(['–', '–', 'in 2.5 s'])
  })
})
