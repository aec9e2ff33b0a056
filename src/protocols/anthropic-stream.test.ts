import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../base/json-value.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import { anthropic } from './anthropic.ts'
import { chatOf, chatRequest, endpointAt, decodeAll, deltas, fixtureEvents, jsonOf } from './fixtures/load.ts'

const anyone = endpointAt('https://upstream.test/v1')

const withUsage = { stream: true, stream_options: { include_usage: true } }

function read(events: readonly string[], fields: JsonObject = { stream: true }) {
  return decodeAll(chatOf(anthropic).stream(chatRequest(fields), anyone), events)
}

function events(...list: readonly JsonObject[]): readonly string[] {
  return list.map((event) => JSON.stringify(event))
}

describe('an anthropic stream', () => {
  test('becomes role, text, finish and usage chunks with one head', () => {
    const { parts, isDone } = read(fixtureEvents('anthropic-text.jsonl'), withUsage)
    expect(deltas(parts)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Good ' },
      { content: 'morning 🌅' },
      {},
    ])
    expect(parts.map(({ text, isMeaningful, finishReason }) => [text, isMeaningful, finishReason])).toEqual([
      ['', false, undefined],
      ['Good ', true, undefined],
      ['morning 🌅', true, undefined],
      ['', true, 'stop'],
      ['', false, undefined],
    ])
    for (const { data } of parts) {
      expect(jsonOf(data)).toMatchObject({
        id: 'msg_01text',
        object: 'chat.completion.chunk',
        created: expect.any(Number),
        model: 'claude-sonnet-4-5-20250929',
      })
    }
    expect(isDone).toBe(true)
  })

  test('that ends without a stop_reason is finished (failover.md row 36)', () => {
    const decoder = chatOf(anthropic).stream(chatRequest({ stream: true }), anyone)
    const lines = fixtureEvents('anthropic-text.jsonl').filter((line) => !line.includes('stop_reason":"'))
    expect(decodeAll(decoder, lines).isDone).toBe(true)
    expect(decoder.finish?.()).toMatchObject([{ finishReason: 'stop', hasOpenChoice: false }])
    expect(decoder.finish?.()).toEqual([])
  })

  test('counts cached tokens as prompt, and uses the counts of the last event', () => {
    const last = read(fixtureEvents('anthropic-text.jsonl'), withUsage).parts.at(-1)
    expect(last?.usage).toEqual({
      promptTokens: 177,
      completionTokens: 15,
      totalTokens: 192,
      cachedTokens: 50,
      cacheWriteTokens: 100,
    })
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

  test('has no usage chunk unasked, but reports usage to the gateway', () => {
    const { parts } = read(fixtureEvents('anthropic-text.jsonl'))
    expect(parts).toHaveLength(4)
    expect(parts.at(-1)).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 192 } })
    expect(parts.map(({ data }) => jsonOf(data))).not.toContainEqual(
      expect.objectContaining({ usage: expect.anything() }),
    )
  })

  test('carries thinking, its signature, and parallel calls, one without arguments', () => {
    const { parts } = read(fixtureEvents('anthropic-tools.jsonl'))
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    })
    const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
    expect(deltas(parts)).toEqual([
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
    expect(parts.map(({ isBeyondText }) => isBeyondText)).toEqual([
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
    expect(parts.at(-1)?.finishReason).toBe('tool_calls')
  })

  test('begins once when the upstream begins twice, and takes the newer usage', () => {
    const { parts } = read(fixtureEvents('anthropic-repeated-start.jsonl'))
    expect(deltas(parts)).toEqual([{ role: 'assistant', content: '' }, { content: 'ok' }, {}])
    expect(parts[0] && jsonOf(parts[0].data)['id']).toBe('msg_01first')
    expect(parts.at(-1)?.usage).toEqual({ promptTokens: 99, completionTokens: 2, totalTokens: 101 })
  })

  test('may begin with all content, even twice', () => {
    const recorded = fixtureEvents('anthropic-prefilled-start.jsonl')
    const { parts, isDone } = read([...recorded.slice(0, 1), ...recorded])
    expect(parts).toHaveLength(3)
    expect(deltas(parts)).toMatchObject([
      { role: 'assistant' },
      {
        tool_calls: [
          { index: 0, id: 'toolu_3', type: 'function', function: { name: 'lookup', arguments: '{"id":"c1"}' } },
        ],
      },
      {},
    ])
    expect(parts.at(-1)?.finishReason).toBe('tool_calls')
    expect(isDone).toBe(true)
  })

  test('completes the arguments of a call whose block never ends, and takes those of its start', () => {
    const { parts } = read(
      events(
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      ),
    )
    expect(deltas(parts).slice(2)).toEqual([{ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }, {}])
  })

  test('is malformed where a piece of arguments belongs to no block', () => {
    const lost = { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } }
    const call = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f' } }
    expect(() => read(events(call, lost))).toThrow(MalformedAnswer)
  })

  test('finishes once', () => {
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }
    expect(read(events(end, end)).parts.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1)
  })

  const reasons: readonly (readonly [string, string])[] = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['not_known_yet', 'not_known_yet'],
  ]
  test.each(reasons)('that stops with %s finishes with %s', (stopReason, finishReason) => {
    const said = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }
    const { parts } = read(events(said, { type: 'message_delta', delta: { stop_reason: stopReason } }))
    expect(parts.at(-1)?.finishReason).toBe(finishReason)
  })

  const errors: readonly (readonly [string, string])[] = [
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate_limit'],
    ['api_error', 'server_error'],
    ['authentication_error', 'credential'],
    ['invalid_request_error', 'bad_request'],
  ]
  test.each(errors)('with the error %s fails as %s', (type, failure) => {
    expect(() => read(events({ type: 'error', error: { type, message: 'No.' } }))).toThrow(
      expect.objectContaining({ name: 'UpstreamFailure', failure }),
    )
  })

  test('with an event named error fails, with any data', () => {
    const decoder = chatOf(anthropic).stream(chatRequest({ stream: true }), anyone)
    for (const data of ['{"message":"No."}', '{}']) {
      expect(() => decoder.decode({ event: 'error', data: new TextEncoder().encode(data) })).toThrow(
        expect.objectContaining({ failure: 'server_error' }),
      )
    }
  })

  test('ignores unknown events', () => {
    expect(
      read(
        events(
          { type: 'ping' },
          { type: 'new_kind', index: 1 },
          { type: 'content_block_delta', index: 7, delta: { type: 'new_delta' } },
        ),
      ).parts,
    ).toHaveLength(1)
  })

  test('rejects an event that is not an object as malformed', () => {
    for (const data of ['{', '[]', '"text"', '']) expect(() => read([data])).toThrow(MalformedAnswer)
  })

  test('also ends at [DONE]', () => {
    expect(read(['[DONE]']).isDone).toBe(true)
  })

  test('ignores an event that is nested too deeply', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const block = `{"type":"tool_use","id":"a","name":"f","input":${deep}}`
    const start = `{"type":"content_block_start","index":0,"content_block":${block}}`
    expect(() => read([start])).toThrow(MalformedAnswer)
  })
})
