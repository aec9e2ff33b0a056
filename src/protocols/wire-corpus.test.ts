import { describe, expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import { knownProfiles } from '../profiles/known-profiles.ts'
import { sentFor, wireFacts, wireFault } from './wire-corpus-testing.ts'

const facts = wireFacts()

describe('a request to a target with a habit', () => {
  test.each(facts.map((fact) => [fact.id, fact] as const))('%s', (_id, fact) => {
    expect(wireFault(fact)).toBeUndefined()
    if (fact.answer !== undefined) return
    const asked = { model: fact.target.model, ...fact.request }
    expect(isDeepStrictEqual(JSON.parse(JSON.stringify(sentFor(fact))), asked)).toBe(false)
  })

  test('has an id and names its source', () => {
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
    for (const { source, evidence } of facts) {
      expect(source).toStartWith('https://')
      expect(evidence).toBeOneOf(['report', 'docs', 'source'])
    }
  })

  test('is named by an entry of the profiles, and each entry is shown by such a request', () => {
    const ids = new Set(facts.map(({ id }) => id))
    const named = new Set(knownProfiles.flatMap((entry) => entry.facts))
    expect([...named].filter((id) => !ids.has(id))).toEqual([])
    expect([...ids].filter((id) => !named.has(id))).toEqual([])
  })
})
