import { describe, expect, test } from 'bun:test'
import { parseAccess } from '../config/file/parse-access.ts'
import { fakeProvider, offered } from '../gateway/testing.ts'
import { costFunction } from '../prices/cost.ts'
import { unpricedModels, unpricedWarnings } from './unpriced-models.ts'

const policyOf = (...limits: readonly object[]) => parseAccess(JSON.stringify({ limits }), 'access.json')
const priced = (name: string, usd: number) => offered(name, { price: { input: usd, output: usd } })
const day = { for: 'everyone', usd: 1, per: 'day' }
const own = fakeProvider('own', [], {
  models: [offered('Big', { upstream: 'big-1', aliases: ['large'] }), offered('small'), priced('nothing', 0)],
})
const paid = fakeProvider('paid', [], { models: [priced('Big', 1)] })

describe('models without a price', () => {
  test('are named where a limit of money counts them, with the effect and the way out', () => {
    const [warning, ...others] = unpricedWarnings(policyOf(day), [own, paid])
    expect(others).toEqual([])
    expect(warning).toContain('no price is known for Big, small at own, and a limit of money counts them')
    expect(warning).toContain('other providers are asked first')
    expect(warning).toContain('"price" of the model or the provider in providers.json (0 where it costs nothing)')
    expect(warning).toContain('"unpriced": "ask"')
  })

  test('are not sent requests under a hard limit, says the warning', () => {
    const [warning] = unpricedWarnings(policyOf({ ...day, hard: true }), [own])
    expect(warning).toContain('requests are not sent there')
  })

  test('are three in the warning, and the number of the others', () => {
    const many = fakeProvider('many', [], { models: ['a', 'b', 'c', 'd', 'e'] })
    expect(unpricedWarnings(policyOf(day), [many]).join()).toContain('for a, b, c and 2 more at many')
  })

  test.each([
    ['big', ['Big']],
    ['big-1', ['Big']],
    ['LARGE', ['Big']],
    ['own/sm*', ['small']],
    ['paid/*', undefined],
  ])('count by each of their names, as in limits: %s', (pattern, names) => {
    expect(unpricedModels(policyOf({ ...day, models: [pattern] }), own)?.names).toEqual(names)
  })

  test.each([
    [[]],
    [[{ for: 'everyone', requests: 5 }]],
    [[{ ...day, unpriced: 'ask' }]],
    [[{ ...day, for: 'provider:paid' }]],
  ])('are none where no limit of money counts them: %j', (limits) => {
    expect(unpricedModels(policyOf(...limits), own)).toBeUndefined()
  })

  test('are none at a provider that reports costs, for which money can be held', () => {
    const costOf = costFunction(undefined, true)
    const reporting = { ...own, candidate: (model: string) => ({ ...own.candidate(model), costOf }) }
    expect(unpricedModels(policyOf(day), reporting)).toBeUndefined()
  })

  test('are none while the list is not known', () => {
    const learning = fakeProvider('own', [], { models: { current: () => undefined, version: 0, pending: undefined } })
    expect(unpricedModels(policyOf(day), learning)).toBeUndefined()
  })
})
