import { describe, expect, test } from 'bun:test'
import type { ListedModel } from '../gateway/directory.ts'
import { modelsApi, type ModelsApiOptions } from './models-api.ts'
import { router } from './route.ts'
import { exchangeOf } from './testing.ts'

const listed: readonly ListedModel[] = [
  {
    name: 'gpt',
    offers: [
      {
        provider: 'one',
        model: {
          name: 'gpt',
          upstream: 'gpt-2024',
          aliases: ['g'],
          context: 8,
          maxOutput: 4,
          input: ['text', 'image'],
          price: { input: 1, output: 2, cachedInput: 0.5 },
        },
      },
      { provider: 'two', model: { name: 'gpt', upstream: 'gpt', aliases: [] } },
    ],
  },
]
const notice = { time: 5, faults: ['providers.json:1:1: found nothing, allowed: an object'] }

async function answer(options: Partial<ModelsApiOptions> = {}): Promise<unknown> {
  const routes = router(
    modelsApi({
      models: () => listed,
      isEchoOnly: () => false,
      file: 'home/providers.json',
      notice: () => undefined,
      isOwner: () => true,
      ...options,
    }),
  )
  const response = await routes.find('GET', '/api/models').handle(exchangeOf(new Request('http://x/api/models')))
  expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    'application/json',
    'no-store',
  ])
  return response.json()
}

const models = [
  {
    name: 'gpt',
    offers: [
      {
        provider: 'one',
        upstream: 'gpt-2024',
        context: 8,
        maxOutput: 4,
        input: ['text', 'image'],
        price: { input: 1, output: 2, cachedInput: 0.5 },
      },
      { provider: 'two', upstream: 'gpt' },
    ],
  },
]

describe('GET /api/models', () => {
  test('has every model with all who offer it, in try-order', async () => {
    expect(await answer()).toEqual({ models, isEchoOnly: false, file: 'home/providers.json' })
  })

  test('says that there is nothing but the echo', async () => {
    expect(await answer({ isEchoOnly: () => true })).toMatchObject({ isEchoOnly: true })
  })

  test('says to owners why the file is not in force', async () => {
    expect(await answer({ notice: () => notice })).toEqual({
      models,
      isEchoOnly: false,
      file: 'home/providers.json',
      notice,
    })
  })

  test('tells who is no owner nothing of the file', async () => {
    expect(await answer({ notice: () => notice, isOwner: () => false })).toEqual({ models, isEchoOnly: false })
  })

  test('is not public', () => {
    expect(
      modelsApi({
        models: () => [],
        isEchoOnly: () => false,
        file: '',
        notice: () => undefined,
        isOwner: () => true,
      }).map(({ isPublic }) => isPublic),
    ).toEqual([false])
  })
})
