import { describe, expect, test } from 'bun:test'
import { Affinity } from './affinity.ts'
import { fakeProvider } from './testing.ts'

const promptCache = { bytesMin: 1_000, ms: 300_000 }
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ ...fakeProvider(name, []).candidate('m'), promptCache }))
if (a === undefined || b === undefined || c === undefined) throw new Error('a candidate is missing')
const chain = [a, b, c]

function affinity() {
  let now = 0
  const sessions = new Affinity(() => now)
  const names = (session = 's') => sessions.order(session, chain).map(({ name }) => name)
  return { sessions, names, pass: (ms: number) => (now += ms) }
}

describe('a session', () => {
  test('stays with the provider that took over, while its cache lives from the last use', () => {
    const { sessions, names, pass } = affinity()
    sessions.note('s', b, false, 1_000)
    expect([names(), names('other')]).toEqual([
      ['b', 'a', 'c'],
      ['a', 'b', 'c'],
    ])
    pass(299_999)
    expect(names()[0]).toBe('b')
    sessions.note('s', b, false, 10)
    pass(299_999)
    expect(names()[0]).toBe('b')
    pass(1)
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  test('returns when the first has answered, and follows the next failover', () => {
    const { sessions, names } = affinity()
    sessions.note('s', b, false, 1_000)
    sessions.note('s', c, false, 1_000)
    expect(names()).toEqual(['c', 'a', 'b'])
    sessions.note('s', a, true, 1_000)
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  test('with a short prompt, at a provider without a cache, or at one that is gone, keeps the order', () => {
    const { sessions, names } = affinity()
    sessions.note('s', b, false, 999)
    const { promptCache: _, ...plain } = b
    sessions.note('t', plain, false, 1_000)
    sessions.note('u', { ...b, name: 'gone' }, false, 1_000)
    for (const session of ['s', 't', 'u']) expect(names(session)).toEqual(['a', 'b', 'c'])
  })

  test('is forgotten behind 100,000 that were used later', () => {
    const { sessions, names } = affinity()
    for (const session of ['old', 'kept']) sessions.note(session, b, false, 1_000)
    for (let each = 0; each < 99_998; each += 1) sessions.note(`${each}`, b, false, 1_000)
    sessions.note('old', b, false, 1_000)
    sessions.note('new', b, false, 1_000)
    expect([names('old')[0], names('kept')[0], names('new')[0]]).toEqual(['b', 'a', 'b'])
  })
})
