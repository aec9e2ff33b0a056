import { describe, expect, test } from 'bun:test'
import { MalformedAnswer } from '../wire/malformed-answer.ts'
import { anthropic } from './anthropic.ts'
import { chatRequest, connectionTo, decodeAll, deltas, fixtureEvents, jsonOf } from './fixtures/load.ts'
import type { JsonObject } from './json-value.ts'

const anyone = connectionTo('https://upstream.test/v1')

const withUsage = { stream: true, stream_options: { include_usage: true } }

function read(events: readonly string[], fields: JsonObject = { stream: true }) {
  return decodeAll(anthropic.stream(chatRequest(fields), anyone), events)
}

function events(...list: readonly JsonObject[]): readonly string[] {
  return list.map((event) => JSON.stringify(event))
}

describe('an anthropic stream', () => {
  test('becomes role, text, finish and usage chunks with one head', () => {
    const { chunks, isDone } = read(fixtureEvents('anthropic-text.jsonl'), withUsage)
    expect(deltas(chunks)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Good ' },
      { content: 'morning 🌅' },
      {},
    ])
    expect(chunks.map(({ text, isMeaningful, finishReason }) => [text, isMeaningful, finishReason])).toEqual([
      ['', false, undefined],
      ['Good ', true, undefined],
      ['morning 🌅', true, undefined],
      ['', true, 'stop'],
      ['', false, undefined],
    ])
    for (const { data } of chunks) {
      expect(jsonOf(data)).toMatchObject({
        id: 'msg_01text',
        object: 'chat.completion.chunk',
        created: expect.any(Number),
        model: 'claude-sonnet-4-5-20250929',
      })
    }
    expect(isDone).toBe(true)
  })

  test('counts cached tokens into the prompt, and lets the last event win', () => {
    const last = read(fixtureEvents('anthropic-text.jsonl'), withUsage).chunks.at(-1)
    expect(last?.usage).toEqual({ promptTokens: 177, completionTokens: 15, totalTokens: 192, cachedTokens: 50 })
    expect(last && jsonOf(last.data)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 177,
        completion_tokens: 15,
        total_tokens: 192,
        prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 100 },
      },
    })
  })

  test('gives no usage chunk unasked, but tells the gateway', () => {
    const { chunks } = read(fixtureEvents('anthropic-text.jsonl'))
    expect(chunks).toHaveLength(4)
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 192 } })
    expect(chunks.map(({ data }) => jsonOf(data))).not.toContainEqual(
      expect.objectContaining({ usage: expect.anything() }),
    )
  })

  test('carries thinking, its signature, and parallel calls, of which one has no arguments', () => {
    const { chunks } = read(fixtureEvents('anthropic-tools.jsonl'))
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    })
    const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
    expect(deltas(chunks)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Two places, ' },
      { reasoning_content: 'two calls.' },
      { thinking_blocks: [{ type: 'thinking', thinking: 'Two places, two calls.', signature: 'signature-for-tests' }] },
      { thinking_blocks: [{ type: 'redacted_thinking', data: 'redacted-for-tests' }] },
      { content: 'Let me look.' },
      call(0, 'toolu_1', 'get_weather'),
      piece(0, '{"city": "San'),
      piece(0, ' Francisco"}'),
      call(1, 'toolu_2', 'get_time'),
      piece(1, '{}'),
      {},
    ])
    expect(chunks.map(({ isBeyondText }) => isBeyondText)).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
      true,
      true,
      true,
      true,
      true,
      false,
    ])
    expect(chunks.at(-1)?.finishReason).toBe('tool_calls')
  })

  test('begins once, though the upstream begins twice, and takes the newer usage', () => {
    const { chunks } = read(fixtureEvents('anthropic-repeated-start.jsonl'))
    expect(deltas(chunks)).toEqual([{ role: 'assistant', content: '' }, { content: 'ok' }, {}])
    expect(chunks[0] && jsonOf(chunks[0].data)['id']).toBe('msg_01first')
    expect(chunks.at(-1)?.usage).toEqual({ promptTokens: 99, completionTokens: 2, totalTokens: 101 })
  })

  test('may begin with everything in it, even twice', () => {
    const recorded = fixtureEvents('anthropic-prefilled-start.jsonl')
    const { chunks, isDone } = read([...recorded.slice(0, 1), ...recorded])
    expect(chunks).toHaveLength(3)
    expect(deltas(chunks)).toMatchObject([
      { role: 'assistant' },
      {
        tool_calls: [
          { index: 0, id: 'toolu_3', type: 'function', function: { name: 'lookup', arguments: '{"id":"c1"}' } },
        ],
      },
      {},
    ])
    expect(chunks.at(-1)?.finishReason).toBe('tool_calls')
    expect(isDone).toBe(true)
  })

  test('completes the arguments of a call whose block never ends, and takes those that came at its start', () => {
    const { chunks } = read(
      events(
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      ),
    )
    expect(deltas(chunks).slice(2)).toEqual([{ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }, {}])
  })

  test('finishes once', () => {
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }
    expect(read(events(end, end)).chunks.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1)
  })

  const reasons: readonly (readonly [string, string])[] = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['not_known_yet', 'stop'],
  ]
  test.each(reasons)('that stops with %s finishes with %s', (stopReason, finishReason) => {
    const { chunks } = read(events({ type: 'message_delta', delta: { stop_reason: stopReason } }))
    expect(chunks.at(-1)?.finishReason).toBe(finishReason)
  })

  const errors: readonly (readonly [string, string])[] = [
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate_limit'],
    ['api_error', 'server_error'],
    ['authentication_error', 'credential'],
    ['invalid_request_error', 'bad_request'],
  ]
  test.each(errors)('that breaks with %s fails as %s', (type, failure) => {
    expect(() => read(events({ type: 'error', error: { type, message: 'No.' } }))).toThrow(
      expect.objectContaining({ name: 'UpstreamFailure', failure }),
    )
  })

  test('that breaks with an event named error fails, whatever its data', () => {
    const decoder = anthropic.stream(chatRequest({ stream: true }), anyone)
    for (const data of ['{"message":"No."}', '{}']) {
      expect(() => decoder.decode({ event: 'error', data: new TextEncoder().encode(data) })).toThrow(
        expect.objectContaining({ failure: 'server_error' }),
      )
    }
  })

  test('passes over what it does not know', () => {
    expect(
      read(
        events(
          { type: 'ping' },
          { type: 'new_kind', index: 1 },
          { type: 'content_block_delta', index: 7, delta: { type: 'new_delta' } },
        ),
      ).chunks,
    ).toHaveLength(1)
  })

  test('calls an event that is no object malformed, so that a stream may go on without it', () => {
    for (const data of ['{', '[]', '"text"', '']) expect(() => read([data])).toThrow(MalformedAnswer)
  })

  test('ends at [DONE] too', () => {
    expect(read(['[DONE]']).isDone).toBe(true)
  })

  test('passes over an event that is nested too deeply', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const start = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${deep}}}`
    expect(() => read([start])).toThrow(MalformedAnswer)
  })
})
