import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import type { ServerSentEvent } from '../../bytes/event-stream.ts'
import { targetWith } from '../../profiles/testing.ts'
import type { AnswerEvent } from '../answer.ts'
import { objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import type { PassThroughTarget } from '../format.ts'
import type { Part } from '../part.ts'
import { responses } from './format.ts'
import { checked, eventsOf, gatherStrictly } from './testing.ts'

const choice = 0
const start: AnswerEvent = { kind: 'start', id: 'x', model: 'up', created: 7 }
const stop: AnswerEvent = { kind: 'finish', choice, reason: 'stop', raw: 'stop' }
const usage: AnswerEvent = {
  kind: 'usage',
  counts: { prompt: 3, completion: 4, cached: 1, reasoning: 2 },
  own: undefined,
}

const text = (value: string): AnswerEvent => ({ kind: 'text', choice, text: value })
const reasoning = (value: string): AnswerEvent => ({ kind: 'reasoning', choice, text: value })
const call = (number: number, name = 'f'): AnswerEvent => ({
  kind: 'call',
  choice,
  call: number,
  id: `c${number}`,
  name,
  opaque: undefined,
})
const given = (number: number, value: string): AnswerEvent => ({ kind: 'arguments', choice, call: number, text: value })
const called = (number: number): AnswerEvent => ({ kind: 'callEnd', choice, call: number })

function write(pieces: readonly (readonly AnswerEvent[])[], fields: JsonObject = {}): readonly Part[] {
  const writer = responses.talk.writer(checked(fields))
  return [...pieces.flatMap((events) => writer.write(events)), ...writer.end()]
}

const target: PassThroughTarget = targetWith()

function eventOf({ event = '', data }: Part): ServerSentEvent {
  return { event, data }
}

function typesOf(parts: readonly Part[]): readonly unknown[] {
  return eventsOf(parts).map(({ type }) => String(type).replace('response.', ''))
}

function responseOf(parts: readonly Part[]): JsonObject {
  return objectOf(eventsOf(parts).at(-1)?.['response'])
}

describe('a stream of a response', () => {
  test('of text has all events in order, with the whole answer at the end', () => {
    const parts = write([[start], [text('Hel')], [text('lo')], [stop], [usage]])
    expect(typesOf(parts)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    expect(gatherStrictly(parts)).toEqual(objectsOf(responseOf(parts)['output']))
    expect(responseOf(parts)).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'up',
      created_at: 7,
      store: false,
      output: [
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hello' }] },
      ],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 7,
      },
    })
    expect(parts.map(({ text }) => text).join('')).toBe('Hello')
    expect(parts.findIndex(({ isMeaningful }) => isMeaningful)).toBe(4)
    expect(parts.some(({ isBeyondText }) => isBeyondText)).toBe(false)
    expect(parts.filter(({ finishReason }) => finishReason !== undefined)).toMatchObject([
      { finishReason: 'stop', hasOpenChoice: false },
    ])
    expect(parts.findLast((part) => part.usage)?.usage).toMatchObject({
      promptTokens: 3,
      completionTokens: 4,
      cachedTokens: 1,
    })
  })

  test('repeats the request, with defaults for what it left out', () => {
    const parts = write([[start, stop]], {
      instructions: 'line\nbreak',
      store: true,
      tools: [{ type: 'web_search' }],
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      metadata: { a: 'b' },
    })
    for (const { data } of parts) expect(data).not.toContain(0x0a)
    expect(responseOf(parts)).toMatchObject({
      instructions: 'line\nbreak',
      store: false,
      background: false,
      previous_response_id: null,
      tools: [{ type: 'web_search' }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' }, verbosity: 'low' },
      metadata: { a: 'b' },
      temperature: 1,
      top_p: 1,
      truncation: 'disabled',
      error: null,
      incomplete_details: null,
      max_output_tokens: null,
    })
    expect(responseOf(write([[start, stop]], { instructions: 'x'.repeat(200_000) }))['instructions']).toBeNull()
  })

  test('has reasoning, then text, then parallel calls whose arguments alternate', () => {
    const parts = write([
      [start, reasoning('why')],
      [text('I look.')],
      [call(0), call(1)],
      [given(0, '{"a"')],
      [given(1, '{"b"')],
      [given(0, ':1}'), given(1, ':2}')],
      [called(0), called(1), { ...stop, reason: 'tool_calls' }],
    ])
    expect(gatherStrictly(parts)).toEqual(objectsOf(responseOf(parts)['output']))
    expect(responseOf(parts)['output']).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"a":1}', status: 'completed' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"b":2}', status: 'completed' },
    ])
  })

  test('gives tools their names and kinds back', () => {
    const fields = {
      tools: [
        { type: 'custom', name: 'patch' },
        { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'go' }] },
        { type: 'tool_search', execution: 'client' },
      ],
    }
    const parts = write(
      [
        [start, call(0, 'patch'), given(0, '{"input":"*** a')],
        [given(0, '\\nb"}')],
        [call(1, 'ns__go'), given(1, '{}'), call(2, 'tool_search'), given(2, '{"query":"q"}')],
        [called(0), called(1), called(2), stop],
      ],
      fields,
    )
    expect(gatherStrictly(parts)).toEqual(objectsOf(responseOf(parts)['output']))
    expect(responseOf(parts)['output']).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c0', name: 'patch', input: '*** a\nb' },
      { type: 'function_call', name: 'go', namespace: 'ns', arguments: '{}' },
      { type: 'tool_search_call', call_id: 'c2', execution: 'client', arguments: { query: 'q' } },
    ])
    expect(
      eventsOf(parts)
        .filter(({ type }) => type === 'response.custom_tool_call_input.delta')
        .map(({ delta }) => delta),
    ).toEqual(['*** a', '\nb'])
  })

  test('has an empty object as the arguments of a call without any', () => {
    const parts = write([[start, call(0), called(0), stop]])
    expect(responseOf(parts)['output']).toMatchObject([{ type: 'function_call', arguments: '{}' }])
  })

  test('seals reasoning for its maker when the caller asks for it', () => {
    const opaque = { maker: 'sealed', data: 'svc1:signature' } as const
    const sealed: AnswerEvent = { kind: 'sealed', choice, text: 'why', opaque }
    const hidden: AnswerEvent = { kind: 'sealed', choice, text: undefined, opaque }
    const signed: AnswerEvent = {
      kind: 'call',
      choice,
      call: 0,
      id: 'c',
      name: 'f',
      opaque: { maker: 'sealed', data: 'svc1:call' },
    }
    const pieces = [[start, reasoning('why'), sealed], [hidden], [signed, called(0), stop]]
    const output = (fields: JsonObject) => objectsOf(responseOf(write(pieces, fields))['output'])
    expect(output({}).map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
    const asked = { include: ['reasoning.encrypted_content'] }
    expect(output(asked).map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'reasoning', 'function_call'])
    for (const item of output(asked).slice(0, 3)) expect(item['encrypted_content']).toStartWith('svc1:')
    expect(gatherStrictly(write(pieces, asked))).toHaveLength(4)
    const inOne = write([[start, reasoning('why'), signed, called(0), stop]], asked)
    expect(gatherStrictly(inOne)).toMatchObject([
      { summary: [{ text: 'why' }], encrypted_content: 'svc1:call' },
      { type: 'function_call' },
    ])
  })

  test('ends incomplete at its limit, and never ends a call that was cut', () => {
    const length: AnswerEvent = { kind: 'finish', choice, reason: 'length', raw: 'length' }
    const parts = write([
      [start, text('a'), call(0), given(0, '{"a":')],
      [called(0), length],
    ])
    expect(typesOf(parts).at(-1)).toBe('incomplete')
    expect(typesOf(parts).filter((type) => type === 'output_item.done')).toHaveLength(1)
    expect(responseOf(parts)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message' }, { type: 'function_call', status: 'incomplete', arguments: '{"a":' }],
    })
    expect(responseOf(write([[start, text('a')], [length]]))['output']).toMatchObject([{ status: 'incomplete' }])
  })

  test('that ended for a reason of the upstream alone is incomplete, unless it is calls', () => {
    const odd: AnswerEvent = { kind: 'finish', choice, reason: 'other', raw: 'recitation' }
    const parts = write([[start], [text('x')], [odd]])
    expect(responseOf(parts)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'recitation' },
      output: [{ status: 'incomplete' }],
    })
    const reader = responses.passThrough.reader?.(checked(), target)
    const read = parts.filter(({ data }) => data.length > 0).map((part) => reader?.read(eventOf(part)))
    const last = read.at(-1)
    expect(Array.isArray(last) ? last.at(-1) : last).toMatchObject({ finishReason: 'other' })
    expect(responseOf(write([[start], [call(0), given(0, '{}'), called(0), odd]]))['status']).toBe('completed')
  })

  test('that was filtered is incomplete, unless the model refused in words', () => {
    const filtered: AnswerEvent = { kind: 'finish', choice, reason: 'content_filter', raw: undefined }
    expect(responseOf(write([[start, filtered]]))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    })
    const refused = write([[start, { kind: 'refusal', choice, text: 'No.' }, filtered]])
    expect(responseOf(refused)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }],
    })
    expect(gatherStrictly(refused)).toEqual(objectsOf(responseOf(refused)['output']))
  })

  test('carries pictures and log probabilities', () => {
    const tokens = [{ token: 'a', logprob: -1 }]
    const parts = write([
      [start, text('a'), { kind: 'logprobs', choice, tokens, refusalTokens: undefined }],
      [{ kind: 'image', choice, mediaType: 'image/png', base64: 'aGk=' }, stop],
    ])
    expect(responseOf(parts)['output']).toMatchObject([
      { content: [{ text: 'a', logprobs: tokens }] },
      { type: 'image_generation_call', status: 'completed', result: 'aGk=' },
    ])
  })

  test('cut after any piece has no end, and no end of an open item', () => {
    const writer = responses.talk.writer(checked())
    const parts = [[start, text('a')], [call(0)], [given(0, '{')]].flatMap((events) => writer.write(events))
    expect(typesOf(parts).filter((type) => /^(?:completed|incomplete)$/.test(String(type)))).toEqual([])
    expect(typesOf(parts).filter((type) => type === 'output_item.done')).toHaveLength(1)
  })

  test('fails when the whole answer is too large to be kept', () => {
    const writer = responses.talk.writer(checked())
    const piece = [text('x'.repeat(1024 * 1024))]
    expect(() => {
      for (let count = 0; count < 20; count++) writer.write(piece)
    }).toThrow('too large')
  })

  test('is strict and the same as the whole answer, for any events', () => {
    const event: fc.Arbitrary<readonly AnswerEvent[]> = fc.oneof(
      fc.string().map((value) => [text(value)]),
      fc.string().map((value) => [reasoning(value)]),
      fc.string().map((value): readonly AnswerEvent[] => [{ kind: 'refusal', choice, text: value }]),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(3), (pieces, callCount) => {
        const calls = Array.from({ length: callCount }, (_, number) => [call(number), given(number, '{"a":"é"}')])
        const ends = Array.from({ length: callCount }, (_, number) => called(number))
        const all = [[start], ...pieces, ...calls, [...ends, stop], [usage]]
        const parts = write(all)
        const { output } = responseOf(parts)
        expect(gatherStrictly(parts)).toEqual(objectsOf(output))
        const whole = responses.talk.writeWhole(all.flat(), checked())
        const contents = (items: unknown) => objectsOf(items).map(({ id: _, ...item }) => item)
        expect(contents(objectOf(parseJsonBytes(whole.body))['output'])).toEqual(contents(output))
        const again = responses.stream.split(whole.body, checked({ stream: true }))
        expect(contents(gatherStrictly(again))).toEqual(contents(output))
        const gatherer = responses.stream.gatherer(checked())
        for (const part of parts) if (part.data.length > 0) gatherer.add(part)
        expect(objectOf(parseJsonBytes(gatherer.finish()))['output']).toEqual(output)
      }),
    )
  })
})
