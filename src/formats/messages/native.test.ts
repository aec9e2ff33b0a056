import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { eventStreamReader, formatEvents } from '../../bytes/event-stream.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { parseChecked } from '../chat/read-event.ts'
import { encodeJson } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { messageContinuation } from './continuation.ts'
import { messageEventReader } from './native.ts'

const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 }
const start = { type: 'message_start', message: { id: 'a', usage } }
const text = (said: string, index = 0) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text: said },
})
const open = (type: string, index = 0) => ({ type: 'content_block_start', index, content_block: { type } })
const close = { type: 'content_block_stop', index: 0 }
const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }
const stop = { type: 'message_stop' }

/** All parts, of events without names. */
function read(...events: readonly JsonObject[]): readonly Part[] {
  const reader = messageEventReader()
  const parts = events.flatMap((event) => {
    const found = reader.read({ event: '', data: encodeJson(event) })
    return found === 'done' || 'kind' in found ? [] : found
  })
  return [...parts, ...reader.finish(), ...(reader.end?.() ?? [])]
}

function types(parts: readonly Part[]): readonly unknown[] {
  return parts.map(({ data }) => parseChecked(data)['type'])
}

describe('events that pass through', () => {
  test('get their names, and facts for layers', () => {
    const parts = read(start, open('text'), text('Hi'), close, end, stop)
    expect(parts.map(({ event }) => event)).toEqual([...types(parts)].map(String))
    expect(parts.map(({ isMeaningful }) => isMeaningful)).toEqual([false, false, true, false, true, false])
    expect(parts[4]).toMatchObject({
      finishReason: 'stop',
      hasOpenChoice: false,
      usage: { promptTokens: 7, completionTokens: 9, cachedTokens: 4 },
    })
  })

  test('have one start', () => {
    expect(types(read(start, start, end, stop))).toEqual(['message_start', 'message_delta', 'message_stop'])
  })

  test('have usage, which clients require', () => {
    const parts = read({ type: 'message_start', message: { id: 'a' } }, { ...end, usage: undefined }, stop)
    expect(parts.slice(0, 2).map(({ data }) => parseChecked(data))).toEqual([
      { type: 'message_start', message: { id: 'a', usage: { input_tokens: 0, output_tokens: 0 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } },
    ])
  })

  test('may have whole blocks and the finish in the start', () => {
    const message = { ...start.message, content: [{ type: 'tool_use', name: 'f' }], stop_reason: 'tool_use' }
    const parts = read({ type: 'message_start', message }, stop)
    expect(types(parts)).toEqual(['message_start', 'message_stop'])
    expect(parts[0]).toMatchObject({ isMeaningful: true, isBeyondText: true, finishReason: 'tool_calls' })
  })

  test('that lack their end get it', () => {
    expect(types(read(start, open('text'), text('x'), close, end)).at(-1)).toBe('message_stop')
    const [delta] = read(start, open('tool_use'), close, stop).slice(-2)
    expect(delta && parseChecked(delta.data)['delta']).toEqual({ stop_reason: 'tool_use', stop_sequence: null })
  })

  test.each<readonly [string, JsonObject, Partial<Part>]>([
    ['a call', open('tool_use'), { isMeaningful: true, isBeyondText: true }],
    ['a tool that runs upstream', open('server_tool_use'), { isMeaningful: true, isBeyondText: true }],
    ['thinking', open('thinking'), { isMeaningful: false, isProgress: true }],
    [
      'a count of hidden tokens',
      { ...text(''), delta: { type: 'thinking_delta', thinking: '', n: 5 } },
      { isMeaningful: false },
    ],
    ['a signature', { ...text(''), delta: { type: 'signature_delta', signature: 's' } }, { isBeyondText: true }],
    ['empty text', text(''), { isMeaningful: false }],
    ['an unknown event', { type: 'news' }, { isMeaningful: false, event: 'news' }],
  ])('know %s', (_name, event, facts) => {
    const before = 'delta' in event ? [start, open('text')] : [start]
    expect(read(...before, event, ...('index' in event ? [close] : []))[before.length]).toMatchObject(facts)
  })

  test('get the end of a block that is no call', () => {
    expect(types(read(start, open('thinking'), open('text', 1), text('x', 1), end, stop))).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test.each<readonly [string, readonly JsonObject[]]>([
    ['a block before the start', [open('text')]],
    ['a finish before the start', [end]],
    ['a block behind the finish', [start, open('text'), close, end, open('text', 1)]],
    ['arguments of no block', [start, { ...text(''), delta: { type: 'input_json_delta', partial_json: '{' } }]],
    ['text in a call', [start, open('tool_use'), text('x')]],
    ['a call that never ends', [start, open('tool_use'), end]],
    ['a call that never ends before another block', [start, open('tool_use'), open('text', 1)]],
    ['neither an end of the block nor a finish', [start, open('text'), text('x'), stop]],
    ['neither an end of a call nor a finish', [start, open('tool_use'), stop]],
  ])('are malformed with %s', (_name, events) => {
    expect(() => read(...events)).toThrow(MalformedAnswer)
  })

  test.each<readonly [string, readonly JsonObject[], readonly string[]]>([
    ['a gap in the indexes', [open('text', 3), text('x', 3), { ...close, index: 3 }], ['0+text', '0 x', '0-']],
    [
      'an index that was used',
      [open('text'), text('x'), close, open('text'), text('y'), close],
      ['0+text', '0 x', '0-', '1+text', '1 y', '1-'],
    ],
    [
      'no index',
      [
        { ...open('text'), index: null },
        { ...text('x'), index: null },
      ],
      ['0+text', '0 x', '0-'],
    ],
    ['text of another block', [open('text'), text('x', 1), close], ['0+text', '0 x', '0-']],
    ['text of no block', [text('x'), close], ['0+text', '0 x', '0-']],
    ['text behind its block', [open('text'), close, text('x')], ['0+text', '0-', '1+text', '1 x', '1-']],
    ['text in thinking', [open('thinking'), text('x')], ['0+thinking', '0-', '1+text', '1 x', '1-']],
    ['ends of no block', [close, open('text'), close, close, { ...close, index: 1 }], ['0+text', '0-']],
  ])('have right indexes, starts and ends despite %s', (_name, events, expected) => {
    const blocks = read(start, ...events, end, stop).map(({ data }) => parseChecked(data))
    const written = blocks.slice(1, -2).map(({ index, type, content_block, delta }) => {
      const began = content_block as JsonObject | undefined
      const more = delta as JsonObject | undefined
      return type === 'content_block_stop'
        ? `${index}-`
        : `${index}${began ? `+${began['type']}` : ` ${more?.['text']}`}`
    })
    expect(written).toEqual([...expected])
  })

  test('have the input of a call in deltas alone', () => {
    const begin = { ...open('tool_use'), content_block: { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } } }
    const piece = { ...text(''), delta: { type: 'input_json_delta', partial_json: '{"a":2}' } }
    const inputs = (...events: readonly JsonObject[]) =>
      read(start, begin, ...events, close, end, stop).flatMap(({ data }) => {
        const { content_block, delta } = parseChecked(data) as Record<string, JsonObject | undefined>
        return content_block?.['input'] ?? delta?.['partial_json'] ?? []
      })
    expect(inputs()).toEqual([{}, '{"a":1}'])
    expect(inputs(piece)).toEqual([{}, '{"a":2}'])
  })

  test('have calls with ids of their own, an object as input, and a finish that says so', () => {
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
    const begin = (content_block: JsonObject, index: number) => ({ ...open('tool_use', index), content_block })
    const parts = read(
      start,
      begin(call, 0),
      close,
      begin({ ...call, input: null }, 1),
      { ...close, index: 1 },
      end,
      stop,
    ).map(({ data }) => parseChecked(data))
    expect(parts[1]?.['content_block']).toEqual(call)
    expect(parts[3]?.['content_block']).toEqual({ ...call, id: expect.stringMatching(/^toolu_[0-9a-f]{32}$/) })
    expect(parts[5]?.['delta']).toEqual({ stop_reason: 'tool_use' })
  })

  test('end for callers that wait, where only the finish is missing', () => {
    expect(types(read(start, open('tool_use'), close)).slice(-2)).toEqual(['message_delta', 'message_stop'])
  })

  test.each([
    ['[]'],
    ['5'],
    ['{"type":'],
    ['{"type":"content_block_delta","delta":{"text":5}}'],
    ['{"type":"message_start"}'],
  ])('are malformed as %s', (data) => {
    expect(() => messageEventReader().read({ event: '', data: new TextEncoder().encode(data) })).toThrow(
      MalformedAnswer,
    )
  })
})

test('a part that was read with its framing is written anew where a resumed stream changes it', () => {
  const events = eventStreamReader()
  const reader = messageEventReader()
  const parts = [start, open('text'), text('One'), text('Two'), text('Three')].flatMap((event) =>
    events.push(encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)).flatMap((each) => {
      const found = reader.read(each)
      return found === 'done' || 'kind' in found ? [] : found
    }),
  )
  const last = parts.at(-1)
  if (last === undefined) throw new Error('there is no part')
  expect(last.framed).toBeDefined()
  const written = messageContinuation({ first: parts[0], place: parts[2], last: parts[2] }).write(last, 'ee')
  expect(utf8(formatEvents(written))).toContain('"text":"ee"')
  expect(utf8(formatEvents(written))).not.toContain('Three')
})
