import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { reply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'

const vector = [0.25, -0.5, 1]

/** Answers in the format of OpenAI, always with floats. */
const embeds: Script = async (exchange) => {
  const { input } = JSON.parse(new TextDecoder().decode(exchange.hit.body)) as { readonly input: string | string[] }
  const inputs = Array.isArray(input) ? input : [input]
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: vector }))
  const usage = { prompt_tokens: 8, total_tokens: 8 }
  await exchange.write(reply(200, JSON.stringify({ object: 'list', data, model: 'upstream-model', usage })))
}

const embedsAsGemini: Script = (exchange) =>
  exchange.write(reply(200, JSON.stringify({ embeddings: [{ values: vector }, { values: [1, 0, 0] }] })))

async function embed(url: string, body: unknown) {
  const response = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, json: parseJson(await response.text()) }
}

describe('POST /v1/embeddings', () => {
  test('reaches the provider as the caller wrote it, but for the model', async () => {
    using upstream = faultUpstream(embeds)
    await using service = await startService({
      providers: [provider('a', upstream.url, [], { models: [{ name: 'e', upstream: 'vendor/e-3' }] })],
    })
    const text = ' {"model":"e", "input":["one","two"],"dimensions":3,"encoding_format":"float","x":9007199254740993}'
    const answer = await embed(service.url, text)
    expect(answer.status).toBe(200)
    expect(new TextDecoder().decode(upstream.hits[0]?.body)).toBe(text.replace('"e"', '"vendor/e-3"'))
    expect(upstream.hits[0]?.path).toBe('/v1/embeddings')
    expect(pick(answer.json, 'data', 1)).toEqual({ object: 'embedding', index: 1, embedding: vector })
    expect(answer.headers.get('x-svc-provider')).toBe('a')
  })

  test('moves on when a provider fails, and is recorded with usage and price', async () => {
    using down = faultUpstream(status(503))
    using up = faultUpstream(embeds)
    const models = [{ name: 'e', price: { input: 2, output: 0 } }]
    await using service = await startService({
      providers: [provider('down', down.url, ['e']), provider('up', up.url, [], { models })],
    })
    expect((await embed(service.url, { model: 'e', input: 'hello' })).headers.get('x-svc-trail')).toMatch(
      /^down;status=503.*, up;status=200/,
    )
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({
      api: 'embeddings',
      model: 'e',
      provider: 'up',
      promptTokens: 8,
    })
    expect(Number(pick(requests, 'requests', 0, 'cost'))).toBeCloseTo(16 / 1_000_000, 12)
  })

  test('never moves on to another model with the name as its alias', async () => {
    using down = faultUpstream(status(503))
    using other = faultUpstream(embeds)
    const models = [{ name: 'other', aliases: ['e'] }]
    await using service = await startService({
      providers: [provider('down', down.url, ['e']), provider('other', other.url, [], { models })],
    })
    expect((await embed(service.url, { model: 'e', input: 'hello' })).status).toBe(503)
    expect(other.hits).toBeEmpty()
  })

  test('moves on to another model where its owner says that the embeddings are the same', async () => {
    using down = faultUpstream(status(503))
    using other = faultUpstream(embeds)
    const models = [{ name: 'other', aliases: [{ name: 'e', embeddings: true }] }]
    await using service = await startService({
      providers: [provider('down', down.url, ['e']), provider('other', other.url, [], { models })],
    })
    expect((await embed(service.url, { model: 'e', input: 'hello' })).headers.get('x-svc-provider')).toBe('other')
  })

  test('is Gemini’s batchEmbedContents where that is the protocol', async () => {
    using upstream = faultUpstream(embedsAsGemini)
    const base = upstream.url.replace(/\/v1$/, '')
    await using service = await startService({
      providers: [provider('g', base, ['gemini-embedding-001'], { protocol: 'gemini', api_key: 'k' })],
    })
    const answer = await embed(service.url, { model: 'gemini-embedding-001', input: ['a', 'b'], dimensions: 3 })
    expect(upstream.hits[0]?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents')
    expect(parseJson(new TextDecoder().decode(upstream.hits[0]?.body))).toEqual({
      requests: ['a', 'b'].map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        outputDimensionality: 3,
      })),
    })
    expect(answer.json).toMatchObject({
      object: 'list',
      model: 'gemini-embedding-001',
      data: [{ embedding: vector }, {}],
    })
  })

  test('is asked for by the openai library, which wants base64 by default', async () => {
    using upstream = faultUpstream(embeds)
    await using service = await startService({ providers: [provider('a', upstream.url, ['e'])] })
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'any' })
    const { data, usage } = await client.embeddings.create({ model: 'e', input: ['one', 'two'] })
    expect(data.map(({ embedding }) => [...embedding])).toEqual([vector, vector])
    expect(usage.prompt_tokens).toBe(8)
    expect(String(new TextDecoder().decode(upstream.hits[0]?.body))).toContain('"encoding_format":"base64"')
  })

  test('refuses what is malformed before any provider is asked', async () => {
    const refusals: readonly (readonly [unknown, string | null, string])[] = [
      [{ input: 'x' }, 'model', 'missing_required_parameter'],
      [{ model: 'e' }, 'input', 'missing_required_parameter'],
      [{ model: 'e', input: [] }, 'input', 'invalid_value'],
      [{ model: 'e', input: 5 }, 'input', 'invalid_type'],
      [{ model: 'e', input: ['a', true] }, 'input[1]', 'invalid_type'],
      [{ model: 'e', input: 'x', dimensions: 0 }, 'dimensions', 'invalid_value'],
      [{ model: 'e', input: 'x', encoding_format: 'hex' }, 'encoding_format', 'invalid_value'],
      ['{"model":', null, 'invalid_json'],
    ]
    using upstream = faultUpstream(embeds)
    await using service = await startService({ providers: [provider('a', upstream.url, ['e'])] })
    for (const [body, param, code] of refusals) {
      const answer = await embed(service.url, body)
      expect(answer.status).toBe(400)
      expect(pick(answer.json, 'error')).toMatchObject({ type: 'invalid_request_error', code, param })
    }
    expect(upstream.hits).toBeEmpty()
  })

  test('says that the model is not found where no provider embeds', async () => {
    using upstream = faultUpstream()
    await using service = await startService({
      providers: [provider('a', upstream.url, ['m'], { protocol: 'anthropic' })],
    })
    const answer = await embed(service.url, { model: 'm', input: 'x' })
    expect(answer.status).toBe(404)
    expect(pick(answer.json, 'error', 'code')).toBe('model_not_found')
    expect(upstream.hits).toBeEmpty()
  })
})
