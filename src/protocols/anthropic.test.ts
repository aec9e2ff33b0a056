import { describe, expect, test } from 'bun:test'
import { anthropic } from './anthropic.ts'
import { chatOf, chatRequest, endpointAt, headersOf, fixture, jsonOf } from './fixtures/load.ts'

const encoder = new TextEncoder()

function decode(answer: unknown) {
  return chatOf(anthropic).decode(
    encoder.encode(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    chatRequest(),
  )
}

describe('the anthropic protocol', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['https://api.anthropic.com/v1', '/v1/messages'],
    ['https://api.anthropic.com', '/v1/messages'],
    ['https://example.com/anthropic', '/anthropic/v1/messages'],
    ['https://example.com/anthropic/v1', '/anthropic/v1/messages'],
  ]
  test.each(paths)('of %s is at %s', (baseUrl, path) => {
    expect(chatOf(anthropic).path(endpointAt(baseUrl), '../model?x', true)).toBe(path)
  })

  test('sends the key in its own header, and configured headers over its own', () => {
    expect(
      headersOf(
        anthropic,
        endpointAt('https://x', { headers: { 'Anthropic-Version': '2099-01-01', 'anthropic-beta': 'b' } }),
      ),
    ).toEqual({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': 'key-for-tests',
      'anthropic-version': '2099-01-01',
      'anthropic-beta': 'b',
    })
  })

  test('sends no key header without a key', () => {
    expect(headersOf(anthropic, endpointAt('https://x', { apiKey: undefined }))).not.toHaveProperty('x-api-key')
  })

  test('translates a complete answer', () => {
    const reply = chatOf(anthropic).decode(fixture('anthropic-message.json'), chatRequest())
    const { created, ...body } = jsonOf(reply.body)
    expect(created).toBeNumber()
    expect(body).toEqual({
      id: 'msg_01whole',
      object: 'chat.completion',
      model: 'claude-sonnet-4-5-20250929',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'I will look it up.',
            refusal: null,
            reasoning_content: 'They want the number.',
            tool_calls: [
              {
                id: 'toolu_9',
                type: 'function',
                function: { name: 'find', arguments: '{"account":9007199254740993,"deep":{"a":[1,null]}}' },
              },
            ],
            thinking_blocks: [
              { type: 'thinking', thinking: 'They want the number.', signature: 'signature-for-tests' },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 30,
        completion_tokens: 40,
        total_tokens: 70,
        prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 11 },
      },
    })
    expect(reply).toMatchObject({
      kind: 'whole',
      isEmpty: false,
      usage: { promptTokens: 30, completionTokens: 40, totalTokens: 70 },
    })
  })

  test.each([
    ['one sum', { cache_creation_input_tokens: 30 }, { cacheWriteTokens: 30 }],
    [
      'a sum and its parts',
      {
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      },
      { cacheWriteTokens: 30, cacheWriteHourTokens: 10 },
    ],
    [
      'parts alone',
      { cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 } },
      { cacheWriteTokens: 30, cacheWriteHourTokens: 10 },
    ],
    ['parts of the wrong type', { cache_creation_input_tokens: 30, cache_creation: 'x' }, { cacheWriteTokens: 30 }],
  ])('counts cache writes in %s', (_, caches, expected) => {
    const reply = decode({
      content: [],
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 2, ...caches },
    })
    expect(reply.usage).toEqual({ promptTokens: 35, completionTokens: 2, totalTokens: 37, ...expected })
    expect(jsonOf(reply.body)).toMatchObject({ usage: { prompt_tokens_details: { cache_write_tokens: 30 } } })
  })

  test('has null content beside calls alone', () => {
    const reply = decode({ content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }], stop_reason: 'tool_use' })
    expect(jsonOf(reply.body)).toMatchObject({ choices: [{ message: { content: null } }] })
    expect(reply.usage).toBeUndefined()
  })

  test('distinguishes an empty answer from a refused or cut one', () => {
    expect(decode({ content: [], stop_reason: 'end_turn' }).isEmpty).toBe(true)
    expect(decode({ content: [], stop_reason: 'refusal' }).isEmpty).toBe(false)
    expect(decode({ content: [], stop_reason: 'max_tokens' }).isEmpty).toBe(false)
    expect(decode({ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }).isEmpty).toBe(false)
  })

  const bad: readonly (readonly [string, unknown, string])[] = [
    ['HTML', '<html>', 'malformed'],
    ['a truncated answer', '{"content":[', 'malformed'],
    ['no object', '[]', 'malformed'],
    ['no content', { id: 'msg_1' }, 'malformed'],
    ['an overload', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    ['an error without a reason', { type: 'error' }, 'server_error'],
    [
      'an answer nested too deeply',
      `{"content":[{"type":"tool_use","input":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`,
      'malformed',
    ],
  ]
  test.each(bad)('fails on %s', (_name, answer, failure) => {
    expect(() => decode(answer)).toThrow(expect.objectContaining({ name: 'UpstreamFailure', failure }))
  })

  test('fails on invalid UTF-8', () => {
    expect(() => chatOf(anthropic).decode(Uint8Array.of(0x22, 0xff, 0x22), chatRequest())).toThrow(
      expect.objectContaining({ failure: 'malformed' }),
    )
  })

  const failures: readonly (readonly [number, string, string, string])[] = [
    [400, 'invalid_request_error', 'max_tokens: Field required', 'bad_request'],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.', 'quota'],
    [401, 'authentication_error', 'invalid x-api-key', 'credential'],
    [403, 'permission_error', 'Not yours.', 'credential'],
    [404, 'not_found_error', 'model: claude-none', 'model_gone'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'context_length'],
    [429, 'rate_limit_error', 'Slow down.', 'rate_limit'],
    [500, 'api_error', 'Internal server error', 'server_error'],
    [504, 'timeout_error', 'Timed out', 'server_error'],
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
  ]
  test.each(failures)('classifies status %d, %s, "%s" as %s', (status, type, message, failure) => {
    const body = encoder.encode(JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' }))
    expect(anthropic.failure(status, new Map([['retry-after', '3']]), body)).toMatchObject({
      failure,
      status,
      retryAfterMs: 3_000,
    })
  })
})
