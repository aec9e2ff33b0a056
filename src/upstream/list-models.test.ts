import { describe, expect, test } from 'bun:test'
import { anthropic } from '../protocols/anthropic.ts'
import { endpointAt } from '../protocols/fixtures/load.ts'
import { gemini } from '../protocols/gemini.ts'
import { openai } from '../protocols/openai.ts'
import type { Protocol } from '../protocols/protocol.ts'
import { fakeTransport, transportError, type FakeAnswer } from '../protocols/testing.ts'
import { TransportError } from '../transport/transport.ts'
import { listModels, modelsStatus, ModelListError } from './list-models.ts'
import { upstreamAt } from './upstream.ts'

const signal = new AbortController().signal

interface ListOptions {
  readonly baseUrl?: string
  readonly protocol?: Protocol
}

function list(answers: readonly (FakeAnswer | Error)[], options: ListOptions = {}) {
  const { baseUrl = 'https://upstream.example/v1', protocol = openai } = options
  const transport = fakeTransport(...answers)
  return {
    transport,
    listing: listModels(upstreamAt({ transport, protocol, endpoint: endpointAt(baseUrl), connectMs: 5_000 }), signal),
  }
}

const json = (body: unknown): FakeAnswer => ({ body: [typeof body === 'string' ? body : JSON.stringify(body)] })

function listed(body: unknown) {
  return list([json(body)]).listing
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the models of an upstream', () => {
  const paths: readonly (readonly [string, Protocol, string, string])[] = [
    ['openai', openai, 'https://upstream.example/v1', '/v1/models'],
    ['openai', openai, 'https://upstream.example', '/models'],
    ['openai', openai, 'https://upstream.example/v1/', '/v1/models'],
    ['anthropic', anthropic, 'https://api.anthropic.com', '/v1/models?limit=1000'],
    ['anthropic', anthropic, 'https://api.anthropic.com/v1', '/v1/models?limit=1000'],
    ['gemini', gemini, 'https://upstream.example', '/v1beta/models?pageSize=1000'],
    ['gemini', gemini, 'https://upstream.example/v1alpha/', '/v1alpha/models?pageSize=1000'],
  ]
  test.each(paths)('of %s are asked for and probed below the base URL', async (_, protocol, baseUrl, path) => {
    const { transport, listing } = list([json('{"data":[]}')], { baseUrl, protocol })
    await listing
    await modelsStatus(upstreamAt({ transport, protocol, endpoint: endpointAt(baseUrl), connectMs: 5_000 }), signal)
    expect(transport.requests).toMatchObject([
      { method: 'GET', path, body: [], connectMs: 5_000 },
      { method: 'GET', path, body: [], connectMs: 5_000 },
    ])
  })

  test("are asked for with the protocol's headers", async () => {
    const { transport, listing } = list([json('{"data":[]}')])
    await listing
    expect(transport.requests[0]?.headers).toContain('authorization: Bearer key-for-tests\r\n')
  })

  const shapes: readonly (readonly [string, unknown, readonly unknown[]])[] = [
    [
      "OpenAI's",
      { object: 'list', data: [{ id: 'a', object: 'model' }, { id: 'b/c' }] },
      [{ name: 'a' }, { name: 'b/c' }],
    ],
    ["a bare list, as Together's", [{ id: 'a', context_length: 4096 }], [{ name: 'a', context: 4096 }]],
    [
      "Gemini's",
      { models: [{ name: 'models/gemini-pro', inputTokenLimit: 1_048_576 }] },
      [{ name: 'gemini-pro', context: 1_048_576 }],
    ],
    ["Ollama's", { models: [{ name: 'llama3:latest', model: 'llama3:latest' }] }, [{ name: 'llama3:latest' }]],
    ["Groq's context_window", { data: [{ id: 'a', context_window: 8192 }] }, [{ name: 'a', context: 8192 }]],
    ["vLLM's max_model_len", { data: [{ id: 'a', max_model_len: 2048 }] }, [{ name: 'a', context: 2048 }]],
    [
      "Mistral's max_context_length",
      { data: [{ id: 'a', max_context_length: 131_072 }] },
      [{ name: 'a', context: 131_072 }],
    ],
    [
      "llama.cpp's meta.n_ctx",
      { data: [{ id: 'a', meta: { n_ctx: 4096, n_ctx_train: 131_072 } }] },
      [{ name: 'a', context: 4096 }],
    ],
    [
      "llama.cpp's meta.n_ctx_train",
      { data: [{ id: 'a', meta: { n_ctx_train: 8192 } }] },
      [{ name: 'a', context: 8192 }],
    ],
    [
      "Anthropic's max_input_tokens",
      { data: [{ id: 'a', max_input_tokens: 200_000 }] },
      [{ name: 'a', context: 200_000 }],
    ],
    [
      'an unusable size beside a usable one',
      { data: [{ id: 'a', context_length: '8k', max_model_len: 8192 }] },
      [{ name: 'a', context: 8192 }],
    ],
    ['an empty list', { data: [] }, []],
  ]
  test.each(shapes)('are read from %s', async (_name, body, expected) => {
    expect(await listed(body)).toMatchObject([...expected])
  })

  test('are those with a usable name', async () => {
    const odd = [
      null,
      'a',
      1,
      {},
      { id: 5 },
      { id: '' },
      { id: 'x'.repeat(257) },
      { id: 'a\nb' },
      { id: 'ok', context_length: 'many' },
      { id: 'zero', context_length: 0 },
      { id: 'half', context_length: 0.5 },
      { id: 'meta', meta: 7 },
    ]
    expect(await listed({ data: odd })).toEqual([{ name: 'ok' }, { name: 'zero' }, { name: 'half' }, { name: 'meta' }])
  })

  test('are at most 10,000', async () => {
    expect(
      await listed({ data: Array.from({ length: 10_001 }, (_each, index) => ({ id: `m${index}` })) }),
    ).toHaveLength(10_000)
  })

  test.each(['', '<html></html>', '42', '{"data":{}}', '{"object":"list"}', 'null'])(
    'are no list in %j',
    async (body) => {
      expect(await failure(listed(body))).toBeInstanceOf(ModelListError)
    },
  )

  test.each([401, 404, 500, 204, 302])('are not read from status %p, whose body is cancelled', async (status) => {
    const { transport, listing } = list([{ status, body: ['{"data":[{"id":"a"}]}'] }])
    const error = await failure(listing)
    expect(error).toBeInstanceOf(ModelListError)
    expect(error).toHaveProperty('message', `GET /models answered ${status}`)
    expect(transport.bodies[0]?.isCancelled).toBe(true)
  })

  test("fail with the transport's failure", async () => {
    expect(await failure(list([transportError('dns')]).listing)).toBeInstanceOf(TransportError)
    expect(await failure(list([{ body: ['{', transportError('short_body')] }]).listing)).toBeInstanceOf(TransportError)
  })
})

describe('a list of models in pages', () => {
  const models = (...names: readonly string[]) => names.map((id) => ({ id }))
  const anthropicPage = (names: readonly string[], last_id: unknown, has_more: unknown = true) =>
    json({ data: models(...names), has_more, first_id: names[0] ?? null, last_id })
  const pathsOf = ({ requests }: ReturnType<typeof fakeTransport>) => requests.map(({ path }) => path)

  test('of Anthropic is read to its end', async () => {
    const pages = [anthropicPage(['a', 'b'], 'b'), anthropicPage(['c'], 'c/&?'), anthropicPage(['d'], 'd', false)]
    const { transport, listing } = list(pages, { protocol: anthropic })
    expect(await listing).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }])
    expect(pathsOf(transport)).toEqual([
      '/v1/models?limit=1000',
      '/v1/models?limit=1000&after_id=b',
      '/v1/models?limit=1000&after_id=c%2F%26%3F',
    ])
  })

  test('of Gemini is read to its end', async () => {
    const pages = [
      json({ models: [{ name: 'models/a', inputTokenLimit: 10 }], nextPageToken: 'x=' }),
      json({ models: [{ name: 'models/b' }], nextPageToken: '' }),
    ]
    const { transport, listing } = list(pages, { protocol: gemini, baseUrl: 'https://upstream.example/v1beta' })
    expect(await listing).toEqual([{ name: 'a', context: 10 }, { name: 'b' }])
    expect(pathsOf(transport)).toEqual(['/v1beta/models?pageSize=1000', '/v1beta/models?pageSize=1000&pageToken=x%3D'])
  })

  test.each([
    ['another type', 7],
    ['nothing', null],
    ['an empty text', ''],
    ['a text without end', 'x'.repeat(5_000)],
    ['a lone surrogate', '\ud800'],
  ])('ends where the cursor is %s', async (_, cursor) => {
    const { transport, listing } = list([anthropicPage(['a'], cursor)], { protocol: anthropic })
    expect(await listing).toEqual([{ name: 'a' }])
    expect(transport.requests).toHaveLength(1)
  })

  test('ends at a repeated cursor, and has each model once', async () => {
    const [a, b] = [anthropicPage(['a'], 'a'), anthropicPage(['b'], 'b')]
    const { transport, listing } = list([a, b, a, b, a, b, anthropicPage(['never'], 'c', false)], {
      protocol: anthropic,
    })
    expect(await listing).toEqual([{ name: 'a' }, { name: 'b' }])
    expect(transport.requests).toHaveLength(3)
  })

  test('ends after 100 pages', async () => {
    const pages = Array.from({ length: 101 }, (_, page) => anthropicPage([`m${page}`], `c${page}`))
    const { transport, listing } = list(pages, { protocol: anthropic })
    expect(await listing).toHaveLength(100)
    expect(transport.requests).toHaveLength(100)
  })

  test('ends at 10,000 models', async () => {
    const pages = Array.from({ length: 4 }, (_, page) =>
      anthropicPage(
        Array.from({ length: 4_000 }, (_each, index) => `m${page}-${index}`),
        `c${page}`,
      ),
    )
    const { transport, listing } = list(pages, { protocol: anthropic })
    expect(await listing).toHaveLength(10_000)
    expect(transport.requests).toHaveLength(3)
  })

  test('has 16 MiB for all its pages', async () => {
    const pages = [anthropicPage(['a'], 'a'), anthropicPage(['b'], 'b', false)]
    const { transport, listing } = list(pages, { protocol: anthropic })
    await listing
    const [first, second] = transport.requests.map(({ bodyBytesMax }) => bodyBytesMax)
    expect(first).toBe(16 * 1024 * 1024)
    expect(second).toBe(16 * 1024 * 1024 - String(pages[0]?.body).length)
  })

  test.each([
    ['another status', { status: 500 }, ModelListError],
    ['no list', json('{"data":7}'), ModelListError],
    ['a failure', transportError('reset'), TransportError],
  ])('of which a later page is %s is not known', async (_, answer, error) => {
    const { listing } = list([anthropicPage(['a'], 'a'), answer], { protocol: anthropic })
    expect(await failure(listing)).toBeInstanceOf(error)
  })
})
