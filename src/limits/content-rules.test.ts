import { describe, expect, test } from 'bun:test'
import { callerOf } from '../people/caller-of.ts'
import type { ContentRule } from './access-policy.ts'
import { contentRules, stricterTerms } from './content-rules.ts'

const dayMs = 86_400_000
const rule = (subject: ContentRule['subject'], days: number, ...redact: string[]): ContentRule => ({
  place: 'content[0]',
  subject,
  keepMs: days * dayMs,
  redact,
})
const teams = new Map([['a', { leads: ['ann'], members: [] }]])
const ann = callerOf({ user: 'ann', userId: '1' })
const key = (line: number, owner?: typeof ann) => ({ ...owner, key: { line } })

describe('rules of content', () => {
  test('name callers as limits do; the shortest time counts, with the patterns of all', () => {
    const rules = contentRules({
      content: [
        rule({ kind: 'key', line: 3 }, 7, 'x'),
        rule({ kind: 'each key' }, 9, 'x', 'y'),
        rule({ kind: 'team', name: 'a' }, 2, 'z'),
      ],
      teams,
    })
    expect(rules?.termsOf(key(3))).toEqual({ keepMs: 7 * dayMs, redact: ['x', 'y'] })
    expect(rules?.termsOf(key(4))).toEqual({ keepMs: 9 * dayMs, redact: ['x', 'y'] })
    expect(rules?.termsOf(key(3, ann))).toEqual({ keepMs: 2 * dayMs, redact: ['x', 'y', 'z'] })
    expect(rules?.termsOf(ann)).toEqual({ keepMs: 2 * dayMs, redact: ['z'] })
    expect(rules?.termsOf(callerOf({ user: 'bob' }))).toBeUndefined()
    expect(rules?.termsOf({})).toBeUndefined()
  })

  test('with 0d exempt callers', () => {
    const rules = contentRules({
      content: [rule({ kind: 'everyone' }, 7), rule({ kind: 'person', name: 'ann' }, 0)],
      teams,
    })
    expect(rules?.termsOf({})).toEqual({ keepMs: 7 * dayMs, redact: [] })
    expect(rules?.termsOf(ann)).toBeUndefined()
    const bob = callerOf({ user: 'bob', userId: '1' })
    // Another name, by a new one or from another identity provider.
    expect(rules?.termsOf(bob)).toEqual({ keepMs: 7 * dayMs, redact: [] })
    expect(rules?.termsOf(key(3, bob))).toEqual({ keepMs: 7 * dayMs, redact: [] })
    expect(rules?.termsOf(key(3, ann))).toBeUndefined()
    expect(contentRules({ teams })).toBeUndefined()
  })

  test('name a key of access.json by its team of now, also after requests that came with another one', () => {
    const rules = contentRules({ content: [rule({ kind: 'team', name: 'a' }, 7)], teams })
    const of = (line: number, team?: string) => ({ key: { line, ...(team === undefined ? {} : { team }) } })
    expect(rules?.termsOf(of(-5, 'a'))).toMatchObject({ keepMs: 7 * dayMs })
    expect(rules?.termsOf(of(-5, 'b'))).toBeUndefined()
    expect(rules?.termsOf(of(-5))).toBeUndefined()
    expect(rules?.termsOf(of(-5, 'a'))).toMatchObject({ keepMs: 7 * dayMs })
  })

  test('hold only if they name the caller at arrival and at the end', () => {
    const [short, long] = [
      { keepMs: 1, redact: ['a'] },
      { keepMs: 2, redact: ['b'] },
    ]
    expect(stricterTerms(short, undefined)).toBeUndefined()
    expect(stricterTerms(undefined, long)).toBeUndefined()
    expect(stricterTerms(short, long)).toEqual({ keepMs: 1, redact: ['a', 'b'] })
    expect(stricterTerms(short, short)).toBe(short)
  })
})
