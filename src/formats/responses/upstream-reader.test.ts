import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson } from '../exact-json.ts'
import { answerContract } from '../testing.ts'
import { readResponsesAnswer, responsesAnswerReader } from './upstream-reader.ts'
import { responsesUpstream } from './upstream.ts'

const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt', error: null }
const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
const message = (text: string): JsonObject => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const call = { type: 'function_call', call_id: 'call_1', name: 'find', arguments: '{"a":1}' }
const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const begin = { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } }
const end = (output: readonly JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: { ...head, status: 'completed', output, usage },
})
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const textDelta = (output_index: number, delta: string): JsonObject => ({
  type: 'response.output_text.delta',
  output_index,
  delta,
})
const argumentsDelta = (output_index: number, delta: string): JsonObject => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
})

const stream = [
  begin,
  added(0, { type: 'reasoning', summary: [] }),
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm.' },
  done(0, reasoning),
  added(1, { ...message(''), content: [] }),
  textDelta(1, 'Good '),
  textDelta(1, 'morning'),
  done(1, message('Good morning')),
  added(2, { ...call, arguments: '' }),
  argumentsDelta(2, '{"a"'),
  argumentsDelta(2, ':1}'),
  done(2, call),
  end([reasoning, message('Good morning'), call]),
]

const index = fc.nat(2)
const text = fc.constantFrom('', 'Good ', '{"city":', '"Paris"}')
const item = fc.oneof(
  text.map(message),
  fc.constantFrom(reasoning, call, { ...call, arguments: '' }, { type: 'web_search_call' }),
)
answerContract(responsesUpstream, {
  streams: [stream, [begin, textDelta(0, 'Hi'), end([])], [begin, end([message('Hi'), call])]],
  wholes: [
    { ...head, status: 'completed', output: [reasoning, message('Good morning'), call], usage },
    { ...head, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [message('Go')] },
  ],
  events: fc.oneof(
    fc.tuple(index, item).map(([at, each]) => added(at, each)),
    fc.tuple(index, item).map(([at, each]) => done(at, each)),
    fc.tuple(index, text).map(([at, each]) => textDelta(at, each)),
    fc.tuple(index, text).map(([at, each]) => argumentsDelta(at, each)),
    fc.array(item, { maxLength: 3 }).map(end),
    fc.constantFrom<JsonObject>(begin, { type: 'response.in_progress', response: head }, {}),
  ),
})

/** The events of a stream, without the start. */
function said(events: readonly JsonObject[]) {
  const reader = responsesAnswerReader()
  const read = events.flatMap((event) => {
    const each = reader.read(event)
    return each === 'done' || 'kind' in each ? [] : each
  })
  return read.filter(({ kind }) => kind !== 'start' && kind !== 'usage')
}

describe('a stream of Responses', () => {
  test('says an item that comes only as a whole, or only in the last event, once', () => {
    const finish = { kind: 'finish', choice: 0, reason: 'stop', raw: undefined }
    const hi = { kind: 'text', choice: 0, text: 'Hi' }
    for (const events of [
      [begin, done(0, message('Hi')), end([message('Hi')])],
      [begin, end([message('Hi')])],
      [begin, textDelta(0, 'Hi'), done(0, message('Hi')), end([message('Hi')])],
    ] as const)
      expect(said(events)).toEqual([expect.objectContaining(hi), expect.objectContaining(finish)])
  })

  test('without indexes says each item once', () => {
    const unplaced = (events: readonly JsonObject[]) => events.map(({ output_index: _, ...event }) => event)
    expect(said(unplaced(stream))).toEqual(said(stream))
    const wholes = [
      begin,
      done(0, reasoning),
      done(1, message('Hi')),
      done(2, call),
      end([reasoning, message('Hi'), call]),
    ]
    expect(said(unplaced(wholes))).toEqual(said(wholes))
    const loose = [begin, textDelta(0, 'Hi'), done(0, message('Hi')), end([message('Hi')])]
    expect(said(unplaced(loose))).toEqual(said(loose))
  })

  test('that ends with [DONE] alone is cut, also where a call had no arguments yet', () => {
    for (const events of [
      [begin, textDelta(0, 'Hi')],
      [begin, added(0, { ...call, arguments: '' })],
    ] as const) {
      const reader = responsesAnswerReader()
      for (const event of events) reader.read(event)
      expect(() => reader.end()).toThrow(/no last event/)
    }
  })

  test.each(['queued', 'in_progress', 'cancelled'])('whose response is %s at the end is no answer', (status) => {
    const response = { ...head, status, output: [message('Hi')] }
    expect(() => readResponsesAnswer(response)).toThrow(/the response is/)
    expect(() => said([begin, { type: 'response.completed', response }])).toThrow(/the response is/)
  })

  test('ends with calls, though its last event has no items', () => {
    expect(said([begin, added(0, call), done(0, call), end([])]).at(-1)).toMatchObject({ reason: 'tool_calls' })
  })

  test('has reasoning that can go back to its maker', () => {
    const sealed = { ...reasoning, encrypted_content: 'gAAA' }
    expect(said([begin, done(0, sealed), end([sealed])])).toMatchObject([
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'sealed', text: 'Hm.', opaque: { maker: 'openai', data: 'gAAA' } },
      { kind: 'finish' },
    ])
  })

  test('parts its summaries', () => {
    const part = (summary_index: number): JsonObject => ({
      type: 'response.reasoning_summary_part.added',
      output_index: 0,
      summary_index,
    })
    const delta = { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'One.' }
    expect(said([begin, part(0), delta, part(1), delta]).map((event) => 'text' in event && event.text)).toEqual([
      'One.',
      '\n\n',
      'One.',
    ])
  })

  test('that failed is an error, as is a whole answer', () => {
    const response = { ...head, status: 'failed', error: { code: 'server_error', message: 'No more' } }
    const reader = responsesUpstream.answerReader()
    const event = { event: '', data: encodeJson({ type: 'response.failed', response }) }
    expect(reader.read(event)).toMatchObject({ kind: 'error', error: { message: 'No more' } })
    expect(readResponsesAnswer(response)).toMatchObject({ kind: 'error', error: { message: 'No more' } })
    expect(responsesAnswerReader().read({ type: 'response.completed', response })).toMatchObject({ kind: 'error' })
  })
})
