import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { Response as Answer, ResponseInput, ResponseStreamEvent, Tool } from 'openai/resources/responses/responses'
import { parseJson, pick, rawConnection } from './client.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { cuts } from './fakes/faults/cut.ts'
import { status } from './fakes/faults/status.ts'
import { good, goodText } from './fakes/good.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, quick, startService, type ServiceUnderTest } from './harness.ts'

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

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = []
  for await (const each of stream) events.push(each)
  return events
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

  test('@openai/agents › a tool loop, whole and streamed', async () => {
    up.use(callsThenSays(['weather', '{"city":"Rome"}']))
    const agent = new Agent({
      name: 'a',
      model: 'm',
      tools: [
        agentTool({
          name: 'weather',
          description: 'd',
          parameters: schema as never,
          strict: true,
          execute: () => 'hot',
        }),
      ],
    })
    const modelProvider = new OpenAIProvider({ baseURL: `${service.url}/v1`, apiKey: 'any', useResponses: true })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    expect((await runner.run(agent, 'hi')).finalOutput).toBe('It is hot.')
    const streamed = await runner.run(agent, 'hi', { stream: true })
    await streamed.completed
    expect(streamed.finalOutput).toBe('It is hot.')
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
    const up = faultUpstream(good())
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
    up.stop()
  })

  test('ends at once for clients that would ask again and again', async () => {
    const up = faultUpstream(status(401))
    await using service = await startService({ providers: [provider('up', up.url)] })
    const stream = { model: 'm', input: 'hi', stream: true }
    const refused = await post(service.url, stream)
    expect(refused.status).toBe(200)
    expect(refused.headers.get('x-svc-trail')).toStartWith('up;status=401')
    const events = [...refused.text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data]) => [
      name,
      parseJson(data ?? ''),
    ])
    expect(events).toMatchObject([
      ['response.created', { sequence_number: 0, response: { status: 'in_progress' } }],
      [
        'response.failed',
        {
          sequence_number: 1,
          response: {
            status: 'failed',
            error: { code: 'invalid_prompt', message: expect.stringContaining('up: status 401') },
          },
        },
      ],
    ])
    expect((await post(service.url, { ...stream, stream: false })).status).toBe(502)
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({ status: 200, error: 'provider_error' })
    up.stop()
  })

  test('has 429 with a wait where another attempt may help, and 400 where the request is at fault', async () => {
    const up = faultUpstream(status(503))
    await using service = await startService({ providers: [provider('up', up.url)] })
    const stream = { model: 'm', input: 'hi', stream: true }
    const busy = await post(service.url, stream)
    expect([busy.status, busy.headers.get('retry-after'), pick(busy.json, 'error', 'code')]).toEqual([
      429,
      '1',
      'provider_error',
    ])
    up.use(status(400))
    expect((await post(service.url, stream)).status).toBe(400)
    up.stop()
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

  test('tries the next provider when one breaks before its first token, and is recorded', async () => {
    const first = faultUpstream(says([]))
    first.use((exchange) =>
      exchange.write(
        Buffer.concat([
          Buffer.from(streamHead),
          framed(event({ error: { message: 'no', code: 'overloaded' } })),
          lastChunk,
        ]),
      ),
    )
    const second = faultUpstream(good())
    await using service = await startService({ providers: [provider('a', first.url), provider('b', second.url)] })
    const answer = await clientOf(service).responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(answer.output_text).toBe(goodText())
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({ api: 'responses', model: 'm', provider: 'b', stream: true })
    for (const each of [first, second]) each.stop()
  })

  test('speaks to Anthropic and Gemini', async () => {
    const anthropic = faultUpstream((exchange) =>
      exchange.write(
        reply(
          200,
          JSON.stringify({
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'claude',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
              { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Rome' } },
            ],
            stop_reason: 'tool_use',
            usage: { input_tokens: 1, output_tokens: 2 },
          }),
        ),
      ),
    )
    const gemini = faultUpstream((exchange) =>
      exchange.write(
        reply(
          200,
          JSON.stringify({
            candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
          }),
        ),
      ),
    )
    const base = ({ url }: FaultUpstream) => url.replace(/\/v1$/, '')
    await using service = await startService({
      providers: [
        provider('a', base(anthropic), ['claude-sonnet-4-5'], { protocol: 'anthropic', api_key: 'k' }),
        provider('g', base(gemini), ['gemini-3-pro'], { protocol: 'gemini', api_key: 'k' }),
      ],
    })
    const { responses } = clientOf(service)
    const asked = {
      model: 'claude-sonnet-4-5',
      tools: [weather],
      reasoning: { effort: 'high' as const },
      include: ['reasoning.encrypted_content' as const],
      max_output_tokens: 9_000,
    }
    const question: ResponseInput = [{ role: 'user', content: 'hi' }]
    const first = await responses.create({ ...asked, input: question })
    expect(first.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { type: 'function_call', call_id: 'toolu_1', arguments: '{"city":"Rome"}' },
    ])
    const result = { type: 'function_call_output' as const, call_id: 'toolu_1', output: 'hot' }
    await responses.create({ ...asked, input: [...question, ...(first.output as ResponseInput), result] })
    expect(lastSent(anthropic)).toMatchObject({
      messages: [
        {},
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
            { type: 'tool_use', id: 'toolu_1', input: { city: 'Rome' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'hot' }] },
      ],
    })
    expect((await responses.create({ model: 'gemini-3-pro', input: 'hi' })).output_text).toBe('Hello.')
    for (const each of [anthropic, gemini]) each.stop()
  })
})

describe('a stream of POST /v1/responses that is cut', () => {
  test.each(cuts.map((cut) => [`row ${cut.row} › ${cut.words}`, cut] as const))(
    '%s › is resumed with its ids and numbers',
    async (_, cut) => {
      const first = faultUpstream(cut.script)
      const same = faultUpstream(good({ name: 'same', tokens: 6 }))
      await using service = await startService({
        providers: [provider('a', first.url, ['m'], quick), provider('b', same.url)],
      })
      const client = clientOf(service)
      const events = await collect(await client.responses.create({ model: 'm', input: 'hi', stream: true }))
      const text = goodText({ name: 'same', tokens: 6 })
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, index) => index))
      expect(new Set(events.flatMap((each) => ('response' in each ? [each.response.id] : []))).size).toBe(1)
      expect(new Set(events.flatMap((each) => ('item_id' in each ? [each.item_id] : []))).size).toBe(1)
      expect(events.flatMap((each) => (each.type === 'response.output_text.done' ? [each.text] : []))).toEqual([text])
      const last = events.at(-1)
      expect(last?.type === 'response.completed' && last.response.output).toMatchObject([{ content: [{ text }] }])
      const strict = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
      expect(strict.output_text).toBe(text)
      for (const each of [first, same]) each.stop()
    },
  )

  test('and that no provider resumes ends with an error and the failed response', async () => {
    const first = faultUpstream(cuts[0]?.script)
    await using service = await startService({ providers: [provider('a', first.url, ['m'], quick)] })
    const { text } = await post(service.url, { model: 'm', input: 'hi', stream: true })
    const events = text
      .split('\n\n')
      .flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? [])
      .map(parseJson)
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', message: expect.stringContaining('cut off'), error: { code: 'server_error' } },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
    ])
    expect(events.map((each) => pick(each, 'sequence_number'))).toEqual(events.map((_event, index) => index))
    expect(text).not.toContain('output_item.done')
    expect(text).not.toContain('[DONE]')
    first.stop()
  })

  test('inside a call never ends the call', async () => {
    const pieces = [
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } }] }),
    ]
    const first = faultUpstream(async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), ...pieces.map(event).map(framed)]))
      exchange.close()
    })
    const second = faultUpstream(good())
    await using service = await startService({ providers: [provider('a', first.url), provider('b', second.url)] })
    const { text } = await post(service.url, { model: 'm', input: 'hi', stream: true })
    expect(text).toContain('response.function_call_arguments.delta')
    expect(text).not.toMatch(/(?:arguments|output_item)\.done/)
    expect(text).toContain('event: response.failed')
    for (const each of [first, second]) each.stop()
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
    const up = faultUpstream(streams(events))
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
    up.stop()
  })

  test('passes a whole answer through, and converts between both kinds', async () => {
    const output = [
      { ...item, status: 'completed', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
    ]
    const whole = JSON.stringify({ ...head, status: 'completed', output, usage: null })
    const up = faultUpstream((exchange) => exchange.write(reply(200, whole)))
    await using service = await startService({ providers: [provider('a', up.url, ['m'], native)] })
    expect((await post(service.url, { model: 'm', input: 'hi' })).text).toBe(whole)
    expect((await clientOf(service).responses.stream({ model: 'm', input: 'hi' }).finalResponse()).output_text).toBe(
      'Hello',
    )
    up.use(streams([...beginning, ...deltas('Hello'), ...ending('Hello', 5)]))
    expect((await clientOf(service).responses.create({ model: 'm', input: 'hi' })).output_text).toBe('Hello')
    up.stop()
  })

  const failed = { ...head, status: 'failed', error: { code: 'server_error', message: 'no' } }
  test.each([
    [
      'an error event',
      named('error', 2, { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'no' } }),
    ],
    ['a flat error event', named('error', 2, { code: 'server_error', message: 'no', param: null })],
    ['a failed response', named('response.failed', 2, { response: failed })],
    ['nothing', ''],
  ])('moves on after the first two events and %s', async (_, end) => {
    const first = faultUpstream(streams([...begun, end]))
    const second = faultUpstream(good())
    await using service = await startService({
      providers: [provider('a', first.url, ['m'], native), provider('b', second.url)],
    })
    const { text, headers } = await post(service.url, { model: 'm', input: 'hi', stream: true })
    expect(headers.get('x-svc-provider')).toBe('b')
    expect(text).not.toContain('"resp_1"')
    expect(text).toContain('response.completed')
    for (const each of [first, second]) each.stop()
  })

  test.each([
    [
      'that speaks it too',
      streams([
        ...beginning,
        ...deltas('same-0 ', 'same-1 ', 'same-2 ', 'same-3 '),
        ...ending('same-0 same-1 same-2 same-3 ', 8),
      ]),
      native,
    ],
    ['of chat completions', good({ name: 'same', tokens: 4 }), {}],
  ])('resumes a cut stream at a provider %s, with its ids and numbers', async (_, script, more) => {
    const first = faultUpstream(async (exchange) => {
      await exchange.write(
        Buffer.concat([Buffer.from(streamHead), ...[...beginning, ...deltas('same-0 ', 'same-1 ')].map(framed)]),
      )
      exchange.close()
    })
    const second = faultUpstream(script)
    await using service = await startService({
      providers: [provider('a', first.url, ['m'], native), provider('b', second.url, ['m'], more)],
    })
    const events = await collect(await clientOf(service).responses.create({ model: 'm', input: 'hi', stream: true }))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, index) => index))
    expect(new Set(events.flatMap((each) => ('response' in each ? [each.response.id] : []))).size).toBe(1)
    expect(new Set(events.flatMap((each) => ('item_id' in each ? [each.item_id] : []))).size).toBe(1)
    const strict = await clientOf(service).responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect([strict.id, strict.output_text]).toEqual(['resp_1', 'same-0 same-1 same-2 same-3 '])
    for (const each of [first, second]) each.stop()
  })

  test('never ends a call that was cut', async () => {
    const call = named('response.output_item.added', 2, {
      output_index: 0,
      item: { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
    })
    const up = faultUpstream(
      streams([
        ...begun,
        call,
        named('response.function_call_arguments.delta', 3, { item_id: 'fc_1', output_index: 0, delta: '{"a' }),
      ]),
    )
    await using service = await startService({ providers: [provider('a', up.url, ['m'], native)] })
    const { text } = await post(service.url, { model: 'm', input: 'hi', stream: true })
    expect(text).not.toMatch(/(?:arguments|output_item)\.done/)
    expect(text).toEndWith('\n\n')
    expect(text).toMatch(/event: error\n.*\n\nevent: response\.failed\n/)
    up.stop()
  })

  test('never completes an answer with an open call, nor takes events of another format for content', async () => {
    const item = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
    const call = named('response.output_item.added', 2, { output_index: 0, item })
    const open = faultUpstream(streams([...begun, call, ...ending('', 3).slice(-1)]))
    const foreign = faultUpstream(streams([event(chunk({ content: 'never' })), event(chunk({}, 'stop')), done]))
    const whole = faultUpstream(streams([...beginning, ...deltas('Hello'), ...ending('Hello', 5)]))
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
    for (const each of [open, foreign, whole]) each.stop()
  })

  test('counts tokens and compacts there, and nowhere else', async () => {
    const up = faultUpstream((exchange) =>
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
    for (const path of ['input_tokens', 'compact']) {
      expect(await ask(path, 'chat')).toMatchObject([501, 'false', { error: { code: 'not_supported' } }])
      expect(await ask(path, 'unknown')).toMatchObject([404, 'false', { error: { code: 'model_not_found' } }])
    }
    up.stop()
  })
})
