import { describe, expect, test } from 'bun:test'
import { answerOf, parseJson, pick, type Answer } from './client.ts'
import { faultUpstream, type FaultUpstream } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import {
  anthropic,
  chatOnly,
  callEvents,
  ended,
  gemini,
  named,
  answers,
  started,
  stopped,
  type FormatFake,
} from './fakes/format-fakes.ts'
import { chunk, done, event, framed, lastChunk, reply, streamHead, usageChunk } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const question = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
const usage = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 }
const tools = [
  {
    functionDeclarations: [
      {
        name: 'weather',
        description: 'Tells the weather.',
        parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
  },
]

/** A service with these providers in order, all for the model `m`. */
function serviceOf(...providers: readonly (readonly [FaultUpstream, FormatFake])[]): Promise<ServiceUnderTest> {
  return startService({
    providers: providers.map(([upstream, { protocol }], index) =>
      provider(`p${index}`, upstream.url, ['m'], { protocol, api_key: 'k' }),
    ),
  })
}

interface Asked {
  readonly action?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

async function ask({ url }: Pick<ServiceUnderTest, 'url'>, body: unknown, asked: Asked = {}): Promise<Answer> {
  const { action = 'generateContent', path = `/v1beta/models/m:${action}`, headers = {}, signal } = asked
  const response = await fetch(url + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'x-goog-api-key': 'any', ...headers },
    ...(signal === undefined ? {} : { signal }),
  })
  return answerOf(response, await response.text())
}

const streaming = 'streamGenerateContent?alt=sse'

/** The joined parts of a stream's events, with the last reason. */
function gathered({ events }: Pick<Answer, 'events'>): {
  readonly parts: readonly unknown[]
  readonly finish: unknown
} {
  const candidates = events.map(({ json }) => pick(json, 'candidates', 0))
  const parts = candidates.flatMap((candidate) => listOf(pick(candidate, 'content', 'parts')))
  return { parts, finish: candidates.map((each) => pick(each, 'finishReason')).findLast((each) => each !== undefined) }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(answer: Answer): string {
  const parts =
    answer.events.length > 0 ? gathered(answer).parts : listOf(pick(answer.json, 'candidates', 0, 'content', 'parts'))
  return parts.map((part) => (pick(part, 'thought') === true ? '' : (pick(part, 'text') ?? ''))).join('')
}

function bodyOf(upstream: FaultUpstream, position = -1): unknown {
  return parseJson(new TextDecoder().decode(upstream.hits.at(position)?.body))
}

describe('POST /v1beta/models/{model}:… at a provider that speaks it', () => {
  test('passes the request and the answer byte for byte', async () => {
    const said = '"content":{"parts":[{"text":"Hé!"}]}'
    const whole = `{ "candidates": [\n{${said},"finishReason":"STOP","x":9007199254740993}] }`
    const events = [
      'data: {"candidates": [{"content": {"parts": [{"text": "H","thought":true}]}}],"x":9007199254740993}\n\n',
      'data: {"candidates": [{"content": {"parts": [{"text": "\\u0041"}]},"groundingMetadata":{"a":[1]}}]}\n\n',
      `data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":${JSON.stringify(usage)}      }\n\n`,
    ]
    using upstream = faultUpstream(async ({ hit, write }) => {
      if (!hit.path.includes('stream')) return write(reply(200, whole))
      await write(streamHead)
      for (const each of events) await write(framed(each))
      await write(lastChunk)
    })
    await using service = await startService({
      providers: [
        provider('a', upstream.url, [], {
          protocol: 'gemini',
          api_key: 'k',
          models: [{ name: 'm', upstream: 'gemini-3.5-pro', aliases: ['local/m:1'] }],
        }),
      ],
    })
    const contents = '[{"parts":[{"text":"\\u0041"}],"x":9007199254740993}]'
    const body = ` {"generation_config":{"temperature":1.0}, "contents":${contents}}`
    const streamed = await ask(service, body, { action: streaming })
    expect(streamed.text).toBe(events.join(''))
    expect((await ask(service, body)).text).toBe(whole)
    expect(upstream.hits.map(({ path }) => path)).toEqual([
      '/v1/models/gemini-3.5-pro:streamGenerateContent?alt=sse',
      '/v1/models/gemini-3.5-pro:generateContent',
    ])
    for (const { body: sent } of upstream.hits) expect(new TextDecoder().decode(sent)).toBe(body)
    const requests = await (await fetch(`${service.url}/api/requests`)).json()
    expect(pick(requests, 'requests', 0)).toMatchObject({ api: 'gemini', promptTokens: 3, completionTokens: 5 })
    const paths = [
      'v1/models/m',
      'v1beta/models/models/m',
      'v1beta/models/local/m:1',
      'v1beta/models/a%2Flocal%2Fm%3A1',
    ]
    for (const path of paths)
      expect([path, (await ask(service, body, { path: `/${path}:generateContent` })).text]).toEqual([path, whole])
  })

  test('passes neither keys nor cookies, and does not log the query', async () => {
    using upstream = faultUpstream(gemini.says('Hi'))
    await using service = await serviceOf([upstream, gemini])
    const path = '/v1beta/models/m:streamGenerateContent?alt=sse&key=callers'
    const headers = {
      'x-goog-api-key': 'callers',
      authorization: 'Bearer callers',
      cookie: 'a=callers',
      'x-app': 'callers',
    }
    expect((await ask(service, question, { path, headers })).status).toBe(200)
    const [hit] = upstream.hits
    expect(hit?.headers.get('x-goog-api-key')).toBe('k')
    expect([hit?.path, ...(hit?.headers.values() ?? [])].join()).not.toContain('callers')
    expect((await ask(service, question, { path: path.replace('/m:', '/none:'), headers })).text).not.toContain(
      'callers',
    )
    expect(service.output).not.toContain('callers')
  })

  test('applies the owner’s overrides, one by one in generationConfig', async () => {
    using upstream = faultUpstream(gemini.says('Hi'))
    const overrides = { generationConfig: { topK: 3 }, safetySettings: [], labels: { a: 'b' } }
    await using service = await startService({
      providers: [provider('a', upstream.url, ['m'], { protocol: 'gemini', overrides })],
    })
    await ask(service, { ...question, generation_config: { topK: 1, topP: 1 }, safety_settings: [{}] })
    expect(bodyOf(upstream)).toEqual({
      ...question,
      generation_config: { topK: 3, topP: 1 },
      safety_settings: [],
      labels: { a: 'b' },
    })
  })

  test('delivers a refused prompt as it is, and a list with an error as the failure it is', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } }
    using upstream = faultUpstream(answers(blocked, [event(blocked)]))
    using up = faultUpstream(gemini.says('Hi'))
    await using service = await serviceOf([upstream, gemini], [up, gemini])
    expect((await ask(service, question)).json).toEqual(blocked)
    expect((await ask(service, question, { action: streaming })).events.map(({ json }) => json)).toEqual([blocked])
    upstream.use((exchange) =>
      exchange.write(reply(200, '[{"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}]')),
    )
    expect(textOf(await ask(service, question))).toBe('Hi')
  })

  test('converts an answer of the other kind', async () => {
    const parts = [{ text: 'Hm.', thought: true }, { text: 'Hi' }, { functionCall: { name: 'weather', args: {} } }]
    const whole = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: usage,
      responseId: 'r',
    }
    using upstream = faultUpstream((exchange) => exchange.write(reply(200, JSON.stringify(whole))))
    await using service = await serviceOf([upstream, gemini])
    expect((await ask(service, question, { action: streaming })).events.map(({ json }) => json)).toEqual([whole])
    upstream.use(async ({ write }) => {
      await write(streamHead)
      for (const part of ['H', 'i', '']) {
        const finish = part === '' ? { finishReason: 'STOP' } : {}
        await write(
          framed(event({ ...whole, candidates: [{ content: { role: 'model', parts: [{ text: part }] }, ...finish }] })),
        )
      }
      await write(lastChunk)
    })
    expect((await ask(service, question)).json).toEqual({
      ...whole,
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    })
  })

  test('moves on after an error before any content, and reports one after it', async () => {
    const failure = event({ error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } })
    const piece = (part: object) => event({ candidates: [{ content: { parts: [part] } }] })
    using down = faultUpstream(answers({}, [event({ candidates: [{ content: { role: 'model' } }] }), failure]))
    using up = faultUpstream(gemini.says('Hi'))
    await using service = await serviceOf([down, gemini], [up, gemini])
    expect(textOf(await ask(service, question, { action: streaming }))).toBe('Hi')
    down.use(answers({}, [piece({ text: 'Hm.', thought: true }), failure]))
    const { events, text } = await ask(service, question, { action: streaming })
    expect(events.at(-1)?.json).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } })
    expect(text).toEndWith('\n\n: the answer is incomplete\n\n')
    expect(up.hits).toHaveLength(1)
  })

  test('counts tokens, and estimates them elsewhere', async () => {
    using upstream = faultUpstream((exchange) => exchange.write(reply(200, '{"totalTokens":14}')))
    using other = faultUpstream(chatOnly.says('Hi'))
    await using service = await startService({
      providers: [
        provider('a', upstream.url, [], { protocol: 'gemini', models: [{ name: 'm', upstream: 'theirs' }] }),
        provider('b', other.url, ['chat-only']),
      ],
    })
    const counted = await ask(service, question, { action: 'countTokens' })
    expect([counted.status, counted.text]).toEqual([200, '{"totalTokens":14}'])
    expect(upstream.hits[0]?.path).toBe('/v1/models/theirs:countTokens')
    await ask(service, { generateContentRequest: { model: 'models/m', ...question } }, { action: 'countTokens' })
    expect(bodyOf(upstream)).toEqual({ generateContentRequest: { model: 'models/theirs', ...question } })
    const elsewhere = await ask(service, question, { path: '/v1/models/chat-only:countTokens' })
    expect([elsewhere.status, elsewhere.headers.get('x-svc-estimated')]).toEqual([200, '1'])
    expect(pick(elsewhere.json, 'totalTokens')).toBeWithin(1, 60)
    const unknown = await ask(service, question, { path: '/v1/models/x:countTokens' })
    expect([unknown.status, pick(unknown.json, 'error', 'status')]).toEqual([404, 'NOT_FOUND'])
    expect(other.hits).toBeEmpty()
  })

  test('makes embeddings there and in the widely used format, and moves on', async () => {
    const asked = (text: string) => ({ model: 'models/m', content: { parts: [{ text }] }, outputDimensionality: 2 })
    using down = faultUpstream(status(500))
    using own = faultUpstream(({ hit, write }) =>
      write(
        reply(
          200,
          hit.path.endsWith('batchEmbedContents')
            ? '{"embeddings":[{"values":[1,2]}]}'
            : '{"embedding":{"values":[1,2]}}',
        ),
      ),
    )
    const data = [
      { object: 'embedding', index: 1, embedding: [3, 4] },
      { object: 'embedding', index: 0, embedding: [1, 2] },
    ]
    using widely = faultUpstream(({ hit, write }) => {
      const { length } = listOf(pick(parseJson(new TextDecoder().decode(hit.body)), 'input'))
      return write(
        reply(200, JSON.stringify({ object: 'list', data: data.slice(2 - length), usage: { prompt_tokens: 3 } })),
      )
    })
    await using service = await startService({
      providers: [
        provider('down', down.url, ['m', 'w']),
        provider('own', own.url, [], { protocol: 'gemini', models: [{ name: 'm', upstream: 'theirs' }] }),
        provider('widely', widely.url, ['w']),
        provider('none', down.url, ['c'], { protocol: 'anthropic' }),
      ],
    })
    const batch = { requests: [asked('a'), asked('b')] }
    const single = await ask(service, asked('a'), { action: 'embedContent' })
    expect([single.status, single.json]).toEqual([200, { embedding: { values: [1, 2] } }])
    expect((await ask(service, batch, { action: 'batchEmbedContents' })).status).toBe(200)
    expect(bodyOf(own, 0)).toEqual({ ...asked('a'), model: 'models/theirs' })
    expect(pick(bodyOf(own), 'requests', 1)).toEqual({ ...asked('b'), model: 'models/theirs' })
    const elsewhere = await ask(
      service,
      { ...batch, requests: batch.requests.map((each) => ({ ...each, taskType: 'T' })) },
      { path: '/v1/models/w:batchEmbedContents' },
    )
    expect(elsewhere.json).toEqual({ embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })
    expect(elsewhere.headers.get('x-svc-dropped')).toBe('taskType')
    expect(bodyOf(widely)).toEqual({ model: 'w', input: ['a', 'b'], dimensions: 2, encoding_format: 'float' })
    const one = await ask(service, { content: { parts: [{ text: 'a' }] } }, { path: '/v1/models/w:embedContent' })
    expect(one.json).toEqual({ embedding: { values: [1, 2] } })
    const none = await ask(service, asked('a'), { path: '/v1/models/c:embedContent' })
    expect([none.status, pick(none.json, 'error', 'status')]).toEqual([501, 'UNIMPLEMENTED'])
  })
})

describe('thinking', () => {
  const thought = { type: 'thinking', thinking: 'Rome is sunny.', signature: 'signed' }
  const thinking = [
    named({ type: 'content_block_start', index: 0, content_block: { ...thought, thinking: '', signature: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thought.thinking } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'signed' } }),
    stopped(0),
  ]
  const script = answers({}, [
    started,
    ...thinking,
    ...callEvents(1, '{"city":"Rome"}'),
    stopped(1),
    ...ended('tool_use'),
  ])

  test.each([true, false])('of Anthropic goes back to it with the call, shown or not: %p', async (includeThoughts) => {
    using upstream = faultUpstream(script)
    await using service = await serviceOf([upstream, anthropic])
    const generationConfig = { maxOutputTokens: 9_000, thinkingConfig: { includeThoughts, thinkingBudget: 2_000 } }
    const { parts } = gathered(await ask(service, { ...question, tools, generationConfig }, { action: streaming }))
    const thoughts = parts.filter((part) => pick(part, 'thought') === true)
    expect(thoughts.map((part) => pick(part, 'text'))).toEqual(includeThoughts ? [thought.thinking] : [])
    // Clients leave thoughts out.
    const kept = parts.filter((part) => pick(part, 'thought') !== true && pick(part, 'text') !== '')
    const signature = pick(kept[0], 'thoughtSignature')
    expect(signature).toMatch(/^[A-Za-z0-9+/]+=*$/)
    upstream.use(anthropic.says('Sunny.'))
    const results = [{ functionResponse: { name: 'weather', response: { result: 'sun' } } }]
    for (const sent of [kept, parts]) {
      const contents = [...question.contents, { role: 'model', parts: sent }, { role: 'user', parts: results }]
      expect(textOf(await ask(service, { contents, tools, generationConfig }))).toBe('Sunny.')
      expect(pick(bodyOf(upstream), 'messages', 1, 'content')).toEqual([
        thought,
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
      ])
    }
  })

  test('of chat completions is shown where it was asked for', async () => {
    const events = [
      event(chunk({ role: 'assistant', reasoning_content: 'Hm.' })),
      event(chunk({ content: 'Hi' })),
      event(chunk({}, 'stop')),
      event(usageChunk()),
      done,
    ]
    using upstream = faultUpstream(answers({}, events))
    await using service = await serviceOf([upstream, chatOnly])
    const shown = { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } }
    const { parts } = gathered(await ask(service, { ...question, generationConfig: shown }, { action: streaming }))
    expect(parts).toEqual([{ text: 'Hm.', thought: true }, { text: 'Hi' }, { text: '' }])
    expect(bodyOf(upstream)).toMatchObject({ reasoning_effort: 'low' })
    expect(gathered(await ask(service, question, { action: streaming })).parts).toEqual([{ text: 'Hi' }, { text: '' }])
  })
})

describe('below /v1beta', () => {
  test('what is malformed is refused before any provider is asked, in its own shape', async () => {
    using upstream = faultUpstream(gemini.says('Hi'))
    await using service = await serviceOf([upstream, gemini])
    const refused: readonly (readonly [string, unknown, string | undefined])[] = [
      ['m:generateContent', '{"contents":', undefined],
      ['m:generateContent', {}, 'contents'],
      ['m:generateContent', { contents: [] }, 'contents'],
      ['m:generateContent', { contents: [{ role: 'robot' }] }, 'contents[0].role'],
      ['m:generateContent', { ...question, generation_config: { top_p: 2 } }, 'generation_config.top_p'],
      ['m:streamGenerateContent', question, 'alt'],
      ['%ff:generateContent', question, 'model'],
      ['a%00:generateContent', question, 'model'],
      [`${'x'.repeat(300)}:generateContent`, question, 'model'],
      ['m:batchEmbedContents', { requests: [] }, 'requests'],
    ]
    for (const [path, body, field] of refused) {
      const { status: found, json } = await ask(service, body, { path: `/v1beta/models/${path}` })
      expect([path, found, pick(json, 'error', 'code'), pick(json, 'error', 'status')]).toEqual([
        path,
        400,
        400,
        'INVALID_ARGUMENT',
      ])
      const details = listOf(pick(json, 'error', 'details'))
      const fields = details.map((each) => pick(each, 'fieldViolations', 0, 'field'))
      expect(fields.find((each) => each !== undefined)).toBe(field)
    }
    for (const path of [
      '/v1beta/models/none:generateContent',
      '/v1beta/models/m:predict',
      '/v1beta/files',
      '/v1beta/models/none',
    ])
      for (const method of ['POST', 'GET']) {
        const response = await fetch(service.url + path, {
          method,
          ...(method === 'POST' ? { body: JSON.stringify(question) } : {}),
        })
        expect([path, method, response.status, pick(await response.json(), 'error', 'status')]).toEqual([
          path,
          method,
          404,
          'NOT_FOUND',
        ])
      }
    expect(upstream.hits).toBeEmpty()
  })

  test('models are listed as Google lists them, and at /v1 for its clients', async () => {
    const names = Array.from({ length: 60 }, (_, index) => ({ name: `m${index}`, context: 1_000, max_output: 10 }))
    await using service = await startService({
      providers: [provider('a', 'http://127.0.0.1:9', [], { models: [...names, 'org/big'] })],
    })
    const get = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(service.url + path, { headers })).json()
    const page = await get('/v1beta/models')
    expect(pick(page, 'models', 0)).toEqual({
      name: 'models/m0',
      displayName: 'm0',
      supportedGenerationMethods: ['generateContent', 'embedContent'],
      inputTokenLimit: 1_000,
      outputTokenLimit: 10,
    })
    const rest = await get(`/v1beta/models?pageSize=100&pageToken=${pick(page, 'nextPageToken')}&key=k`)
    expect([listOf(pick(page, 'models')).length, listOf(pick(rest, 'models')).length]).toEqual([50, 11])
    expect(pick(rest, 'nextPageToken')).toBeUndefined()
    expect(await get('/v1beta/models/org/big')).toMatchObject({ name: 'models/org/big' })
    const headers = { 'x-goog-api-key': 'k' }
    expect(pick(await get('/v1/models', headers), 'models', 0, 'name')).toBe('models/m0')
    expect(pick(await get('/v1/models/m1', headers), 'name')).toBe('models/m1')
    expect(pick(await get('/v1/models'), 'data', 0, 'id')).toBe('m0')
  })

  test('the echo answers, so that clients can be tried without a key', async () => {
    await using service = await startService({ providers: [{ id: 'echo', protocol: 'echo' }] })
    const asked = (action: string) => ({ path: `/v1/models/echo:${action}` })
    expect(textOf(await ask(service, question, asked('generateContent')))).toBe('Hello')
    expect(textOf(await ask(service, question, asked(streaming)))).toBe('Hello')
    const forced = { tools, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }
    const { parts } = gathered(await ask(service, { ...question, ...forced }, asked(streaming)))
    expect(pick(parts[0], 'functionCall')).toMatchObject({ name: 'weather', args: { city: expect.any(String) } })
    const content = { parts: [{ text: 'a' }] }
    const { json } = await ask(
      service,
      { requests: [{ content, outputDimensionality: 2 }] },
      asked('batchEmbedContents'),
    )
    expect(listOf(pick(json, 'embeddings', 0, 'values'))).toHaveLength(2)
  })

  test('several candidates come from a provider of chat completions, and one of Messages refuses them', async () => {
    const choices = [0, 1].map((index) => ({
      index,
      message: { role: 'assistant', content: `Answer ${index}` },
      finish_reason: 'stop',
    }))
    using chats = faultUpstream(async ({ hit, write }) => {
      const asked = parseJson(new TextDecoder().decode(hit.body))
      const events = [0, 1, 0, 1].map((index, turn) =>
        event({ choices: [{ index, delta: { content: turn < 2 ? 'Answer ' : `${index}` }, finish_reason: null }] }),
      )
      const ends = [1, 0].map((index) => event({ choices: [{ index, delta: {}, finish_reason: 'stop' }] }))
      if (pick(asked, 'stream') !== true) return write(reply(200, JSON.stringify({ choices, n: pick(asked, 'n') })))
      const pieces = [...events, ...ends, done].map(framed)
      return write(Buffer.concat([Buffer.from(streamHead), ...pieces, lastChunk]))
    })
    using messages = faultUpstream(anthropic.says('Hi'))
    const several = { ...question, generationConfig: { candidateCount: 2 } }
    {
      await using service = await serviceOf([messages, anthropic], [chats, chatOnly])
      const whole = await ask(service, several)
      expect(listOf(pick(whole.json, 'candidates')).map((each) => pick(each, 'content', 'parts', 0, 'text'))).toEqual([
        'Answer 0',
        'Answer 1',
      ])
      const streamed = (await ask(service, several, { action: streaming })).events
      const texts = ['', '']
      const finished = new Set<unknown>()
      for (const candidate of streamed.flatMap((each) => listOf(pick(parseJson(each.data), 'candidates')))) {
        const index = Number(pick(candidate, 'index'))
        texts[index] += String(pick(candidate, 'content', 'parts', 0, 'text'))
        if (pick(candidate, 'finishReason') === 'STOP') finished.add(index)
      }
      expect([texts, finished.size]).toEqual([['Answer 0', 'Answer 1'], 2])
    }
    await using service = await serviceOf([messages, anthropic])
    const refused = await ask(service, several)
    expect([refused.status, pick(refused.json, 'error', 'message')]).toEqual([400, expect.stringContaining('choices')])
  })

  test('what a provider is not sent is named, and what no provider can say is refused', async () => {
    using upstream = faultUpstream(chatOnly.says('Hi'))
    await using service = await serviceOf([upstream, chatOnly])
    const answer = await ask(service, {
      ...question,
      safetySettings: [],
      tools: [...tools, { google_search: {} }],
      generationConfig: { mediaResolution: 'LOW' },
    })
    expect(answer.headers.get('x-svc-dropped')).toBe(
      'safetySettings, tools.googleSearch, generationConfig.mediaResolution',
    )
    for (const [fields, name] of [
      [{ cachedContent: 'cachedContents/1' }, 'cachedContent'],
      [{ tools: [{ codeExecution: {} }] }, 'codeExecution'],
      [
        {
          contents: [
            { parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/1' } }] },
          ],
        },
        'stored at Google',
      ],
    ] as const) {
      const refused = await ask(service, { ...question, ...fields })
      expect([refused.status, pick(refused.json, 'error', 'message')]).toEqual([400, expect.stringContaining(name)])
    }
    expect(upstream.hits).toHaveLength(1)
  })
})
