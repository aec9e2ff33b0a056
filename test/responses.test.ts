import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { Response as Answer, ResponseInput, Tool } from 'openai/resources/responses/responses'
import { parseJson, pick, rawConnection } from './client.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { good, goodText } from './fakes/good.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const weather: Tool = { type: 'function', name: 'weather', description: 'd', parameters: schema, strict: true }

function sent({ hit }: Exchange): unknown {
  return parseJson(new TextDecoder().decode(hit.body))
}

function lastSent(upstream: FaultUpstream): unknown {
  return parseJson(new TextDecoder().decode(upstream.hits.at(-1)?.body))
}

/** Answers with these deltas, streamed or whole, as the request asks. */
function says(deltas: readonly object[], reason = 'stop'): Script {
  return async (exchange) => {
    if (pick(sent(exchange), 'stream') !== true) {
      const message = Object.assign({}, ...deltas)
      const body = completion(pick(message, 'content') ?? null, { message, choice: { finish_reason: reason } })
      return await exchange.write(reply(200, JSON.stringify(body)))
    }
    const events = [...deltas.map((delta) => chunk(delta)), chunk({}, reason)].map(event)
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...[...events, done].map(framed), lastChunk]))
  }
}

function calls(...called: readonly (readonly [string, string])[]): Script {
  const tool_calls = called.map(([name, text], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: text },
  }))
  return says([{ role: 'assistant', content: null, tool_calls }], 'tool_calls')
}

/** Calls tools first, and after their results answers with their text. */
function callsThenSays(...called: readonly (readonly [string, string])[]): Script {
  return (exchange) => {
    const messages = pick(sent(exchange), 'messages')
    const results = Array.isArray(messages) ? messages.filter((each) => pick(each, 'role') === 'tool') : []
    const text = results.map((each) => pick(each, 'content')).join(' and ')
    return results.length === 0 ? calls(...called)(exchange) : says([{ content: `It is ${text}.` }])(exchange)
  }
}

function clientOf({ url }: { readonly url: string }): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 })
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/responses`, { method: 'POST', body: JSON.stringify(body), headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parseJson(text) }
}

/** A service with a failing provider before one that answers by `upstream.use(…)`. */
describe('POST /v1/responses over chat completions, when the first provider fails', () => {
  const down = faultUpstream(status(503))
  const up = faultUpstream(good())
  let service: ServiceUnderTest

  beforeAll(async () => {
    service = await startService({ providers: [provider('down', down.url), provider('up', up.url)] })
  })
  afterAll(async () => {
    for (const each of [down, up]) each.stop()
    await service.stop()
  })

  test('openai › create › a whole answer', async () => {
    up.use(good())
    const answer = await clientOf(service).responses.create({
      model: 'm',
      input: 'hi',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
    })
    expect(answer.output_text).toBe(goodText())
    expect(answer).toMatchObject({
      status: 'completed',
      store: false,
      metadata: { a: 'b' },
      usage: { total_tokens: 8 },
    })
    expect(lastSent(up)).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  test('openai › stream() › events that its strict helper accepts', async () => {
    up.use(good())
    const stream = clientOf(service).responses.stream({ model: 'm', input: [{ role: 'user', content: 'hi' }] })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => void deltas.push(delta))
    const answer = await stream.finalResponse()
    expect(answer.output_text).toBe(goodText())
    expect(deltas.join('')).toBe(goodText())
    expect(answer.usage?.total_tokens).toBe(8)
  })

  test('openai › parse › structured output', async () => {
    up.use(says([{ content: '{"city":"Rome"}' }]))
    const answer = await clientOf(service).responses.parse({
      model: 'm',
      input: 'hi',
      text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
    })
    expect(answer.output_text).toBe('{"city":"Rome"}')
    expect(lastSent(up)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    })
  })

  test.each([false, true])('openai › parallel tools and their results, streamed: %j', async (isStream) => {
    up.use(callsThenSays(['weather', '{"city":"Rome"}'], ['weather', '{"city":"Oslo"}']))
    const { responses } = clientOf(service)
    const ask = (input: ResponseInput): Promise<Answer> => {
      const request = { model: 'm', input, tools: [weather] }
      return isStream ? responses.stream(request).finalResponse() : responses.create(request)
    }
    const question: ResponseInput = [{ role: 'user', content: 'hi' }]
    const first = await ask(question)
    const called = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    expect(called.map((call) => [call.call_id, call.arguments])).toEqual([
      ['call_0', '{"city":"Rome"}'],
      ['call_1', '{"city":"Oslo"}'],
    ])
    const outputs = called.map(({ call_id }, index) => ({
      type: 'function_call_output' as const,
      call_id,
      output: `${index} degrees`,
    }))
    const second = await ask([...question, ...called, ...outputs])
    expect(second.output_text).toBe('It is 0 degrees and 1 degrees.')
    expect(lastSent(up)).toMatchObject({
      messages: [
        {},
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
        { role: 'tool', tool_call_id: 'call_0' },
        { role: 'tool', tool_call_id: 'call_1' },
      ],
    })
  })

  test('openai › a custom tool, whose input arrives decoded', async () => {
    up.use(calls(['patch', '{"input":"*** Begin\\n+é"}']))
    const tools: Tool[] = [
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    ]
    const stream = clientOf(service).responses.stream({ model: 'm', input: 'hi', tools })
    const inputs: string[] = []
    stream.on('response.custom_tool_call_input.delta', ({ delta }) => void inputs.push(delta))
    const answer = await stream.finalResponse()
    expect(answer.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_0', name: 'patch', input: '*** Begin\n+é' },
    ])
    expect(inputs.join('')).toBe('*** Begin\n+é')
    expect(lastSent(up)).toMatchObject({
      tools: [{ type: 'function', function: { name: 'patch', parameters: { required: ['input'] } } }],
    })
  })

  test('openai › an image', async () => {
    up.use(good())
    const image_url = 'data:image/png;base64,aGk='
    await clientOf(service).responses.create({
      model: 'm',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'see' },
            { type: 'input_image', image_url, detail: 'low' },
          ],
        },
      ],
    })
    expect(lastSent(up)).toMatchObject({
      messages: [
        {
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: image_url, detail: 'low' } },
          ],
        },
      ],
    })
  })

  test('openai › reasoning before the text', async () => {
    up.use(says([{ reasoning_content: 'Hm.' }, { content: 'So.' }]))
    const answer = await clientOf(service)
      .responses.stream({ model: 'm', input: 'hi', reasoning: { effort: 'low' } })
      .finalResponse()
    expect(answer.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'So.' }] },
    ])
  })

  test('openai › abort ends the work at the provider', async () => {
    up.use(good({ tokens: 1_000, pauseMs: 20 }))
    const hit = up.nextHit()
    const stream = clientOf(service).responses.stream({ model: 'm', input: 'hi' })
    stream.on('response.output_text.delta', () => stream.abort())
    await expect(stream.finalResponse()).rejects.toThrow('aborted')
    expect(await (await hit).left).toBeNumber()
  })

  test('ai › a tool loop, whole and streamed', async () => {
    up.use(callsThenSays(['weather', '{"city":"Rome"}']))
    const request = {
      model: createOpenAI({ baseURL: `${service.url}/v1`, apiKey: 'any' })('m'),
      prompt: 'hi',
      tools: {
        weather: tool({
          inputSchema: jsonSchema<{ city: string }>(schema as never),
          execute: ({ city }) => `hot in ${city}`,
        }),
      },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      // Its default refers to items by id, which needs a store.
      providerOptions: { openai: { store: false } },
    }
    expect((await generateText(request)).text).toBe('It is "hot in Rome".'.replaceAll('"', ''))
    expect(await streamText(request).text).toBe('It is hot in Rome.')
  })

  test('names in a header what the provider was not sent', async () => {
    up.use(good())
    // Without its only tool a request would be another one, and is not sent.
    const tools = [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: schema }]
    const body = { model: 'm', input: 'hi', metadata: { a: 'b' }, tools }
    for (const stream of [true, false]) {
      const { headers } = await post(service.url, { ...body, stream })
      expect(headers.get('x-svc-dropped')).toBe('metadata, tools.web_search')
      expect(headers.get('x-svc-trail')).toContain(';status=200;dropped=metadata+tools.web_search;ms=')
      expect(headers.get('x-svc-provider')).toBe('up')
    }
    expect((await post(service.url, { model: 'm', input: 'hi' })).headers.get('x-svc-dropped')).toBeNull()
  })
})

describe('POST /v1/responses', () => {
  test('refuses state by the name of its field, before any provider is asked', async () => {
    using up = faultUpstream(good())
    await using service = await startService({ providers: [provider('up', up.url)] })
    for (const field of [
      { previous_response_id: 'r' },
      { conversation: 'c' },
      { background: true },
      { prompt: { id: 'p' } },
    ]) {
      const answer = await post(service.url, { model: 'm', input: 'hi', ...field })
      expect(answer.status).toBe(400)
      expect(pick(answer.json, 'error')).toMatchObject({
        type: 'invalid_request_error',
        code: 'unsupported_parameter',
        param: Object.keys(field)[0],
      })
    }
    expect(up.hits).toBeEmpty()
  })

  test('refuses WebSockets with 426, and says that nothing is stored', async () => {
    await using service = await startService({ providers: [{ id: 'echo', protocol: 'echo' }] })
    const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${service.url}/v1/responses${path}`, { method, headers })
      return {
        status: response.status,
        allow: response.headers.get('allow'),
        error: pick(await response.json(), 'error'),
      }
    }
    const socket = rawConnection(
      service.port,
      'GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    await socket.until('HTTP/1.1 426')
    socket.socket.destroy()
    expect(await ask('GET', '')).toMatchObject({ status: 405, allow: 'POST, OPTIONS' })
    for (const [method, path] of [
      ['GET', '/resp_1'],
      ['DELETE', '/resp_1'],
      ['POST', '/resp_1/cancel'],
      ['GET', '/resp_1/input_items'],
    ] as const)
      expect(await ask(method, path)).toMatchObject({
        status: 404,
        error: { code: 'not_found', message: expect.stringContaining('stores no responses') },
      })
  })
})

describe('POST /v1/responses at a provider that speaks it', () => {
  const native = { formats: ['responses'] }
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'theirs' }
  const item = { id: 'msg_1', type: 'message', role: 'assistant' }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const named = (type: string, sequence_number: number, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...members })}\n\n`
  const begun = [
    named('response.created', 0, { response: { ...head, status: 'in_progress', output: [] } }),
    named('response.in_progress', 1, { response: { ...head, status: 'in_progress', output: [] } }),
  ]
  const beginning = [
    ...begun,
    named('response.output_item.added', 2, { output_index: 0, item: { ...item, content: [] } }),
    named('response.content_part.added', 3, { ...place, part: { type: 'output_text', text: '' } }),
  ]
  const deltas = (...texts: readonly string[]) =>
    texts.map((delta, index) =>
      named('response.output_text.delta', 4 + index, { ...place, delta, logprobs: [], obfuscation: 'x' }),
    )
  const ending = (text: string, at: number) => {
    const output = [{ ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }]
    return [
      named('response.output_text.done', at, { ...place, text, logprobs: [] }),
      named('response.content_part.done', at + 1, { ...place, part: output[0]?.content[0] }),
      named('response.output_item.done', at + 2, { output_index: 0, item: output[0] }),
      named('response.completed', at + 3, {
        response: {
          ...head,
          status: 'completed',
          output,
          usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
        },
      }),
    ]
  }
  const streams =
    (events: readonly string[]): Script =>
    async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), ...events.map(framed), lastChunk]))
    }

  test('passes the request and the stream through, byte for byte, but for the model', async () => {
    const events = [...beginning, ...deltas('Hel', 'lo'), ...ending('Hello', 6)]
    using up = faultUpstream(streams(events))
    const models = [{ name: 'm', upstream: 'vendor/m' }]
    await using service = await startService({ providers: [provider('a', up.url, [], { ...native, models })] })
    const text =
      ' {"model":"m", "input":[{"role":"user","content":"hi"}],"stream":true,"store":true,' +
      '"x":9007199254740993,"tools":[{"type":"web_search"}]}'
    const answer = await fetch(`${service.url}/v1/responses`, { method: 'POST', body: text })
    expect(await answer.text()).toBe([...events, done].join(''))
    expect(answer.headers.get('x-svc-dropped')).toBeNull()
    expect(new TextDecoder().decode(up.hits[0]?.body)).toBe(text.replace('"m"', '"vendor/m"'))
    expect(up.hits[0]?.path).toBe('/v1/responses')
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({ promptTokens: 3, completionTokens: 4 })
  })

  test('passes a whole answer through, and converts between both kinds', async () => {
    const output = [
      { ...item, status: 'completed', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
    ]
    const whole = JSON.stringify({ ...head, status: 'completed', output, usage: null })
    using up = faultUpstream((exchange) => exchange.write(reply(200, whole)))
    await using service = await startService({ providers: [provider('a', up.url, ['m'], native)] })
    expect((await post(service.url, { model: 'm', input: 'hi' })).text).toBe(whole)
    expect((await clientOf(service).responses.stream({ model: 'm', input: 'hi' }).finalResponse()).output_text).toBe(
      'Hello',
    )
    up.use(streams([...beginning, ...deltas('Hello'), ...ending('Hello', 5)]))
    expect((await clientOf(service).responses.create({ model: 'm', input: 'hi' })).output_text).toBe('Hello')
  })

  const failed = { ...head, status: 'failed', error: { code: 'server_error', message: 'no' } }
  test.each([
    [
      'an error event',
      named('error', 2, { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'no' } }),
    ],
    ['a flat error event', named('error', 2, { code: 'server_error', message: 'no', param: null })],
    ['a failed response', named('response.failed', 2, { response: failed })],
  ])('moves on after the first two events and %s', async (_, end) => {
    using first = faultUpstream(streams([...begun, end]))
    using second = faultUpstream(good())
    await using service = await startService({
      providers: [provider('a', first.url, ['m'], native), provider('b', second.url)],
    })
    const { text, headers } = await post(service.url, { model: 'm', input: 'hi', stream: true })
    expect(headers.get('x-svc-provider')).toBe('b')
    expect(text).not.toContain('"resp_1"')
    expect(text).toContain('response.completed')
  })

  test('never completes an answer with an open call, nor takes events of another format for content', async () => {
    const item = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
    const call = named('response.output_item.added', 2, { output_index: 0, item })
    using open = faultUpstream(streams([...begun, call, ...ending('', 3).slice(-1)]))
    using foreign = faultUpstream(streams([event(chunk({ content: 'never' })), event(chunk({}, 'stop')), done]))
    using whole = faultUpstream(streams([...beginning, ...deltas('Hello'), ...ending('Hello', 5)]))
    await using service = await startService({
      providers: [
        provider('a', open.url, ['open'], native),
        provider('b', foreign.url, ['foreign'], native),
        provider('c', whole.url, ['foreign'], native),
      ],
    })
    const { text } = await post(service.url, { model: 'open', input: 'hi', stream: true })
    expect(text).toContain('event: response.failed')
    expect(text).not.toContain('response.completed')
    const answer = await clientOf(service).responses.stream({ model: 'foreign', input: 'hi' }).finalResponse()
    expect([answer.output_text, foreign.hits.length, whole.hits.length]).toEqual(['Hello', 1, 1])
  })

  test('counts tokens and compacts there, and nowhere else', async () => {
    using up = faultUpstream((exchange) =>
      exchange.write(
        reply(
          200,
          JSON.stringify(
            exchange.hit.path.endsWith('/compact')
              ? { object: 'response.compaction', output: [] }
              : { object: 'response.input_tokens', input_tokens: 7 },
          ),
        ),
      ),
    )
    await using service = await startService({
      providers: [provider('a', up.url, ['m'], native), provider('b', up.url, ['chat'])],
    })
    const ask = async (path: string, model: string) => {
      const response = await fetch(`${service.url}/v1/responses/${path}`, {
        method: 'POST',
        body: JSON.stringify({ model, input: 'hi' }),
      })
      return [response.status, response.headers.get('x-should-retry'), await response.json()]
    }
    expect(await ask('input_tokens', 'm')).toEqual([200, null, { object: 'response.input_tokens', input_tokens: 7 }])
    expect(await ask('compact', 'm')).toEqual([200, null, { object: 'response.compaction', output: [] }])
    expect(up.hits.map(({ path }) => path)).toEqual(['/v1/responses/input_tokens', '/v1/responses/compact'])
    expect(await ask('input_tokens', 'chat')).toEqual([200, null, { object: 'response.input_tokens', input_tokens: 1 }])
    expect(await ask('compact', 'chat')).toMatchObject([501, 'false', { error: { code: 'not_supported' } }])
    for (const path of ['input_tokens', 'compact']) {
      expect(await ask(path, 'unknown')).toMatchObject([404, 'false', { error: { code: 'model_not_found' } }])
    }
  })
})
