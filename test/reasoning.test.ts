import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { completion, event, framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceConfig } from './harness.ts'

/** The last body that an upstream received. */
function sent(upstream: FaultUpstream): unknown {
  return parseJson(new TextDecoder().decode(upstream.hits.at(-1)?.body))
}

function answers(whole: object): Script {
  return ({ write }) => write(reply(200, JSON.stringify(whole)))
}

const signature = 'CqQBthought+/='
const geminiParts = [
  { text: 'I look it up.', thought: true },
  { functionCall: { name: 'weather', args: { city: 'Rome' } }, thoughtSignature: signature },
]
const geminiAnswer = { candidates: [{ content: { role: 'model', parts: geminiParts }, finishReason: 'STOP' }] }

/** Streams Gemini's answer, or gives it whole. */
const gemini: Script = async (exchange) => {
  if (!exchange.hit.path.includes('stream')) return await answers(geminiAnswer)(exchange)
  const pieces = geminiParts.map((part, index) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, ...(index === 1 ? { finishReason: 'STOP' } : {}) }],
  }))
  await exchange.write(Buffer.concat([Buffer.from(streamHead), ...pieces.map(event).map(framed), lastChunk]))
}

const weather = { name: 'weather', input_schema: { type: 'object' as const } }
const question = { role: 'user' as const, content: 'hi' }

/** Asks as Claude Code does: the assistant's blocks go back unchanged, with the results of its calls. */
async function twoTurns(client: Anthropic, model: string, isStream: boolean, next: Anthropic = client): Promise<void> {
  const request = { model, max_tokens: 100, tools: [weather] }
  const { content } = isStream
    ? await client.messages.stream({ ...request, messages: [question] }).finalMessage()
    : await client.messages.create({ ...request, messages: [question] })
  const results = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'hot' }] : [],
  )
  await next.messages.create({
    ...request,
    messages: [question, { role: 'assistant', content }, { role: 'user', content: results }],
  })
}

function clientOf({ url }: { readonly url: string }): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 })
}

function geminiAt({ url }: FaultUpstream, api_key: string): ServiceConfig {
  const models = ['gemini-3-pro']
  return { providers: [provider('g', url.replace(/\/v1$/, ''), models, { protocol: 'gemini', api_key })] }
}

describe('the signature of a call of Gemini, for callers of Messages', () => {
  const part = (upstream: FaultUpstream) => pick(sent(upstream), 'contents', 1, 'parts', 0)

  test.each([false, true])('goes back to it, streamed: %j', async (isStream) => {
    using upstream = faultUpstream(gemini)
    await using service = await startService(geminiAt(upstream, 'k'))
    await twoTurns(clientOf(service), 'gemini-3-pro', isStream)
    expect(part(upstream)).toMatchObject({ functionCall: { name: 'weather' }, thoughtSignature: signature })
  })

  test('goes back after a restart, but not to another account', async () => {
    using upstream = faultUpstream(gemini)
    await using first = await startService(geminiAt(upstream, 'k'))
    await using same = await startService(geminiAt(upstream, 'k'))
    await using other = await startService(geminiAt(upstream, 'l'))
    await twoTurns(clientOf(first), 'gemini-3-pro', true, clientOf(same))
    expect(pick(part(upstream), 'thoughtSignature')).toBe(signature)
    await twoTurns(clientOf(first), 'gemini-3-pro', true, clientOf(other))
    expect(JSON.stringify(sent(upstream))).not.toMatch(/CqQB|svc1:/)
  })
})

describe('the members of a dialect of chat completions', () => {
  test('go back to their provider through Messages', async () => {
    const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }]
    const tool_calls = [
      {
        id: 'call_0',
        type: 'function',
        function: { name: 'weather', arguments: '{}' },
        extra_content: { google: { thought_signature: signature } },
      },
    ]
    const message = { reasoning_content: 'Hm.', thinking_blocks, tool_calls }
    using upstream = faultUpstream(answers(completion(null, { message, choice: { finish_reason: 'tool_calls' } })))
    await using service = await startService({ providers: [provider('c', upstream.url)] })
    await twoTurns(clientOf(service), 'm', false)
    expect(pick(sent(upstream), 'messages', 1)).toMatchObject({ role: 'assistant', thinking_blocks, tool_calls })
  })
})

describe('signed thinking, for callers of Responses', () => {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
  const called = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [thinking, { type: 'redacted_thinking', data: 'hidden' }, called],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2 },
  }

  test('goes back to its account and model alone', async () => {
    using upstream = faultUpstream(answers(message))
    const base = upstream.url.replace(/\/v1$/, '')
    const anthropic = (id: string, model: string, api_key: string) =>
      provider(id, base, [model], { protocol: 'anthropic', api_key })
    await using service = await startService({
      providers: [
        anthropic('a', 'claude-sonnet-4-5', 'k'),
        anthropic('b', 'claude-opus-4-6', 'k'),
        anthropic('c', 'glm-5', 'l'),
      ],
    })
    const ask = async (model: string, input: readonly unknown[]) => {
      const response = await fetch(`${service.url}/v1/responses`, {
        method: 'POST',
        body: JSON.stringify({ model, input, include: ['reasoning.encrypted_content'] }),
      })
      return pick(await response.json(), 'output')
    }
    const output = await ask('claude-sonnet-4-5', [question])
    const history = [question, ...(Array.isArray(output) ? output : [])]
    const result = { type: 'function_call_output', call_id: 'toolu_1', output: 'hot' }
    await ask('claude-sonnet-4-5', [...history, result])
    expect(pick(sent(upstream), 'messages', 1, 'content')).toMatchObject([
      thinking,
      { type: 'redacted_thinking', data: 'hidden' },
      called,
    ])
    await ask('claude-opus-4-6', [...history, result])
    expect(pick(sent(upstream), 'messages', 1, 'content')).toMatchObject([called])
    // Servers of Messages that are not Anthropic's take text without a signature.
    await ask('glm-5', [...history, result])
    expect(pick(sent(upstream), 'messages', 1, 'content')).toMatchObject([{ thinking: 'Hm.', signature: '' }, called])
    const changed = JSON.stringify([...history, result]).replace('"Hm."', '"Hm!"')
    const given: unknown = JSON.parse(changed)
    await ask('claude-sonnet-4-5', Array.isArray(given) ? given : [])
    expect(JSON.stringify(sent(upstream))).not.toMatch(/EqQB|Hm|svc1:/)
  })
})

describe('reasoning that a provider of the caller’s own format cannot read', () => {
  const said = (thinking: object) => ({ role: 'assistant', content: [thinking, { type: 'text', text: 'So.' }] })
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 2 },
  }

  async function ask(url: string, path: string, body: object) {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const header = (name: string) => response.headers.get(`x-svc-${name}`)
    return { status: response.status, trail: header('trail'), dropped: header('dropped'), json: await response.json() }
  }

  test('never reaches Anthropic, after a provider of chat completions thought without a signature', async () => {
    using chat = faultUpstream(answers(completion('So.', { message: { reasoning_content: 'Hm.' } })))
    using anthropic = faultUpstream(answers(message))
    await using service = await startService({
      providers: [provider('c', chat.url, ['chat']), provider('a', anthropic.url, ['m'], { protocol: 'anthropic' })],
    })
    const { messages } = clientOf(service)
    const { content } = await messages.create({ model: 'chat', max_tokens: 9, messages: [question] })
    expect(content).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, { type: 'text' }])
    const history = [question, { role: 'assistant' as const, content }, question]
    await messages.create({ model: 'm', max_tokens: 9, messages: history })
    expect(pick(sent(anthropic), 'messages', 1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'So.' }],
    })
  })

  test('of another account of Anthropic is left out once it is refused, and the trail says so', async () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
    const refusal = {
      message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      type: 'invalid_request_error',
    }
    using upstream = faultUpstream(({ hit, write }) =>
      write(
        new TextDecoder().decode(hit.body).includes('EqQB')
          ? reply(400, JSON.stringify({ type: 'error', error: refusal }))
          : reply(200, JSON.stringify(message)),
      ),
    )
    await using service = await startService({
      providers: [provider('a', upstream.url, ['m'], { protocol: 'anthropic' })],
    })
    const request = { model: 'm', max_tokens: 9, messages: [question, said(signed), question] }
    const { status, trail, dropped } = await ask(service.url, '/v1/messages', request)
    expect([status, upstream.hits.length, dropped]).toEqual([200, 2, 'reasoning'])
    expect(trail).toMatch(
      /^a;status=400;class=bad_request;ms=\d+, a;status=200;dropped=reasoning;served=claude;ms=\d+$/,
    )
    expect(pick(sent(upstream), 'messages', 1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'So.' }] })
  })

  test('of another organisation of OpenAI is left out once it is refused; that of svc is never sent', async () => {
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [] }
    const error = { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' }
    using upstream = faultUpstream(({ hit, write }) =>
      write(
        new TextDecoder().decode(hit.body).includes('gAAA')
          ? reply(400, JSON.stringify({ error }))
          : reply(
              200,
              JSON.stringify({
                ...response,
                output: [
                  { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
                ],
              }),
            ),
      ),
    )
    await using service = await startService({
      providers: [provider('a', upstream.url, ['m'], { formats: ['responses'] })],
    })
    const input = [
      { type: 'reasoning', id: 'rs_svc1_0', summary: [{ type: 'summary_text', text: 'plain' }] },
      { type: 'reasoning', summary: [], encrypted_content: 'svc1:x' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { role: 'assistant', content: 'So.' },
      question,
    ]
    expect(await ask(service.url, '/v1/responses', { model: 'm', input })).toMatchObject({
      status: 200,
      dropped: 'reasoning',
    })
    expect(upstream.hits.map(({ body }) => pick(parseJson(new TextDecoder().decode(body)), 'input'))).toEqual([
      input.slice(2),
      input.slice(3),
    ])
  })

  test('of another account of Google is left out once it is refused', async () => {
    const refusal = { error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' } }
    using upstream = faultUpstream(({ hit, write }) =>
      write(
        new TextDecoder().decode(hit.body).includes('CqQB')
          ? reply(400, JSON.stringify(refusal))
          : reply(200, JSON.stringify(geminiAnswer)),
      ),
    )
    await using service = await startService(geminiAt(upstream, 'k'))
    const functionCall = { name: 'weather', args: {} }
    const request = {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall, thoughtSignature: 'CqQB' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'hot' } } }] },
      ],
    }
    const { status, trail, dropped } = await ask(service.url, '/v1beta/models/gemini-3-pro:generateContent', request)
    expect([status, dropped, upstream.hits.length]).toEqual([200, 'reasoning', 2])
    expect(trail).toMatch(/^g;status=400;class=bad_request;ms=\d+, g;status=200;dropped=reasoning;ms=\d+$/)
    expect(pick(sent(upstream), 'contents', 1, 'parts', 0)).toEqual({
      functionCall,
      thoughtSignature: 'skip_thought_signature_validator',
    })
  })

  test('is named only where the provider that answers is not sent it', async () => {
    using failing = faultUpstream(({ write }) => write(reply(500, '{}')))
    using anthropic = faultUpstream(answers(message))
    await using service = await startService({
      providers: [provider('c', failing.url, ['m']), provider('a', anthropic.url, ['m'], { protocol: 'anthropic' })],
    })
    const request = (thinking: object) => ({
      model: 'm',
      max_tokens: 9,
      messages: [question, said(thinking), question],
    })
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
    expect(await ask(service.url, '/v1/messages', request(signed))).toMatchObject({ status: 200, dropped: null })
    expect(pick(sent(anthropic), 'messages', 1, 'content', 0)).toEqual(signed)
    const wrapped = { ...signed, signature: 'svc1:x:tEqQB' }
    expect(await ask(service.url, '/v1/messages', request(wrapped))).toMatchObject({ dropped: 'reasoning' })
    failing.use(answers(completion('Hi.')))
    expect(await ask(service.url, '/v1/messages', request(signed))).toMatchObject({ dropped: 'reasoning' })
  })

  test('is named for callers of chat completions, too', async () => {
    const models = ['m', 'claude', 'gemini', 'groq']
    using chats = faultUpstream(answers(completion('Hi.')))
    using anthropic = faultUpstream(answers(message))
    using google = faultUpstream(answers(geminiAnswer))
    await using service = await startService({
      providers: [
        provider('c', chats.url, ['m']),
        provider('d', chats.url, ['groq'], { reasoning_history: 'drop' }),
        provider('a', anthropic.url, ['claude'], { protocol: 'anthropic' }),
        provider('g', google.url.replace(/\/v1$/, ''), ['gemini'], { protocol: 'gemini' }),
      ],
    })
    const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }]
    const dropped = async (reasoning: object) => {
      const messages = [question, { role: 'assistant', content: 'Hi.', ...reasoning }, question]
      const all = models.map((model) => ask(service.url, '/v1/chat/completions', { model, messages }))
      return (await Promise.all(all)).map((answer) => answer.dropped)
    }
    expect(await dropped({})).toEqual([null, null, null, null])
    expect(await dropped({ reasoning_content: 'Hm.' })).toEqual([null, 'reasoning', 'reasoning', 'reasoning'])
    expect(await dropped({ thinking_blocks })).toEqual([null, null, 'reasoning', 'reasoning'])
  })
})
