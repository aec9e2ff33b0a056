import { describe, expect, test } from 'bun:test'
import type { ChatRequest } from '../formats/chat/request.ts'
import { checkBody } from '../formats/check-body.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import { requestReader } from '../formats/responses/request.ts'
import { anyTarget, withFields } from '../profiles/resolve-profile.ts'
import { Changes } from '../service/changes.ts'
import { UpstreamFailure, type FailureClass } from '../service/failure.ts'
import { chatOf, chatRequest, endpointAt, headersOf, decodeAll, encoded, jsonOf } from './fixtures/load.ts'
import { openai } from './openai.ts'
import type { ExchangeNotes } from './protocol.ts'
import { chunkJson, completionJson } from './testing.ts'

const sound = { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }
const anyone = endpointAt('https://upstream.test/v1')

const encoder = new TextEncoder()

function decode(answer: unknown) {
  return chatOf(openai).decode(
    encoder.encode(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    chatRequest(),
  )
}

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('the openai protocol', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['https://api.openai.com/v1', '/v1/chat/completions'],
    ['https://api.groq.com/openai/v1/', '/openai/v1/chat/completions'],
    ['http://127.0.0.1:11434', '/chat/completions'],
    ['https://x/a//', '/a/chat/completions'],
    ['https://x/v1?key=1#f', '/v1/chat/completions'],
  ]
  test.each(paths)('of %s is at %s, for any model', (baseUrl, path) => {
    expect(chatOf(openai).path(endpointAt(baseUrl), '../x?y', true)).toBe(path)
    expect(chatOf(openai).path(endpointAt(baseUrl), 'm', false)).toBe(path)
  })

  test('sends the key as a bearer', () => {
    expect(headersOf(openai, endpointAt('https://x'))).toEqual({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer key-for-tests',
    })
  })

  test('sends no authorization without a key', () => {
    expect(headersOf(openai, endpointAt('https://x', { apiKey: undefined }))).not.toHaveProperty('authorization')
  })

  test('prefers configured headers to its own', () => {
    expect(
      headersOf(openai, endpointAt('https://x', { headers: { authorization: 'Token t', 'x-own': '1' } })),
    ).toMatchObject({ authorization: 'Token t', 'x-own': '1' })
  })

  test("sends the caller's bytes with another model", () => {
    const request = chatRequest({ seed: 1, unknown: { deep: [1, null] } })
    const sent = Buffer.concat([...chatOf(openai).encode(request, 'theirs', endpointAt('https://x'))]).toString()
    expect(sent).toBe(new TextDecoder().decode(request.body).replace('"asked-for"', '"theirs"'))
  })

  test("sends the caller's bytes unchanged when the model has the same name", () => {
    const request = chatRequest()
    expect(chatOf(openai).encode(request, 'asked-for', endpointAt('https://x'))).toEqual([request.body])
  })

  test('applies overrides, rename and drop', () => {
    const endpoint = endpointAt('https://x', {
      overrides: { temperature: 0, store: false },
      profile: { rename: { max_completion_tokens: 'max_tokens' }, drop: ['logit_bias'] },
    })
    expect(encoded(openai, { temperature: 1, max_completion_tokens: 5, logit_bias: {} }, 'theirs', endpoint)).toEqual({
      model: 'theirs',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0,
      max_tokens: 5,
      store: false,
    })
  })
})

describe('a complete answer', () => {
  test("passes in the upstream's own bytes", () => {
    const body = encoder.encode(JSON.stringify({ ...completionJson(), x_extra: 9007199254740993 }))
    const reply = chatOf(openai).decode(body, chatRequest())
    expect(reply.body).toBe(body)
    expect(reply).toMatchObject({
      kind: 'whole',
      isEmpty: false,
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    })
  })

  test('gets its missing members', () => {
    expect(jsonOf(decode({ choices: [{ message: { content: 'Hi' } }] }).body)).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null }],
    })
  })

  test.each([
    ['', 'stop', true],
    [null, 'stop', true],
    ['', 'length', false],
    ['', 'content_filter', false],
    ['Hi', 'stop', false],
  ] as const)(
    'with content %j and finish_reason %s is empty: %p (failover.md rows 27 and 28)',
    (content, finishReason, isEmpty) => {
      expect(decode(completionJson(content, finishReason)).isEmpty).toBe(isEmpty)
    },
  )

  const failures: readonly (readonly [string, unknown, FailureClass])[] = [
    ['nothing but blanks', '  \n', 'empty'],
    ['half of JSON (failover.md row 23)', '{"choices":[{"mess', 'malformed'],
    ['HTML (row 24)', '<html><body>Welcome</body></html>', 'malformed'],
    ['text (row 24)', 'upstream connect error', 'malformed'],
    ['a list', [completionJson()], 'malformed'],
    ['no choices (row 26)', { id: 'x' }, 'malformed'],
    ['an empty list of choices (row 26)', { ...completionJson(), choices: [] }, 'malformed'],
    ['an error of its own fault (row 22)', { error: { message: 'oops', type: 'server_error' } }, 'server_error'],
    ['an error that is a rate limit (row 22)', { error: { message: 'slow down', code: 429 } }, 'rate_limit'],
    ['an error about money (row 22)', { error: { message: 'no money', code: 'insufficient_quota' } }, 'quota'],
    ['an error about the key (row 22)', { error: { message: 'no', type: 'authentication_error' } }, 'credential'],
    [
      'an error as vLLM tells it',
      { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
      'model_gone',
    ],
    ['an error beside choices', { ...completionJson(), error: { message: 'oops', code: 503 } }, 'overloaded'],
  ]
  test.each(failures)('that is %s is a failure', (_name, answer, expected) => {
    const failure = thrownBy(() => decode(answer))
    expect(failure).toBeInstanceOf(UpstreamFailure)
    expect(failure).toMatchObject({ failure: expected, status: 200 })
  })

  test('with an error that is null is no failure', () => {
    expect(decode({ ...completionJson(), error: null }).isEmpty).toBe(false)
  })

  test('that is bad UTF-8 is malformed (failover.md row 23)', () => {
    const body = encoder.encode(JSON.stringify(completionJson('abc')))
    body[body.indexOf(0x62)] = 0xff
    body[body.lastIndexOf(0x61)] = 0xff
    expect(thrownBy(() => chatOf(openai).decode(body, chatRequest()))).toHaveProperty('failure', 'malformed')
  })
})

describe('an event of a stream', () => {
  function decoded(data: unknown, name = '') {
    return chatOf(openai)
      .stream(chatRequest({ stream: true }), anyone)
      .decode({ event: name, data: encoder.encode(typeof data === 'string' ? data : JSON.stringify(data)) })
  }

  test("is a part with the upstream's own bytes", () => {
    const data = { ...chunkJson({ role: 'assistant', content: 'Hi' }), x_extra: 1 }
    const parts = decoded(data)
    const part = parts === 'done' ? undefined : parts[0]
    if (part === undefined) throw new Error('no part')
    expect(part).toMatchObject({ kind: 'part', text: 'Hi', isMeaningful: true, isBeyondText: false })
    expect(jsonOf(part.data)).toEqual({ ...data })
  })

  test.each(['[DONE]', ' [DONE] ', '[DONE]\r'])('that is %j ends the stream', (data) => {
    expect(decoded(data)).toBe('done')
  })

  const errors: readonly (readonly [string, unknown, string, FailureClass])[] = [
    ['an error', { error: { message: 'oops', type: 'server_error' } }, '', 'server_error'],
    ['an error with a code', { error: { message: 'slow', code: 429 } }, '', 'rate_limit'],
    ['an error by its name', { message: 'overloaded', code: '503' }, 'error', 'overloaded'],
    ['a chunk named error', chunkJson({ content: 'Hi' }), 'error', 'server_error'],
    [
      'an error within a choice',
      {
        ...chunkJson({}),
        choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'oops' } }],
      },
      '',
      'server_error',
    ],
  ]
  test.each(errors)('that is %s is a failure by its class (failover.md row 33)', (_name, data, name, expected) => {
    const failure = thrownBy(() => decoded(data, name))
    expect(failure).toBeInstanceOf(UpstreamFailure)
    expect(failure).toMatchObject({ failure: expected, status: 200 })
  })

  test.each(['not JSON', '{"choices":', '[]', '42', '"[DONE]"'])(
    'that is %s is malformed (failover.md row 34)',
    (data) => {
      expect(thrownBy(() => decoded(data))).toBeInstanceOf(MalformedAnswer)
    },
  )

  test('keeps the first id, created and model (failover.md row 39)', () => {
    const decoder = chatOf(openai).stream(chatRequest({ stream: true }), anyone)
    const events = [
      chunkJson({ content: 'a' }),
      { ...chunkJson({ content: 'b' }), id: 'c2', created: 2, model: 'other' },
    ]
    const { parts } = decodeAll(
      decoder,
      events.map((data) => JSON.stringify(data)),
    )
    expect(parts.map(({ data }) => jsonOf(data))).toMatchObject([
      { id: 'c1', created: 1, model: 'm' },
      { id: 'c1', created: 1, model: 'm' },
    ])
  })
})

describe('a refusal', () => {
  test('is classified by its status and body', () => {
    const failure = openai.failure(
      429,
      new Map([['retry-after', '3']]),
      encoder.encode('{"error":{"message":"slow down"}}'),
    )
    expect(failure).toMatchObject({
      failure: 'rate_limit',
      status: 429,
      retryAfterMs: 3_000,
      message: 'status 429: slow down',
    })
  })

  test('without a body is classified by its status', () => {
    expect(openai.failure(500, new Map(), new Uint8Array())).toMatchObject({
      failure: 'server_error',
      message: 'status 500',
    })
  })
})

describe('usage of a stream from a provider that counts only when asked', () => {
  const counting = endpointAt('https://upstream.test/v1', { profile: { streamUsage: true } })
  const usageChunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }
  const lastChunk = (request: ChatRequest) => {
    const parts = chatOf(openai)
      .stream(request, counting)
      .decode({ event: '', data: encoder.encode(JSON.stringify(usageChunk)) })
    return parts === 'done' ? undefined : parts[0]
  }

  test('is requested if the caller did not, and hidden from the client', () => {
    const request = chatRequest({ stream: true })
    expect(jsonOf(Buffer.concat(chatOf(openai).encode(request, 'm', counting)))).toMatchObject({
      stream_options: { include_usage: true },
    })
    expect(lastChunk(request)).toMatchObject({ usage: { totalTokens: 3 }, data: new Uint8Array() })
  })

  test('goes to a caller who asked', () => {
    const request = chatRequest({ stream: true, stream_options: { include_usage: true } })
    expect(lastChunk(request)?.data.length).toBeGreaterThan(0)
  })

  test.each([
    ['a caller that declines', { stream: true, stream_options: { include_usage: false } }],
    ['a whole answer', {}],
  ])('leaves the request of %s as it is', (_, fields) => {
    const request = chatRequest(fields)
    expect(chatOf(openai).encode(request, 'asked-for', counting)).toEqual([request.body])
  })
})

describe('a target without custom tools', () => {
  const profile = withFields(anyTarget, { customTools: 'function', responsesTools: 'functions' })
  const target = endpointAt('https://upstream.test/v1', { profile })
  const tools = [{ type: 'custom', custom: { name: 'patch', description: 'd' } }]

  test('gets a function, and its calls come back as calls of the custom tool', () => {
    const ask = chatRequest({ tools, own: 1 })
    const notes: ExchangeNotes = {}
    expect(jsonOf(Buffer.concat([...chatOf(openai).encode(ask, 'theirs', target, notes)]))).toMatchObject({
      model: 'theirs',
      own: 1,
      tools: [{ type: 'function', function: { name: 'patch' } }],
    })
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'patch', arguments: '{"input":"x\\ny"}' } }]
    const message = { role: 'assistant', content: null, tool_calls }
    const answer = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] })
    const read = notes.instead?.decode(Buffer.from(answer), ask, notes)
    expect(jsonOf(read?.body ?? new Uint8Array())['choices']).toMatchObject([
      { message: { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: 'x\ny' } }] } },
    ])
  })

  test('gets requests without one as they are written', () => {
    for (const [ask, where] of [
      [chatRequest(), target],
      [chatRequest({ tools }), anyone],
    ] as const) {
      const notes: ExchangeNotes = {}
      chatOf(openai).encode(ask, 'm', where, notes)
      expect(notes.instead).toBeUndefined()
    }
  })

  test('gets Responses with other tools as chat completions, and those with functions as they are', () => {
    const asked = (...each: readonly object[]) =>
      checkBody(Buffer.from(JSON.stringify({ model: 'm', input: 'x', tools: each })), requestReader('responses'))
    const notes: ExchangeNotes = {}
    const called = { type: 'function', name: 'f' }
    openai.further?.responses.responses?.encode(asked({ type: 'web_search' }, called), 'm', target, notes)
    expect(notes.instead?.path(target, 'm', false)).toBe('/v1/chat/completions')
    // So the exchange names what chat completions cannot say.
    expect(notes.instead?.isNative).not.toBe(true)
    const none: ExchangeNotes = {}
    openai.further?.responses.responses?.encode(asked(called), 'm', target, none)
    expect(none.instead).toBeUndefined()
  })
})

describe('a target that takes Responses only', () => {
  const profile = withFields(anyTarget, { asResponses: 'all' })
  const target = endpointAt('https://upstream.test/v1', { profile })

  test.each([
    ['what Responses have no place for', {}, '/v1/responses', ['seed']],
    ['nothing, if only chat completions can express the request', { n: 2 }, undefined, []],
    ['nothing, if a message has sound', { messages: [sound] }, undefined, []],
  ])('is noted to lose %s', (_, fields, path, dropped) => {
    const changes = new Changes()
    const notes: ExchangeNotes = { changes }
    const request = chatRequest({ seed: 7, ...fields })
    openai.further?.responses.chat?.encode(request, 'asked-for', target, notes)
    expect(notes.instead?.path(target, 'm', false)).toBe(path)
    expect(changes.dropped).toEqual(dropped)
  })
})

describe('fields that the target refuses', () => {
  test.each([
    [{ service_tier: 'flex', store: true }, ['service_tier', 'store']],
    [{ store: false, stream: true, stream_options: {} }, []],
  ])('of %j are named', (fields, names) => {
    const drop = ['service_tier', 'store', 'stream_options']
    const target = endpointAt('https://upstream.test/v1', { profile: withFields(anyTarget, { drop }) })
    const changes = new Changes()
    const sent = chatOf(openai).encode(chatRequest(fields), 'm', target, { changes })
    expect(Object.keys(jsonOf(Buffer.concat([...sent]))).filter((name) => drop.includes(name))).toEqual([])
    expect(changes.dropped).toEqual(names)
  })
})
