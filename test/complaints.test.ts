import { afterAll, describe, expect, test } from 'bun:test'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { chatLanguage } from './fakes/languages/chat.ts'
import { geminiLanguage } from './fakes/languages/gemini.ts'
import { answering, breaking, eventsOf, type Language, type Piece } from './fakes/languages/language.ts'
import { messagesLanguage } from './fakes/languages/messages.ts'
import { responsesLanguage } from './fakes/languages/responses.ts'
import { chunk, done, event, framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { startService, type ServiceOptions } from './harness.ts'

/**
 * What users of other gateways complain about, one test for each complaint. Callers are Claude Code and Codex, mostly
 * before providers that speak another format.
 */

/** A scripted provider in a language, and further members of its entry. */
interface Scripted {
  readonly language: Language
  readonly script: Script
  readonly entry?: Readonly<Record<string, unknown>>
}

/** Starts a service with these providers for model `m`, in order. `await using` stops all. */
async function serve(scripted: readonly Scripted[], options?: ServiceOptions) {
  const upstreams = scripted.map(({ script }) => faultUpstream(script))
  const service = await startService(
    {
      providers: scripted.map(({ language, entry }, index) => ({
        id: `p${index}`,
        base_url:
          upstreams[index]?.url.replace(
            /\/v1$/,
            language === chatLanguage || language === responsesLanguage ? '/v1' : '',
          ) ?? '',
        api_key: 'k',
        models: ['m'],
        ...language.provider.entry,
        ...entry,
      })),
    },
    options,
  )
  return {
    upstreams,
    service,
    /** Sends a request with headers, and reads the answer. */
    async post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
      const response = await fetch(`${service.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: parseJson(text) }
    },
    async [Symbol.asyncDispose]() {
      for (const each of upstreams) each.stop()
      await service.stop()
    },
  }
}

function says(language: Language, ...pieces: readonly Piece[]): Scripted {
  return { language, script: answering(language, pieces) }
}

/** Sends these events. */
function streams(language: Language, events: readonly string[]): Scripted {
  const bytes = Buffer.concat([Buffer.from(streamHead), ...events.map(framed), lastChunk])
  return { language, script: ({ write }) => write(bytes) }
}

function refuses(language: Language, status: number, error: object): Scripted {
  return { language, script: ({ write }) => write(reply(status, JSON.stringify(error))) }
}

const greetings = new Map<Language, Promise<Awaited<ReturnType<typeof serve>>>>()

/** One service for all tests whose provider of a language says hello. Its upstream has forgotten earlier requests. */
async function greeting(language: Language) {
  const started = greetings.get(language) ?? serve([says(language, hello)])
  greetings.set(language, started)
  const rig = await started
  rig.upstreams[0]?.forget()
  return rig
}

afterAll(async () => {
  for (const started of greetings.values()) await (await started)[Symbol.asyncDispose]()
})

function bodyOf(upstream: FaultUpstream | undefined, index = -1): unknown {
  return parseJson(new TextDecoder().decode(upstream?.hits.at(index)?.body))
}

const text = (words: string): Piece => ({ kind: 'text', text: words })
const hello = text('Hello.')
const weather = { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }
const asked = { model: 'm', max_tokens: 9_000, messages: [{ role: 'user', content: 'hi' }] }
const messages = '/v1/messages?beta=true'
const readMessages = (body: string) => messagesLanguage.caller.read(body, true)

describe('complaint', () => {
  test('1 › blocks interleaved, with a wrong index: parallel calls come one after the other', async () => {
    const call = (index: number, args: string, id?: string) =>
      event(
        chunk({
          tool_calls: [
            {
              index,
              ...(id === undefined ? {} : { id, type: 'function' }),
              function: { ...(id === undefined ? {} : { name: 'weather' }), arguments: args },
            },
          ],
        }),
      )
    const events = [
      call(0, '{"city":', 'a'),
      call(1, '{"city":', 'b'),
      call(0, '"Rome"}'),
      call(1, '"Oslo"}'),
      event(chunk({}, 'tool_calls')),
      done,
    ]
    await using rig = await serve([streams(chatLanguage, events)])
    const answer = readMessages((await rig.post(messages, { ...asked, tools: [weather], stream: true })).text)
    expect(answer).toMatchObject({
      isComplete: true,
      calls: [
        { id: 'a', input: { city: 'Rome' } },
        { id: 'b', input: { city: 'Oslo' } },
      ],
    })
  })

  test('2 › invalid thinking signature after a switch: asked again without it', async () => {
    const thinking: Piece = { kind: 'thinking', text: 'Hm.', seal: 'theirs' }
    await using rig = await serve([
      {
        language: messagesLanguage,
        script: (exchange) =>
          new TextDecoder().decode(exchange.hit.body).includes('theirs')
            ? exchange.write(
                reply(
                  400,
                  JSON.stringify({
                    type: 'error',
                    error: {
                      type: 'invalid_request_error',
                      message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
                    },
                  }),
                ),
              )
            : answering(messagesLanguage, [hello])(exchange),
      },
    ])
    const turn = messagesLanguage.caller.read(
      JSON.stringify(messagesLanguage.provider.whole([thinking, hello])),
      false,
    ).turn
    const history = [...asked.messages, { role: 'assistant', content: turn }, { role: 'user', content: 'go on' }]
    const { status, json } = await rig.post(messages, { ...asked, messages: history })
    expect([status, pick(json, 'content', 0, 'text')]).toEqual([200, 'Hello.'])
    expect(rig.upstreams[0]?.hits).toHaveLength(2)
  })

  test('3 › count_tokens missing or wrong: counted by Messages, else estimated, and nobody is asked', async () => {
    const rig = await greeting(chatLanguage)
    const { max_tokens: _, ...counted } = asked
    const { status, headers } = await rig.post('/v1/messages/count_tokens', counted)
    expect([status, headers.get('x-svc-estimated'), rig.upstreams[0]?.hits.length]).toEqual([200, '1', 0])
    await using native = await serve([refuses(messagesLanguage, 200, { input_tokens: 14 })])
    expect((await native.post('/v1/messages/count_tokens', counted)).json).toEqual({ input_tokens: 14 })
  })

  test('4 › the attribution line changes, so that the cache never hits: left out in translation', async () => {
    const rig = await greeting(chatLanguage)
    const native = await greeting(messagesLanguage)
    const line = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.330; cch=1a2b3;' }
    const system = [line, { type: 'text', text: 'You are an agent.' }]
    for (const each of [rig, native]) expect((await each.post(messages, { ...asked, system })).status).toBe(200)
    expect(pick(bodyOf(rig.upstreams[0]), 'messages', 0)).toEqual({ role: 'system', content: 'You are an agent.' })
    expect(pick(bodyOf(native.upstreams[0]), 'system')).toEqual(system)
  })

  test('5 › anthropic-beta lost, or sent to who rejects it: only for Messages', async () => {
    for (const [language, expected] of [
      [messagesLanguage, 'a-1,b-2'],
      [chatLanguage, undefined],
    ] as const) {
      const rig = await greeting(language)
      expect((await rig.post(messages, asked, { 'anthropic-beta': 'a-1,b-2' })).status).toBe(200)
      expect(rig.upstreams[0]?.hits[0]?.headers.get('anthropic-beta')).toBe(expected)
    }
  })

  test('6 › context_management as an extra input: left out and named, or the provider’s sentence', async () => {
    const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }
    const rig = await greeting(chatLanguage)
    const { status, headers } = await rig.post(messages, { ...asked, context_management })
    expect([status, headers.get('x-svc-dropped')]).toEqual([200, 'context_management'])
    expect(bodyOf(rig.upstreams[0])).not.toHaveProperty('context_management')
    const message = 'context_management: Extra inputs are not permitted'
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message } }
    await using native = await serve([refuses(messagesLanguage, 400, refusal)])
    const refused = await native.post(messages, { ...asked, context_management })
    expect([refused.status, String(pick(refused.json, 'error', 'message'))]).toEqual([
      400,
      expect.stringContaining(message),
    ])
  })

  test('7 › usage of 0, so that nothing is compacted: the end of a stream has the input', async () => {
    for (const language of [chatLanguage, geminiLanguage]) {
      const rig = await greeting(language)
      const { text: stream } = await rig.post(messages, { ...asked, stream: true })
      expect(readMessages(stream).usage).toEqual([3, 5])
    }
    // A provider that counts nothing: an estimate, since 0 would never be compacted.
    await using silent = await serve([
      streams(chatLanguage, [event(chunk({ content: 'Hello.' })), event(chunk({}, 'stop')), done]),
    ])
    const { text: stream } = await silent.post(messages, { ...asked, stream: true })
    expect(Number(readMessages(stream).usage[0])).toBeGreaterThan(0)
    expect(pick(bodyOf(silent.upstreams[0]), 'stream_options', 'include_usage')).toBe(true)
  })

  test('8 › end_turn with a call of a tool: an answer with a call ends with tool_use', async () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }
    await using rig = await serve([
      streams(chatLanguage, [event(chunk({ tool_calls: [call] })), event(chunk({}, 'stop')), done]),
    ])
    const { text: stream } = await rig.post(messages, { ...asked, tools: [weather], stream: true })
    expect(
      eventsOf(stream)
        .map((each) => pick(each, 'delta', 'stop_reason'))
        .filter(Boolean),
    ).toEqual(['tool_use'])
  })

  test('9 › reasoning_content must come back: it goes back to chat completions', async () => {
    await using rig = await serve([
      says(
        chatLanguage,
        { kind: 'thinking', text: 'Hm.', seal: '' },
        { kind: 'call', call: { id: 'a', name: 'weather', input: {} } },
      ),
    ])
    const answer = readMessages((await rig.post(messages, { ...asked, tools: [weather], stream: true })).text)
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'hot' }
    const history = [
      ...asked.messages,
      { role: 'assistant', content: answer.turn },
      { role: 'user', content: [result] },
    ]
    await rig.post(messages, { ...asked, tools: [weather], messages: history })
    expect(pick(bodyOf(rig.upstreams[0]), 'messages', 1, 'reasoning_content')).toBe('Hm.')
  })

  test('10 › images in results of tools lost: they follow in a message of the user', async () => {
    const rig = await greeting(chatLanguage)
    const source = { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' }
    const content = [
      { type: 'text', text: 'see' },
      { type: 'image', source },
    ]
    const call = { type: 'tool_use', id: 'a', name: 'weather', input: {} }
    const result = { type: 'tool_result', tool_use_id: 'a', content }
    const history = [...asked.messages, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }]
    expect((await rig.post(messages, { ...asked, tools: [weather], messages: history })).status).toBe(200)
    const sent = pick(bodyOf(rig.upstreams[0]), 'messages')
    expect(sent).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'a' },
      { role: 'user' },
    ])
    expect(JSON.stringify(pick(sent, 3))).toContain('data:image/png;base64,aGVsbG8=')
  })

  test('11 › the input of a tool is empty, since it came only at the end: read wherever it is', async () => {
    const start = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Rome' } },
    }
    const named = (data: { readonly type: string }) => `event: ${data.type}\n${event(data)}`
    const events = [
      ...messagesLanguage.provider.begin(),
      named(start),
      named({ ...{ index: 0 }, type: 'content_block_stop' }),
    ]
    const end = messagesLanguage.provider.end([{ kind: 'call', call: { id: 'a', name: 'weather', input: {} } }])
    await using rig = await serve([streams(messagesLanguage, [...events, ...end])])
    const { text: stream } = await rig.post('/v1/responses', {
      model: 'm',
      input: 'hi',
      stream: true,
      tools: [{ type: 'function', name: 'weather', parameters: {} }],
    })
    expect(responsesLanguage.caller.read(stream, true)).toMatchObject({
      isComplete: true,
      calls: [{ input: { city: 'Rome' } }],
    })
    const parts = [
      event(chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'weather' } }] })),
    ]
    const late = event(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Rome"}' } }] }, 'tool_calls'))
    await using chat = await serve([streams(chatLanguage, [...parts, late, done])])
    const answer = readMessages((await chat.post(messages, { ...asked, tools: [weather], stream: true })).text)
    expect(answer).toMatchObject({ isComplete: true, calls: [{ input: { city: 'Rome' } }] })
  })

  test('12 › a system message in the conversation is refused: it stays in its place', async () => {
    const history = [...asked.messages, { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'go on' }]
    for (const language of [chatLanguage, geminiLanguage, messagesLanguage]) {
      const rig = await greeting(language)
      expect((await rig.post(messages, { ...asked, messages: history })).status).toBe(200)
      const sent = JSON.stringify(bodyOf(rig.upstreams[0]))
      expect(sent.indexOf('"hi"')).toBeLessThan(sent.indexOf('Be brief.'))
      expect(sent.indexOf('Be brief.')).toBeLessThan(sent.indexOf('go on'))
    }
  })

  test('13 › no ping, or pings while the provider is dead: only while one may answer', async () => {
    const silent: Scripted = {
      language: chatLanguage,
      script: ({ hang }) => hang(),
      entry: { timeouts: { first_token_ms: 600 } },
    }
    await using rig = await serve([silent], { environment: { SVC_HEARTBEAT_MS: '50' } })
    const { text: stream } = await rig.post(messages, { ...asked, stream: true })
    expect(stream).toMatch(/^(?:event: ping\ndata: \{"type": "ping"\}\n\n){2,}event: error\ndata: .*\n\n$/)
  })

  test('14 › max_tokens over the limit of the model: the provider’s sentence reaches the client', async () => {
    const message = 'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m'
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message } }
    await using rig = await serve([refuses(messagesLanguage, 400, refusal)])
    const { status, json } = await rig.post(messages, { ...asked, max_tokens: 64_000 })
    expect([status, String(pick(json, 'error', 'message'))]).toEqual([400, expect.stringContaining(message)])
  })

  test('15 › no model is discovered: names that begin with claude are listed as Messages do', async () => {
    const models = [{ name: 'claude-svc', upstream: 'm' }]
    await using rig = await serve([{ ...says(chatLanguage, hello), entry: { models } }])
    const headers = { 'anthropic-version': '2023-06-01' }
    const list = parseJson(await (await fetch(`${rig.service.url}/v1/models?limit=1000`, { headers })).text())
    expect(pick(list, 'data')).toContainEqual(expect.objectContaining({ type: 'model', id: 'claude-svc' }))
    expect((await rig.post(messages, { ...asked, model: 'claude-svc' })).status).toBe(200)
  })

  test('16 › empty texts in the history: left out in translation', async () => {
    const history = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'hi' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'user', content: 'go on' },
    ]
    const rig = await greeting(chatLanguage)
    expect((await rig.post(messages, { ...asked, messages: history })).status).toBe(200)
    expect(JSON.stringify(bodyOf(rig.upstreams[0]))).not.toContain('""')
  })

  test('17 › schemas with null: left out in translation', async () => {
    const input_schema = {
      type: 'object',
      properties: { a: { type: 'object', properties: null, required: null } },
      required: null,
    }
    for (const language of [chatLanguage, geminiLanguage]) {
      const rig = await greeting(language)
      expect((await rig.post(messages, { ...asked, tools: [{ name: 'weather', input_schema }] })).status).toBe(200)
      expect(JSON.stringify(bodyOf(rig.upstreams[0]))).not.toContain('null')
    }
  })

  test('18 › signatures of Gemini are bound to one endpoint: another does not get them', async () => {
    const call: Piece = { kind: 'call', call: { id: '', name: 'weather', input: {} } }
    await using rig = await serve([
      { ...says(geminiLanguage, call), entry: { models: ['gemini-3-pro'] } },
      { ...says(geminiLanguage, hello), entry: { models: ['gemini-3-flash'] } },
    ])
    const tools = [weather]
    const first = await rig.post(messages, { ...asked, model: 'gemini-3-pro', tools, stream: true })
    const answer = readMessages(first.text)
    const result = { type: 'tool_result', tool_use_id: answer.calls[0]?.id, content: 'hot' }
    const history = [
      ...asked.messages,
      { role: 'assistant', content: answer.turn },
      { role: 'user', content: [result] },
    ]
    await rig.post(messages, { ...asked, model: 'gemini-3-pro', tools, messages: history })
    await rig.post(messages, { ...asked, model: 'gemini-3-flash', tools, messages: history })
    expect(JSON.stringify(bodyOf(rig.upstreams[0]))).toContain('seal-of-gemini')
    expect(JSON.stringify(bodyOf(rig.upstreams[1]))).not.toContain('seal-of-gemini')
  })

  test('19 › invalid_encrypted_content after a switch: asked again without it', async () => {
    const error = {
      message: 'The encrypted content gAAA could not be verified.',
      type: 'invalid_request_error',
      code: 'invalid_encrypted_content',
    }
    await using rig = await serve([
      {
        language: responsesLanguage,
        script: (exchange) =>
          new TextDecoder().decode(exchange.hit.body).includes('theirs')
            ? exchange.write(reply(400, JSON.stringify({ error })))
            : answering(responsesLanguage, [hello])(exchange),
      },
    ])
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'theirs' }
    const input = [
      { role: 'user', content: 'hi' },
      reasoning,
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'go on' },
    ]
    const { status } = await rig.post('/v1/responses', { model: 'm', input, store: false })
    expect([status, rig.upstreams[0]?.hits.length]).toEqual([200, 2])
  })

  test('20 › stream closed before response.completed: every stream has a last event', async () => {
    for (const language of [chatLanguage, messagesLanguage, geminiLanguage, responsesLanguage]) {
      await using rig = await serve([{ language, script: breaking(language, [hello], 'cut') }])
      const { text: stream } = await rig.post('/v1/responses', { model: 'm', input: 'hi', stream: true })
      const types = eventsOf(stream).map((each) => pick(each, 'type'))
      expect(types.at(-1)).toBe('response.failed')
      expect(types).not.toContain('response.completed')
    }
  })
})
