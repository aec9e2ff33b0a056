import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../base/json-value.ts'
import {
  chatOf,
  chatRequest,
  endpointAt,
  headersOf,
  decodeAll,
  deltas,
  fixture,
  fixtureEvents,
  jsonOf,
} from './fixtures/load.ts'
import { gemini } from './gemini.ts'

const anyone = endpointAt('https://upstream.test/v1')

const encoder = new TextEncoder()
const withUsage = { stream: true, stream_options: { include_usage: true } }

function decode(answer: unknown) {
  return chatOf(gemini).decode(
    encoder.encode(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    chatRequest(),
  )
}

function read(events: readonly string[], fields: JsonObject = { stream: true }) {
  return decodeAll(chatOf(gemini).stream(chatRequest(fields), anyone), events)
}

function candidate(parts: readonly JsonObject[], finishReason?: string): string {
  return JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason }] })
}

describe('the gemini protocol', () => {
  const base = 'https://generativelanguage.googleapis.com'
  const paths: readonly (readonly [string, string, string])[] = [
    [`${base}/v1beta`, 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:generateContent'],
    [base, 'models/gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:generateContent'],
    [
      'https://example.com/v1/projects/p/publishers/google',
      'g',
      '/v1/projects/p/publishers/google/models/g:generateContent',
    ],
    [base, '../../x', '/v1beta/models/..%2F..%2Fx:generateContent'],
    [base, '..', '/v1beta/models/..:generateContent'],
    [base, 'a?key=b#c', '/v1beta/models/a%3Fkey%3Db%23c:generateContent'],
    [base, 'a:countTokens', '/v1beta/models/a%3AcountTokens:generateContent'],
    [base, 'models/models/x y', '/v1beta/models/models%2Fx%20y:generateContent'],
    [base, 'a\ud800', '/v1beta/models/a%EF%BF%BD:generateContent'],
  ]
  test.each(paths)('of %s finds model %s at %s', (baseUrl, model, path) => {
    expect(chatOf(gemini).path(endpointAt(baseUrl), model, false)).toBe(path)
    expect(new URL(path, base).pathname).toBe(path)
  })

  test('asks for server-sent events when it streams', () => {
    expect(chatOf(gemini).path(endpointAt(base), 'g', true)).toBe('/v1beta/models/g:streamGenerateContent?alt=sse')
  })

  test('sends the key in its own header, never in the address', () => {
    expect(headersOf(gemini, endpointAt(base, { headers: { 'X-Goog-User-Project': 'p' } }))).toEqual({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-goog-api-key': 'key-for-tests',
      'x-goog-user-project': 'p',
    })
    expect(headersOf(gemini, endpointAt(base, { apiKey: undefined }))).not.toHaveProperty('x-goog-api-key')
  })

  test('translates a complete answer', () => {
    const reply = chatOf(gemini).decode(fixture('gemini-response.json'), chatRequest())
    const { created, ...body } = jsonOf(reply.body)
    expect(created).toBeNumber()
    expect(body).toEqual({
      id: 'resp-4',
      object: 'chat.completion',
      model: 'gemini-2.5-flash-image',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Here it is: enjoy.',
            refusal: null,
            reasoning_content: 'They want a picture.',
            images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
          },
          logprobs: {
            content: [
              {
                token: 'Here',
                logprob: -0.25,
                bytes: null,
                top_logprobs: [
                  { token: 'Here', logprob: -0.25, bytes: null },
                  { token: 'There', logprob: -1.5, bytes: null },
                ],
              },
            ],
            refusal: null,
          },
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 25,
        total_tokens: 35,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    })
    expect(reply).toMatchObject({
      kind: 'whole',
      isEmpty: false,
      usage: { promptTokens: 10, completionTokens: 25, totalTokens: 35 },
    })
  })

  test('translates function calls of a complete answer, and adds missing ids', () => {
    const parts = [
      { functionCall: { name: 'f', args: { big: 1 } }, thoughtSignature: 'signature-for-tests' },
      { functionCall: { id: 'x', name: 'g' } },
    ]
    expect(jsonOf(decode({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }).body)).toMatchObject({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [
              {
                id: expect.stringMatching(/^call_[0-9a-f]{32}$/),
                type: 'function',
                function: { name: 'f', arguments: '{"big":1}' },
                extra_content: { google: { thought_signature: 'signature-for-tests' } },
              },
              { id: 'x', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    })
  })

  test('delivers a blocked prompt as content_filter', () => {
    const reply = decode(fixtureEvents('gemini-blocked.jsonl')[0])
    expect(jsonOf(reply.body)).toMatchObject({
      choices: [{ message: { content: '' }, finish_reason: 'content_filter' }],
      usage: { prompt_tokens: 9, completion_tokens: 0 },
    })
    expect(reply.isEmpty).toBe(false)
  })

  test('marks an empty answer', () => {
    expect(decode({ candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] }).isEmpty).toBe(true)
    expect(decode({ candidates: [{ finishReason: 'MAX_TOKENS' }] }).isEmpty).toBe(false)
  })

  const reasons: readonly (readonly [string, string])[] = [
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['OTHER', 'stop'],
    ['NOT_KNOWN_YET', 'stop'],
    ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(
      (reason) => [reason, 'content_filter'] as const,
    ),
  ]
  test.each(reasons)('translates finishReason %s to %s', (finishReason, expected) => {
    const answer = candidate([{ text: 'Hi' }], finishReason)
    expect(jsonOf(decode(answer).body)).toMatchObject({ choices: [{ finish_reason: expected }] })
    expect(read([answer]).parts.at(-1)?.finishReason).toBe(expected)
  })

  const bad: readonly (readonly [string, unknown, string])[] = [
    ['HTML', '<html>', 'malformed'],
    ['an answer without candidates', { usageMetadata: {} }, 'malformed'],
    ['a call that Gemini threw away', { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'malformed'],
    ['text before such a call', candidate([{ text: 'Hi' }], 'MALFORMED_FUNCTION_CALL'), 'malformed'],
    ['a call in pieces', candidate([{ functionCall: { name: 'f', willContinue: true } }]), 'malformed'],
    ['an error', { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }, 'overloaded'],
    ['an error in an array', [{ error: { code: 500, message: 'Oh', status: 'INTERNAL' } }], 'server_error'],
  ]
  test.each(bad)('fails on %s', (_name, answer, failure) => {
    expect(() => decode(answer)).toThrow(expect.objectContaining({ name: 'UpstreamFailure', failure }))
  })

  const failures: readonly (readonly [number, string, string, string])[] = [
    [400, 'INVALID_ARGUMENT', 'Thinking level MINIMAL is not supported for this model.', 'bad_request'],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'credential'],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
      'context_length',
    ],
    [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'credential'],
    [403, 'PERMISSION_DENIED', 'Not yours.', 'credential'],
    [404, 'NOT_FOUND', 'models/x is not found for API version v1beta', 'model_gone'],
    [429, 'RESOURCE_EXHAUSTED', 'Resource exhausted.', 'rate_limit'],
    [500, 'INTERNAL', 'Internal', 'server_error'],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 'overloaded'],
    [504, 'DEADLINE_EXCEEDED', 'Too slow.', 'server_error'],
  ]
  test.each(failures)('classifies status %d, %s, "%s" as %s', (status, word, message, failure) => {
    const error = { error: { code: status, message, status: word } }
    for (const body of [error, [error]]) {
      expect(gemini.failure(status, new Map(), encoder.encode(JSON.stringify(body)))).toMatchObject({ failure, status })
    }
  })

  test('treats RetryInfo as a Retry-After', () => {
    expect(gemini.failure(429, new Map(), fixture('gemini-rate-limit.json'))).toMatchObject({
      failure: 'rate_limit',
      status: 429,
      retryAfterMs: 34_400,
    })
  })
})

describe('a gemini stream', () => {
  test('becomes role, reasoning, text, finish and usage chunks with one head', () => {
    const { parts } = read(fixtureEvents('gemini-text.jsonl'), withUsage)
    expect(deltas(parts)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'The user greets me.' },
      { content: 'Good ' },
      { content: 'morning 🌅' },
      {},
    ])
    expect(
      parts.map(({ text, isMeaningful, isBeyondText, finishReason }) => [
        text,
        isMeaningful,
        isBeyondText,
        finishReason,
      ]),
    ).toEqual([
      ['', false, false, undefined],
      ['', true, true, undefined],
      ['Good ', true, false, undefined],
      ['morning 🌅', true, false, undefined],
      ['', true, false, 'stop'],
      ['', false, false, undefined],
    ])
    for (const { data } of parts)
      expect(jsonOf(data)).toMatchObject({ id: 'resp-1', object: 'chat.completion.chunk', model: 'gemini-2.5-flash' })
    expect(parts.at(-1)?.usage).toEqual({
      promptTokens: 9,
      completionTokens: 25,
      totalTokens: 34,
      cachedTokens: 5,
      reasoningTokens: 21,
    })
    expect(parts.at(-1) && jsonOf(parts.at(-1)?.data ?? new Uint8Array())).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 25,
        total_tokens: 34,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 21 },
      },
    })
  })

  test('has no usage chunk unasked, but reports usage to the gateway', () => {
    const { parts } = read(fixtureEvents('gemini-text.jsonl'))
    expect(parts.at(-1)).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 34 } })
  })

  test('finishes with tool_calls when calls came in an earlier event', () => {
    const { parts } = read(fixtureEvents('gemini-calls.jsonl'))
    expect(deltas(parts)).toEqual([
      { role: 'assistant', content: '' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'call-a',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"San Francisco"}' },
            extra_content: { google: { thought_signature: 'signature-for-tests' } },
          },
          {
            index: 1,
            id: expect.stringMatching(/^call_/),
            type: 'function',
            function: { name: 'get_time', arguments: '{}' },
          },
        ],
      },
      {},
    ])
    expect(parts.at(-1)?.finishReason).toBe('tool_calls')
  })

  test('counts calls across events', () => {
    const { parts } = read([candidate([{ functionCall: { name: 'f' } }]), candidate([{ functionCall: { name: 'g' } }])])
    expect(deltas(parts).slice(1)).toMatchObject([{ tool_calls: [{ index: 0 }] }, { tool_calls: [{ index: 1 }] }])
  })

  test('of a blocked prompt is a finish with content_filter', () => {
    const { parts } = read(fixtureEvents('gemini-blocked.jsonl'), withUsage)
    expect(parts.map(({ finishReason }) => finishReason)).toEqual([undefined, 'content_filter', undefined])
  })

  test('that ends with a call that Gemini discarded fails, also behind text', () => {
    expect(() => read([candidate([], 'MALFORMED_FUNCTION_CALL')])).toThrow(
      expect.objectContaining({ failure: 'malformed' }),
    )
    expect(() => read([candidate([{ text: 'Hi' }]), candidate([], 'UNEXPECTED_TOOL_CALL')])).toThrow(
      expect.objectContaining({ failure: 'malformed' }),
    )
  })

  test('ignores events without candidates', () => {
    expect(read(['{"usageMetadata":{"trafficType":"ON_DEMAND"}}', '{}']).parts).toEqual([])
  })

  test('with an error fails by its class', () => {
    const error = JSON.stringify({
      error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '2s' }] },
    })
    expect(() => read([candidate([{ text: 'Hi' }]), error])).toThrow(
      expect.objectContaining({ failure: 'rate_limit', retryAfterMs: 2_000 }),
    )
  })
})
