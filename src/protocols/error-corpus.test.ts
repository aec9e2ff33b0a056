import { describe, expect, test } from 'bun:test'
import { failureEffects, isWhole } from '../service/failure.ts'
import { refusalRules } from '../upstream/refusal-rules.ts'
import { errorFacts, failureOfFact, faultOf, rulesFor, type ErrorFact } from './error-corpus-testing.ts'

const facts = errorFacts()
const fired = facts.map((fact) => ({ fact, rules: rulesFor(fact) }))

describe('a failure as a provider writes it', () => {
  test.each(facts.map((fact) => [fact.id, fact.brand, fact.class, fact] as const))(
    '%s of %s is %s, with its scope and its wait',
    async (_id, _brand, _class, fact) => {
      expect(await faultOf(fact)).toBeUndefined()
    },
  )

  test('has an id and names its source', () => {
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
    for (const { source, evidence } of facts) {
      expect(source).not.toBe('')
      expect(evidence).toBeOneOf(['report', 'docs', 'source', 'memory'])
    }
  })

  test('is final when it is about content, and only then', async () => {
    for (const fact of facts) {
      const failure = await failureOfFact(fact)
      if (failure !== undefined)
        expect([fact.id, failure.isFinal]).toEqual([fact.id, failure.failure === 'content_policy'])
    }
  })

  test('counts for no breaker if it is about the request', async () => {
    for (const fact of facts.filter(({ scope }) => scope === 'request')) {
      const failure = await failureOfFact(fact)
      if (failure !== undefined) expect([fact.id, failureEffects[failure.failure].breaker]).toEqual([fact.id, false])
    }
  })

  test('is unproven where only the status says that the key is refused', async () => {
    for (const fact of facts.filter(({ where }) => where === 'whole')) {
      const failure = await failureOfFact(fact)
      if (failure?.failure === 'credential')
        expect([fact.id, failure.isUnproven]).toEqual([fact.id, rulesFor(fact).length === 0])
    }
  })
})

describe('a rule for refusals', () => {
  test.each(refusalRules.map((rule) => [rule.id, rule] as const))('%s is the first one for its lines', (_id, rule) => {
    expect(rule.sources).not.toBeEmpty()
    expect(rule.lines).not.toBeEmpty()
    for (const line of rule.lines)
      expect([line, fired.find(({ fact }) => fact.id === line)?.rules[0]?.id]).toEqual([line, rule.id])
  })

  test('contradicts no line, unless a rule that comes first is named', () => {
    const isContrary = (fact: ErrorFact, name: string) => name !== fact.class && !fact.accept.includes(name)
    const contrary = fired.flatMap(({ fact, rules: [first, ...others] }) =>
      [...(first === undefined ? [] : [first]), ...others]
        .filter((rule) => isContrary(fact, rule.class) && !(rule.after ?? []).includes(first?.id ?? ''))
        .map((rule) => `${rule.id} on ${fact.id}`),
    )
    expect(contrary).toEqual([])
  })

  test.each(refusalRules.filter((rule) => isWhole(rule.scope ?? failureEffects[rule.class].scope)).map(({ id }) => id))(
    '%s, which rests a provider, has better ground than memory',
    (id) => {
      const { lines = [] } = refusalRules.find((rule) => rule.id === id) ?? {}
      expect(facts.filter((fact) => lines.includes(fact.id)).map(({ evidence }) => evidence)).not.toEqual(
        lines.map(() => 'memory'),
      )
    },
  )

  test('for bare numbers names a brand', () => {
    const numbers = ['1008', '1113', '1261', '3036', '30003']
    const general = refusalRules.filter(({ brands }) => brands === undefined)
    for (const { code = [] } of general)
      for (const pattern of [code].flat()) expect(numbers.filter((number) => pattern.test(number))).toEqual([])
  })
})
