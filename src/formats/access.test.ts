import { expect, test } from 'bun:test'
import { accessibleModels, type Access } from './access.ts'
import type { ListedModel } from './model.ts'

const model = (name: string, first: string, ...others: readonly string[]): ListedModel => {
  const offer = (provider: string) => ({ provider, model: { name, upstream: name, aliases: [] } })
  return { name, offers: [offer(first), ...others.map(offer)] }
}
const all = [model('a', 'groq', 'openai'), model('b', 'groq'), model('c', 'openai')]
const access: Access = {
  mayDo: () => true,
  mayUseModel: (name) => name !== 'c',
  mayUseProvider: (id) => id === 'openai',
}

test('a caller with a key sees its models, at its providers', () => {
  expect(accessibleModels(all, access)).toEqual([model('a', 'openai')])
  expect(accessibleModels(all, undefined)).toBe(all)
})
