import { describe, expect, test } from 'bun:test'
import { parseAccess } from '../config/file/parse-access.ts'
import { fixedModels } from '../gateway/provider.ts'
import { unpricedWarnings } from './unpriced-models.ts'

const model = (name: string, price?: number) => ({
  name,
  upstream: name,
  aliases: [],
  ...(price === undefined ? {} : { price: { input: price, output: price } }),
})
const policyOf = (...limits: readonly object[]) => parseAccess(JSON.stringify({ limits }), 'access.json')
const providers = [
  { id: 'own', models: fixedModels([model('a'), model('b', 0)]) },
  { id: 'paid', models: fixedModels([model('c', 1)]) },
]

describe('models without a price', () => {
  test('are named where a limit of money counts them, with the way out', () => {
    const [warning, ...others] = unpricedWarnings(policyOf({ for: 'everyone', usd: 1, per: 'day' }), providers)
    expect(others).toEqual([])
    expect(warning).toContain('no price is known for a at own')
    expect(warning).toContain('"unpriced": "ask"')
  })

  test.each([
    [[]],
    [[{ for: 'everyone', requests: 5 }]],
    [[{ for: 'everyone', usd: 1, per: 'day', unpriced: 'ask' }]],
    [[{ for: 'provider:paid', usd: 1, per: 'day' }]],
  ])('are not where no limit of money counts them: %j', (limits) => {
    expect(unpricedWarnings(policyOf(...limits), providers)).toEqual([])
  })
})
