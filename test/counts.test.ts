import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseJson, pick } from './client.ts'
import { startService, type ServiceUnderTest } from './harness.ts'
import { until } from './ledger-rig.ts'

const said = 'All that glitters is not gold. '.repeat(60)
const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const fractions = { prompt_tokens: 0.5, completion_tokens: 0.25, total_tokens: 0.75 }
const cutOff = { prompt_tokens: 40, completion_tokens: 0, total_tokens: 40 }
const partly = { prompt_tokens: 0, completion_tokens: 400, total_tokens: 400 }

/** Usage of chat completions, as a provider of another format writes it. */
function written(format: string, usage: typeof zeros): unknown {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  return format === 'gemini'
    ? { promptTokenCount: prompt, candidatesTokenCount: completion, totalTokenCount: total }
    : format === 'chat'
      ? usage
      : { input_tokens: prompt, output_tokens: completion, ...(format === 'responses' && { total_tokens: total }) }
}

const chatHead = { id: 'c', created: 1, model: 'm' }
const messageHead = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
const output = { type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: said }] }
const responseHead = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }

/** A whole answer of a provider. */
function whole(format: string, path: string, usage: unknown): object {
  if (path.endsWith('/embeddings'))
    return { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage }
  if (path.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 0.5 }], usage }
  if (path.endsWith('/v1/completions')) return { choices: [{ index: 0, text: said, finish_reason: 'stop' }], usage }
  const content = [{ type: 'text', text: said }]
  const parts = { content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP', index: 0 }
  const choices = [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }]
  switch (format) {
    case 'messages':
      return { ...messageHead, content, stop_reason: 'end_turn', stop_sequence: null, usage }
    case 'gemini':
      return { candidates: [parts], usageMetadata: usage }
    case 'responses':
      return { ...responseHead, status: 'completed', output: [output], usage }
    default:
      return { ...chatHead, object: 'chat.completion', choices, usage }
  }
}

/** The events of a streamed answer of a provider. */
function events(format: string, path: string, usage: unknown): readonly object[] {
  const chunk = (choices: unknown, more: object = {}) => ({
    ...chatHead,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  })
  if (path.endsWith('/v1/completions'))
    return [
      { choices: [{ index: 0, text: said, finish_reason: null }] },
      { choices: [{ index: 0, text: '', finish_reason: 'stop' }], usage },
    ]
  switch (format) {
    case 'messages':
      return [
        { type: 'message_start', message: { ...messageHead, content: [], stop_reason: null, usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ]
    case 'gemini':
      return [whole(format, path, usage)]
    case 'responses':
      return [
        { type: 'response.created', response: { ...responseHead, status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item: { ...output, content: [] } },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'i', delta: said },
        { type: 'response.output_item.done', output_index: 0, item: output },
        { type: 'response.completed', response: whole(format, path, usage) },
      ]
    default:
      return [
        chunk([{ index: 0, delta: { content: said } }]),
        chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage }),
      ]
  }
}

const providers = {
  chat: {},
  messages: { protocol: 'anthropic' },
  gemini: { protocol: 'gemini' },
  responses: { formats: ['responses'] },
}
const hello = [{ role: 'user', content: 'Say it at some length, please.' }]
const prompt = 'Say it at some length, please.'

/** Requests of all surfaces, and the formats of providers that answer them. */
const surfaces: readonly (readonly [string, string, (stream: boolean) => object, readonly string[]])[] = [
  ['/v1/chat/completions', 'chat', (stream) => ({ messages: hello, stream }), ['chat', 'messages', 'gemini']],
  [
    '/v1/messages',
    'messages',
    (stream) => ({ messages: hello, max_tokens: 9, stream }),
    ['messages', 'chat', 'gemini'],
  ],
  ['/v1/responses', 'responses', (stream) => ({ input: prompt, stream }), ['responses', 'chat', 'messages']],
  ['gemini', 'gemini', () => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }), ['gemini', 'chat']],
  ['/v1/completions', 'chat', (stream) => ({ prompt, stream }), ['chat']],
]

describe('complaint: usage that cannot be makes requests free', () => {
  let usage: typeof zeros
  let upstream: Bun.Server<undefined>
  let service: ServiceUnderTest

  beforeAll(async () => {
    upstream = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url)
        const [, format = '', ...rest] = pathname.split('/')
        const path = `/${rest.join('/')}`
        const isStream = /"stream":true/.test(await request.text()) || path.includes('streamGenerate')
        const counts = written(format, usage)
        if (!isStream) return Response.json(whole(format, path, counts))
        const end = format === 'chat' ? 'data: [DONE]\n\n' : ''
        const body = events(format, path, counts).map((each) => `data: ${JSON.stringify(each)}\n\n`)
        return new Response([...body, end].join(''), { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    service = await startService({
      providers: Object.entries(providers).map(([id, more]) => ({
        id,
        base_url: `http://127.0.0.1:${upstream.port}/${id}/${id === 'gemini' ? 'v1beta' : 'v1'}`,
        api_key: 'k',
        models: [{ name: `${id}-m`, price: { input: 10, output: 100 } }],
        ...more,
      })),
    })
  }, 30_000)
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    await upstream.stop(true)
  })

  /** The record of a request. */
  async function recorded(path: string, body: object): Promise<unknown> {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/glitters|0\.5/)])
    const id = answer.headers.get('x-request-id') ?? ''
    const found = async () => parseJson(await (await fetch(`${service.url}/api/requests/${id}`)).text())
    await until(async () => pick(await found(), 'id') === id)
    return await found()
  }

  const cases = surfaces.flatMap(([path, , body, formats]) =>
    formats.flatMap((format) => [false, true].map((stream) => ({ path, format, stream, body }))),
  )
  const pathOf = (path: string, format: string, stream: boolean): string =>
    path === 'gemini'
      ? `/v1beta/models/${format}-m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
      : path

  test.each(cases)('$path by $format, streamed: $stream › is estimated', async ({ path, format, stream, body }) => {
    const ask = { model: `${format}-m`, ...body(stream) }
    for (const counts of [zeros, fractions, cutOff, partly]) {
      usage = counts
      const record = await recorded(pathOf(path, format, stream), ask)
      expect(pick(record, 'isEstimated')).toBe(true)
      // 1,860 letters at USD 100 a million tokens; four letters are a token, and some are taken for the frame.
      expect(Number(pick(record, 'cost'))).toBeGreaterThan(0.035)
      expect(Number(pick(record, 'promptTokens'))).toBeGreaterThan(6)
    }
  })

  test('embeddings › are estimated, and a ranking has no known cost', async () => {
    usage = zeros
    const embedding = await recorded('/v1/embeddings', { model: 'chat-m', input: prompt })
    expect(embedding).toMatchObject({ isEstimated: true, completionTokens: 0 })
    expect(Number(pick(embedding, 'promptTokens'))).toBeGreaterThan(6)
    const ranking = await recorded('/v1/rerank', { model: 'chat-m', query: prompt, documents: ['a', 'b'] })
    expect(pick(ranking, 'cost')).toBeUndefined()
  })

  test('reasoning beside the answer › is in the tokens of callers of other formats', async () => {
    usage = { prompt_tokens: 50, completion_tokens: 7, total_tokens: 157 }
    const body = JSON.stringify({ model: 'chat-m', messages: hello, max_tokens: 9 })
    const answer = await fetch(`${service.url}/v1/messages`, { method: 'POST', body })
    expect(pick(parseJson(await answer.text()), 'usage', 'output_tokens')).toBe(107)
  })

  test.each([false, true])('a part that was counted, streamed: %p › is in limits of tokens', async (stream) => {
    usage = { prompt_tokens: 60_000, completion_tokens: 0, total_tokens: 60_000 }
    const limit = { for: 'everyone', tokens: 100_000, per: 'day', models: [`chat-${stream ? 's' : 'w'}`] }
    await using limited = await startService(
      {
        providers: [
          {
            ...{ id: 'chat', base_url: `http://127.0.0.1:${upstream.port}/chat/v1`, api_key: 'k' },
            models: limit.models,
          },
        ],
      },
      { files: { 'access.json': JSON.stringify({ limits: [limit] }) } },
    )
    const statuses: number[] = []
    for (let count = 0; count < 4; count++) {
      const answer = await fetch(`${limited.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: limit.models[0], messages: hello, max_tokens: 9, stream }),
      })
      statuses.push(answer.status)
      await answer.text()
    }
    expect(statuses).toEqual([200, 200, 429, 429])
  })
})
