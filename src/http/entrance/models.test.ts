import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WireError } from '../../formats/error.ts'
import type { ListedModel } from '../../formats/model.ts'
import { router } from '../route.ts'
import { contextOf, fakeGateway } from '../testing.ts'
import { listPage, modelRoutes } from './models.ts'

const listed: readonly ListedModel[] = [
  {
    name: 'gpt-4o',
    offers: [
      {
        provider: 'openai',
        model: {
          name: 'gpt-4o',
          upstream: 'gpt-4o',
          aliases: [],
          context: 128_000,
          maxOutput: 4_096,
          input: ['text', 'image'],
          price: { input: 2.5, output: 10, cachedInput: 1.25 },
        },
      },
      { provider: 'azure', model: { name: 'gpt-4o', upstream: 'mine', aliases: [] } },
    ],
  },
  {
    name: 'openai/gpt-4o',
    offers: [
      {
        provider: 'openrouter',
        model: { name: 'openai/gpt-4o', upstream: 'x', aliases: [], price: { input: 1, output: 2 } },
      },
    ],
  },
]
const gateway = {
  ...fakeGateway(() => Promise.reject(new Error('no chat'))),
  models: () => listed,
  model: (name: string) => listed.find((model) => model.name === name),
}
const routes = router(modelRoutes(() => gateway, 1_700_000_000_999))

async function get(path: string, query = ''): Promise<unknown> {
  // As the server does: the path goes unescaped.
  const response = await routes.find('GET', path).handle({ ...contextOf(new Request(`http://x/${query}`)), path })
  expect(response.headers.get('x-request-id')).toBe('request-1')
  return response.json()
}

function failure(path: string): Promise<unknown> {
  return get(path).catch((error: unknown) => error)
}

const first = {
  id: 'gpt-4o',
  object: 'model',
  type: 'model',
  display_name: 'gpt-4o',
  created: 1_700_000_000,
  created_at: '2023-11-14T22:13:20.000Z',
  owned_by: 'openai',
  providers: ['openai', 'azure'],
  context: 128_000,
  max_output: 4_096,
  input: ['text', 'image'],
  price: { input: 2.5, output: 10, cached_input: 1.25 },
}
const second = {
  id: 'openai/gpt-4o',
  object: 'model',
  type: 'model',
  display_name: 'openai/gpt-4o',
  created: 1_700_000_000,
  created_at: '2023-11-14T22:13:20.000Z',
  owned_by: 'openrouter',
  providers: ['openrouter'],
  price: { input: 1, output: 2 },
}

describe('the models', () => {
  test('are listed with who serves them', async () => {
    expect(await get('/v1/models')).toEqual({
      object: 'list',
      data: [first, second],
      has_more: false,
      first_id: 'gpt-4o',
      last_id: 'openai/gpt-4o',
    })
  })

  test('are listed in pages where the query asks for them', async () => {
    expect(await get('/v1/models', '?limit=1')).toMatchObject({
      data: [first],
      has_more: true,
      first_id: 'gpt-4o',
      last_id: 'gpt-4o',
    })
    expect(await get('/v1/models', '?limit=1&after_id=openai%2Fgpt-4o')).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
  })

  test.each(['/v1/models', '/v1/models/none'])('%s has errors in the shape of the client', (path) => {
    const names = [{}, { 'anthropic-version': '2023-06-01' }].map(
      (headers) => routes.formatOf(path, new Headers(headers))?.name,
    )
    expect(names).toEqual(['chat', 'messages'])
  })

  test.each(['/v1/models/openai/gpt-4o', '/v1/models/openai%2Fgpt-4o', '/v1/models/openai%2fgpt%2D4o'])(
    'are found one by one: %s',
    async (path) => {
      expect(await get(path)).toEqual(second)
    },
  )

  test.each([
    ['/v1/models/claude', "The model 'claude' was not found in any enabled provider"],
    ['/v1/models/%ff', 'The model was not found in any enabled provider'],
    ['/v1/models/a%0d%0ab', 'The model was not found in any enabled provider'],
    [`/v1/models/${'x'.repeat(300)}`, 'The model was not found in any enabled provider'],
  ])('are not found: %s', async (path, message) => {
    const error = await failure(path)
    expect(error).toBeInstanceOf(WireError)
    expect(error).toMatchObject({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      message,
    })
  })
})

const models = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }))

function page(query: string): string {
  const { models: found, hasMore } = listPage(models, new URLSearchParams(query))
  return `${found.map(({ name }) => name).join('')}${hasMore ? '…' : ''}`
}

describe('a page of a list', () => {
  test.each([
    ['', 'abcde'],
    ['limit=', 'abcde'],
    ['limit=5', 'abcde'],
    ['limit=1000&workspace=x', 'abcde'],
    ['limit=2', 'ab…'],
    ['limit=2&after_id=b', 'cd…'],
    ['limit=2&after_id=c', 'de'],
    ['after_id=e', ''],
    ['limit=2&before_id=e', 'cd…'],
    ['limit=2&before_id=c', 'ab'],
    ['before_id=a', ''],
  ])('%s › %s', (query, expected) => {
    expect(page(query)).toBe(expected)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=two', 'limit'],
    ['limit=1e3', 'limit'],
    ['after_id=none', 'after_id'],
    ['before_id=', 'before_id'],
    ['after_id=%00%0d%0a', 'after_id'],
  ])('%s › is refused', (query, param) => {
    expect(() => page(query)).toThrow(WireError)
    try {
      page(query)
    } catch (error) {
      expect(error).toMatchObject({ status: 400, code: 'invalid_value', param })
    }
  })

  test('and those that follow, or precede it, have every model once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.constantFrom('after_id', 'before_id'), (limit, cursor) => {
        const isForward = cursor === 'after_id'
        const seen = isForward ? ['a'] : ['e']
        for (let hasMore = true; hasMore;) {
          const at = isForward ? seen.at(-1) : seen[0]
          const next = listPage(models, new URLSearchParams(`limit=${limit}&${cursor}=${at}`))
          const names = next.models.map(({ name }) => name)
          expect(names.length).toBeLessThanOrEqual(limit)
          if (isForward) seen.push(...names)
          else seen.unshift(...names)
          hasMore = next.hasMore
        }
        expect(seen).toEqual(models.map(({ name }) => name))
      }),
    )
  })
})
