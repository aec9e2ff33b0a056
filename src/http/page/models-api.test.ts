import { describe, expect, test } from 'bun:test'
import { isRecord } from '../../base/json-value.ts'
import type { ListedModel } from '../../formats/model.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { modelsApi, type ModelsApiOptions } from './models-api.ts'

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
  const response = await routes.find('GET', '/api/models').handle(contextOf(new Request('http://x/api/models')))
  expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    'application/json',
    'no-store',
  ])
  return response.json()
}

/** Names of hidden models, and the first model. */
function parseModels(value: unknown): { readonly hidden: readonly unknown[]; readonly first: unknown } {
  const models = pick(value, 'models')
  return {
    hidden: Array.isArray(models)
      ? models.filter((model) => pick(model, 'isHidden') === true).map((model) => pick(model, 'name'))
      : [],
    first: pick(value, 'firstModel'),
  }
}

function pick(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
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
  test('has every model with its providers, in try-order', async () => {
    expect(await answer()).toEqual({ models, firstModel: 'gpt', isEchoOnly: false, file: 'home/providers.json' })
  })

  const offered = (name: string, ...owned: readonly boolean[]): ListedModel => {
    const [first = false, ...others] = owned
    const offer = (isOwned: boolean) => ({
      provider: 'one',
      model: { name, upstream: name, aliases: [], ...(isOwned ? {} : { isLearned: true as const }) },
    })
    return { name, offers: [offer(first), ...others.map(offer)] }
  }

  test.each([
    [
      'hides models that cannot chat, and begins with one that can',
      [offered('text-embedding-ada-002'), offered('llama')],
      ['text-embedding-ada-002'],
      'llama',
    ],
    ['shows what an owner wrote down', [offered('text-embedding-ada-002', false, true), offered('llama')], [], 'llama'],
    ['hides nothing where nothing would be left', [offered('tts-1'), offered('whisper-1')], [], 'tts-1'],
    ['begins with nothing where there is none', [], [], undefined],
  ] as const)('%s', async (_, all, hidden, first) => {
    const found = parseModels(await answer({ models: () => all }))
    expect([found.hidden, found.first]).toEqual([[...hidden], first])
  })

  test('says that there is only the echo', async () => {
    expect(await answer({ isEchoOnly: () => true })).toMatchObject({ isEchoOnly: true })
  })

  test('shows owners why the file was not applied', async () => {
    expect(await answer({ notice: () => notice })).toEqual({
      models,
      firstModel: 'gpt',
      isEchoOnly: false,
      file: 'home/providers.json',
      notice,
    })
  })

  test('shows others nothing of the file', async () => {
    expect(await answer({ notice: () => notice, isOwner: () => false })).toEqual({
      models,
      firstModel: 'gpt',
      isEchoOnly: false,
    })
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
