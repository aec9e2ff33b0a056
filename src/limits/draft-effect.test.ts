import { describe, expect, test } from 'bun:test'
import { callerOf } from '../people/caller-of.ts'
import type { Caller } from '../people/person.ts'
import type { AccessLimit, AccessPolicy, LimitSubject } from './access-policy.ts'
import { draftEffect } from './draft-effect.ts'

const noon = Date.UTC(2026, 10, 23, 12)
const ann: Caller = callerOf({ user: 'ann', userId: 'github:1' })
const annsKey: Caller = { ...ann, name: 'key:laptop', key: { line: 3 } }
const bob: Caller = callerOf({ user: 'bob', userId: 'github:2' })
const job: Caller = { name: 'key:job', key: { line: 9 } }
const callers = [ann, annsKey, bob, job]
const usd = { nanoUsd: 5e9, per: 'day', isHard: false } as const

function policyOf(...subjects: readonly LimitSubject[]): AccessPolicy {
  const limits = subjects.map((subject, place): AccessLimit => ({ place: `limits[${place}]`, subject, usd }))
  return { timeZone: 'UTC', limits, teams: new Map([['search', { leads: [], members: ['bob'] }]]) }
}

describe('the effect of a limit', () => {
  const all = policyOf(
    { kind: 'everyone' },
    { kind: 'each person' },
    { kind: 'each key' },
    { kind: 'team', name: 'search' },
    { kind: 'person', name: 'ann' },
    { kind: 'provider', id: 'groq' },
  )

  test.each([
    [0, 3, [1, 2, 3, 4]],
    [1, 2, [0, 2, 3, 4]],
    [2, 2, [0, 1, 4]],
    [3, 1, [0, 1]],
    [4, 1, [0, 1, 2]],
    [5, 3, []],
  ])('limits[%p] counts %p callers, beside limits %p', async (place, counted, besides) => {
    const effect = await draftEffect({ policy: all, place, callers, sumSince: undefined, now: noon })
    expect(effect).toEqual({ counted, besides: besides.map((index) => `limits[${index}]`) })
  })

  test('names those that have spent its amount in this window, the one that spent most first', async () => {
    const asked: [string, number][] = []
    const spent: Record<string, number> = { [`person:${ann.person?.id}`]: 5e9, [`person:${bob.person?.id}`]: 6.1e9 }
    const effect = await draftEffect({
      ...{ policy: policyOf({ kind: 'each person' }), place: 0, callers, now: noon },
      sumSince: async ({ caller }, since) => (asked.push([caller, since]), spent[caller] ?? 0),
    })
    expect(effect?.above).toEqual([
      { name: 'bob', used: 6.1e9 },
      { name: 'ann', used: 5e9 },
    ])
    expect(asked.map(([, since]) => since)).toEqual([Date.UTC(2026, 10, 23), Date.UTC(2026, 10, 23)])
  })

  test('is none without a limit at the place', async () => {
    expect(await draftEffect({ policy: all, place: 9, callers, sumSince: undefined, now: noon })).toBeUndefined()
  })
})
