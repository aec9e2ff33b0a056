import { describe, expect, test } from 'bun:test'
import { TransportError } from '../transport/transport.ts'
import { connectionTo } from './fixtures/load.ts'
import { listModels, ModelListError } from './list-models.ts'
import { fakeTransport, transportError, type FakeAnswer } from './testing.ts'

const signal = new AbortController().signal

function list(answer: FakeAnswer | Error, baseUrl = 'https://upstream.example/v1') {
  const transport = fakeTransport(answer)
  return {
    transport,
    listing: listModels(transport, connectionTo(baseUrl), { authorization: 'Bearer key-for-tests' }, 5_000, signal),
  }
}

function listed(body: unknown) {
  return list({ body: [typeof body === 'string' ? body : JSON.stringify(body)] }).listing
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the models of an upstream', () => {
  test.each([
    ['https://upstream.example/v1', '/v1/models'],
    ['https://upstream.example', '/models'],
    ['https://upstream.example/v1/', '/v1/models'],
  ])('of %s are asked for at %s', async (baseUrl, path) => {
    const { transport, listing } = list({ body: ['{"data":[]}'] }, baseUrl)
    await listing
    expect(transport.requests).toMatchObject([
      { method: 'GET', path, headers: 'authorization: Bearer key-for-tests\r\n', body: [], connectMs: 5_000 },
    ])
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
    ]
    expect(await listed({ data: odd })).toEqual([{ name: 'ok' }, { name: 'zero' }, { name: 'half' }])
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

  test.each([401, 404, 500, 204, 302])('are not read from status %p, whose body is let go', async (status) => {
    const { transport, listing } = list({ status, body: ['{"data":[{"id":"a"}]}'] })
    const error = await failure(listing)
    expect(error).toBeInstanceOf(ModelListError)
    expect(error).toHaveProperty('message', `GET /models answered ${status}`)
    expect(transport.bodies[0]?.isCancelled).toBe(true)
  })

  test("fail with the transport's failure", async () => {
    expect(await failure(list(transportError('dns')).listing)).toBeInstanceOf(TransportError)
    expect(await failure(list({ body: ['{', transportError('short_body')] }).listing)).toBeInstanceOf(TransportError)
  })
})
