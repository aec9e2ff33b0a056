import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import {
  answers,
  anthropic as native,
  callEvents,
  chatOnly,
  ended,
  messageHead,
  messageUsage,
  named,
  started,
  stopped,
  textEvents,
  type FormatFake,
} from './fakes/format-fakes.ts'
import { framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

/** A service with these providers in order, all for the model `m`, and a client for it. */
async function serviceOf(...providers: readonly (readonly [FaultUpstream, FormatFake])[]) {
  const service = await startService({
    providers: providers.map(([upstream, { protocol }], index) =>
      provider(`p${index}`, upstream.url, ['m'], { protocol, api_key: 'k' }),
    ),
  })
  return { service, client: clientOf(service) }
}

function clientOf({ url }: Pick<ServiceUnderTest, 'url'>): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 })
}

function bodyOf(upstream: FaultUpstream, position = 0): unknown {
  return parseJson(new TextDecoder().decode(upstream.hits[position]?.body))
}

const question = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }
/** Sends a body as it is. */
async function post(url: string, body: string, headers: Readonly<Record<string, string>> = {}, path = '') {
  const response = await fetch(`${url}/v1/messages${path}`, { method: 'POST', body, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parseJson(text) }
}

describe('POST /v1/messages at a provider that speaks it', () => {
  test('passes the request byte for byte but for the model, and the answer byte for byte', async () => {
    const events = [
      started.replace('"type":"message_start"', '"type": "message_start", "x":9007199254740993'),
      ...textEvents('Hé!'),
      named({ type: 'ping' }),
      named({ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { a: 1 } } }),
      stopped(0),
      named({ type: 'news', payload: 1 }),
      ...ended('end_turn').slice(0, 1),
      'event: message_stop\ndata: {"type":"message_stop"      }\n\n',
    ]
    const whole = {
      ...messageHead,
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: messageUsage,
    }
    using upstream = faultUpstream(answers(whole, events))
    await using service = await startService({
      providers: [
        provider('a', upstream.url, [], { protocol: 'anthropic', models: [{ name: 'm', upstream: 'vendor/m-1' }] }),
      ],
    })
    const message = '{"content":"\\u0041","role":"user"}'
    const body = ` {"max_tokens":5, "messages":[${message}],"model":"m","x":9007199254740993, "stream":true}`
    const streamed = await post(service.url, body, {}, '?beta=true')
    expect(streamed.text).toBe(events.join(''))
    expect(streamed.headers.get('content-type')).toStartWith('text/event-stream')
    expect(new TextDecoder().decode(upstream.hits[0]?.body)).toBe(body.replace('"m"', '"vendor/m-1"'))
    expect(upstream.hits[0]?.path).toBe('/v1/messages')
    expect((await post(service.url, body.replace('true', 'false'))).text).toBe(JSON.stringify(whole))
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({ api: 'messages', promptTokens: 3, completionTokens: 5 })
  })

  test('passes version and betas, and neither keys nor cookies', async () => {
    using upstream = faultUpstream(native.says('Hi'))
    await using service = await startService({
      providers: [
        provider('a', upstream.url, ['m'], {
          protocol: 'anthropic',
          api_key: 'k',
          headers: { 'Anthropic-Beta': 'owner-1' },
        }),
      ],
    })
    const sent = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one-1, two-2',
      'x-api-key': 'callers',
      authorization: 'Bearer callers',
      cookie: 'a=callers',
      'x-app': 'callers',
    }
    await post(service.url, JSON.stringify(question), sent)
    await post(service.url, JSON.stringify(question))
    const [first, second] = upstream.hits.map(({ headers }) => headers)
    expect(first?.get('anthropic-version')).toBe('2026-10-21')
    expect(first?.get('anthropic-beta')).toBe('owner-1,one-1, two-2')
    expect(first?.get('x-api-key')).toBe('k')
    expect([...(first?.values() ?? [])].join()).not.toContain('callers')
    expect([second?.get('anthropic-version'), second?.get('anthropic-beta')]).toEqual(['2023-06-01', 'owner-1'])
    const refused = await post(service.url, JSON.stringify(question), { 'anthropic-beta': 'a"b' })
    expect([refused.status, pick(refused.json, 'error', 'type')]).toEqual([400, 'invalid_request_error'])
  })

  test('applies the owner’s overrides there', async () => {
    using upstream = faultUpstream(native.says('Hi'))
    const overrides = { speed: 'fast', max_tokens: 7 }
    await using service = await startService({
      providers: [provider('a', upstream.url, ['m'], { protocol: 'anthropic', overrides })],
    })
    await post(service.url, JSON.stringify({ ...question, system: 'Be kind.' }))
    expect(bodyOf(upstream)).toEqual({ ...question, system: 'Be kind.', speed: 'fast', max_tokens: 7 })
  })

  test('counts tokens there, and estimates them elsewhere', async () => {
    using upstream = faultUpstream((exchange) => exchange.write(reply(200, '{"input_tokens":14}')))
    using old = faultUpstream((exchange) => exchange.write(reply(404, '{"detail":"Not Found"}')))
    using other = faultUpstream(chatOnly.says('Hi'))
    await using service = await startService({
      providers: [
        provider('a', upstream.url, ['m'], { protocol: 'anthropic' }),
        provider('b', other.url, ['chat-only']),
        provider('c', old.url, ['old'], { protocol: 'anthropic' }),
      ],
    })
    const { max_tokens: _, ...countable } = question
    const counted = await post(service.url, JSON.stringify(countable), {}, '/count_tokens?beta=true')
    expect([counted.status, counted.text]).toEqual([200, '{"input_tokens":14}'])
    expect(upstream.hits[0]?.path).toBe('/v1/messages/count_tokens')
    const elsewhere = await post(service.url, JSON.stringify({ ...countable, model: 'chat-only' }), {}, '/count_tokens')
    expect([
      elsewhere.status,
      elsewhere.headers.get('x-svc-estimated'),
      elsewhere.headers.get('x-svc-attempts'),
    ]).toEqual([200, '1', '0'])
    expect(pick(elsewhere.json, 'input_tokens')).toBeWithin(5, 60)
    const lacking = await post(service.url, JSON.stringify({ ...countable, model: 'old' }), {}, '/count_tokens')
    expect([lacking.status, lacking.headers.get('x-svc-estimated')]).toEqual([200, '1'])
    expect([lacking.headers.get('x-svc-trail'), lacking.json]).toEqual([
      expect.stringMatching(/^c;status=404/),
      elsewhere.json,
    ])
    const unknown = await post(service.url, JSON.stringify({ ...countable, model: 'x' }), {}, '/count_tokens')
    expect([unknown.status, pick(unknown.json, 'error', 'type')]).toEqual([404, 'not_found_error'])
    expect(other.hits).toBeEmpty()
  })

  test('converts an answer of the other kind', async () => {
    using upstream = faultUpstream()
    const { service, client } = await serviceOf([upstream, native])
    await using _ = service
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'call_0', name: 'weather', input: { city: 'Rome' } },
    ]
    const message = { ...messageHead, content, stop_reason: 'tool_use', usage: messageUsage }
    upstream.use((exchange) => exchange.write(reply(200, JSON.stringify(message))))
    expect((await client.messages.stream(question).finalMessage()).content).toMatchObject(content)
    upstream.use(async ({ write }) => {
      await write(streamHead)
      for (const each of [started, ...textEvents('Hello'), stopped(0), ...ended('end_turn')]) await write(framed(each))
      await write(lastChunk)
    })
    expect(await client.messages.create(question)).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: messageUsage,
    })
  })

  test('waits for a model whose thinking is hidden longer than for others, and moves on when it fails', async () => {
    const thinks: Script = async ({ write, pause, hit }) => {
      await write(streamHead)
      await write(framed(started))
      const content_block = { type: 'thinking', thinking: '', signature: '' }
      await write(framed(named({ type: 'content_block_start', index: 0, content_block })))
      for (let waited = 0; waited < 3; waited++) {
        await pause(200)
        await write(framed(named({ type: 'ping' })))
      }
      if (hit.nth > 1) return write(framed(named({ type: 'error', error: { type: 'api_error', message: 'No' } })))
      for (const each of [stopped(0), ...callEvents(1, '{}'), stopped(1), ...ended('tool_use')])
        await write(framed(each))
      await write(lastChunk)
    }
    using upstream = faultUpstream(thinks)
    using up = faultUpstream(native.says('Hi'))
    const timeouts = { first_token_ms: 400, idle_ms: 400 }
    await using service = await startService({
      providers: [
        provider('a', upstream.url, ['m'], { protocol: 'anthropic', timeouts }),
        provider('b', up.url, ['m'], { protocol: 'anthropic' }),
      ],
    })
    const client = clientOf(service)
    expect((await client.messages.stream(question).finalMessage()).content).toMatchObject([
      { type: 'thinking' },
      { type: 'tool_use' },
    ])
    expect((await client.messages.stream(question).finalMessage()).content).toMatchObject([{ text: 'Hi' }])
  })

  test.each<readonly [string, readonly string[], readonly object[]]>([
    ['text of a block that never began', [...textEvents('Hi').slice(1), ...ended('end_turn')], [{ text: 'Hi' }]],
    [
      'a block with a gap before it',
      [...callEvents(1, '{}'), stopped(1), ...ended('tool_use')],
      [{ type: 'tool_use', name: 'weather' }],
    ],
  ])('repairs %s', async (_, events, content) => {
    using odd = faultUpstream(answers({}, [started, ...events]))
    const { service, client } = await serviceOf([odd, native])
    await using _service = service
    expect((await client.messages.stream(question).finalMessage()).content).toMatchObject([...content])
  })

  test.each<readonly [string, readonly string[]]>([
    ['input of a block that never began', [started, ...callEvents(0, '{}').slice(1), ...ended('tool_use')]],
    ['a block before the start', [...textEvents('Hi'), stopped(0), ...ended('end_turn')]],
  ])('moves on after %s, which clients would lose', async (_, events) => {
    using odd = faultUpstream(answers({}, events))
    using up = faultUpstream(native.says('Whole.'))
    const { service, client } = await serviceOf([odd, native], [up, native])
    await using _service = service
    expect((await client.messages.stream(question).finalMessage()).content).toMatchObject([{ text: 'Whole.' }])
    expect([odd.hits.length, up.hits.length]).toEqual([1, 1])
  })

  test.each<readonly [string, readonly string[]]>([
    ['a call that never ends, and a finish', [...callEvents(0, '{"a"'), ...ended('tool_use')]],
    ['text that never ends, and no finish', [...textEvents('Hi'), named({ type: 'message_stop' })]],
    [
      'another block behind the finish',
      [...textEvents('Hi'), stopped(0), ...ended('end_turn').slice(0, 1), ...textEvents('Ho')],
    ],
  ])('reports an error after %s', async (_, events) => {
    using upstream = faultUpstream(answers({}, [started, ...events]))
    const { service } = await serviceOf([upstream, native])
    await using _service = service
    const { text } = await post(service.url, JSON.stringify({ ...question, stream: true }))
    expect(text).toContain('event: error\n')
    expect(text).not.toContain('message_stop')
  })
})

describe('POST /v1/messages', () => {
  test('has the provider’s own sentence whole when it refuses the request, for clients that repair it', async () => {
    const sentence = `messages.1.role: Input should be 'user' or 'assistant' (${'or so, '.repeat(60)}as it stands)`
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message: sentence } }
    using upstream = faultUpstream((exchange) => exchange.write(reply(400, JSON.stringify(refusal))))
    const { service } = await serviceOf([upstream, native])
    await using _ = service
    const { status: found, json } = await post(service.url, JSON.stringify(question))
    expect([found, pick(json, 'error', 'type')]).toEqual([400, 'invalid_request_error'])
    expect(String(pick(json, 'error', 'message'))).toEndWith(sentence)
  })

  const image = { type: 'image', source: { type: 'file', file_id: 'f' } }
  const pdf = { type: 'document', source: { type: 'file', file_id: 'f' } }
  test.each([
    ['image_block', 'messages', {}, [image]],
    ['document_block', 'messages', {}, [pdf]],
    ['effort_unsupported', null, 'Unrecognized request argument supplied: reasoning_effort', 'hi'],
    ['structured_outputs_unsupported', null, "Unsupported parameter: 'response_format' is not supported here.", 'hi'],
    ['image_block', null, 'This model does not support image input.', 'hi'],
    ['prompt_too_long', 'messages', 'This endpoint takes 8192 tokens at most: too many tokens.', 'hi'],
  ] as const)('names the class %s, by which Claude Code repairs a request', async (name, param, refusal, content) => {
    const refuses = reply(400, JSON.stringify({ error: { message: refusal } }))
    using upstream = faultUpstream((exchange) => exchange.write(refuses))
    const { service } = await serviceOf([upstream, chatOnly])
    await using _ = service
    const body = { ...question, messages: [{ role: 'user', content }] }
    const { status: found, json } = await post(service.url, JSON.stringify(body))
    expect([found, pick(json, 'error')]).toEqual([
      400,
      {
        type: 'invalid_request_error',
        message: `capability_rejected: ${name}`,
        param,
        reason: expect.stringContaining('All providers failed'),
      },
    ])
  })

  test('has no class where one provider failed otherwise, nor for a sentence that clients know', async () => {
    const effort = reply(400, JSON.stringify({ error: { message: 'reasoning_effort is not supported' } }))
    using first = faultUpstream((exchange) => exchange.write(effort))
    using second = faultUpstream(status(400))
    const { service } = await serviceOf([first, chatOnly], [second, chatOnly])
    await using _ = service
    const message = async () => pick((await post(service.url, JSON.stringify(question))).json, 'error', 'message')
    expect(await message()).toStartWith('All providers failed')
    const long = reply(
      400,
      JSON.stringify({ error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }),
    )
    for (const each of [first, second]) each.use((exchange) => exchange.write(long))
    expect(await message()).toEndWith('prompt is too long: 210000 tokens > 200000 maximum')
  })

  test('names the field that no provider can say', async () => {
    using upstream = faultUpstream()
    const { service } = await serviceOf([upstream, chatOnly])
    await using _ = service
    const ask = async (path: string, body: object) =>
      (await fetch(`${service.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).json()
    const computer = { tools: [{ type: 'computer_20250124', name: 'computer' }] }
    const messages = await ask('/v1/messages', { ...question, ...computer })
    expect(pick(messages, 'error', 'message')).toContain("A tool of type 'computer_20250124'")
    const content = [{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }]
    await using other = await startService({
      providers: [provider('a', upstream.url, ['m'], { protocol: 'anthropic' })],
    })
    const chat = await fetch(`${other.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    })
    expect(pick(await chat.json(), 'error', 'param')).toBe('messages')
  })

  test('refuses what is malformed before any provider is asked, in its own shape', async () => {
    using upstream = faultUpstream(native.says('Hi'))
    const { service } = await serviceOf([upstream, native])
    await using _ = service
    for (const body of ['{"model":', '{}', JSON.stringify({ ...question, max_tokens: -1 })]) {
      const { status: found, json, headers } = await post(service.url, body)
      expect(found).toBe(400)
      expect(json).toEqual({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.any(String) },
        request_id: headers.get('x-request-id'),
      })
    }
    expect(upstream.hits).toBeEmpty()
  })

  test('has its shape of errors below its path too, and Responses theirs', async () => {
    await using service = await startService({ providers: [{ id: 'echo', protocol: 'echo' }] })
    for (const path of ['/batches', '/msgbatch_1/results', '/count_tokens/x']) {
      const { status: found, json } = await post(service.url, '{}', {}, path)
      expect([found, json]).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }])
    }
    for (const path of ['/v1/responses/x', '/v1/files'])
      expect(await (await fetch(`${service.url}${path}`)).json()).toMatchObject({ error: { code: 'not_found' } })
  })
})
