import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { parseChecked } from '../chat/read-event.ts'
import { encodeJson } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { partReader } from './native.ts'

const created = { type: 'response.created', response: { id: 'r' } }
const thinking = { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs' } }
const keepalive = { type: 'keepalive' }
const delta = { type: 'response.output_text.delta', item_id: 'm', delta: 'é\n"x"', logprobs: [] }

function reader(...before: readonly JsonObject[]) {
  const parts = partReader()
  for (const event of before) parts.read({ event: '', data: encodeJson(event) })
  return (event: JsonObject, name = String(event['type'])) => parts.read({ event: name, data: encodeJson(event) })
}

describe('a stream of responses that passes through', () => {
  test('is held back until its first content', () => {
    const read = reader()
    expect(read(created)).toEqual([])
    expect(read(keepalive)).toEqual([])
    expect(read(delta)).toMatchObject([
      { event: 'response.created', isMeaningful: false },
      { event: 'keepalive' },
      { event: delta.type, isMeaningful: true, text: 'é\n"x"', isBeyondText: false },
    ])
    expect(read(keepalive)).toMatchObject([{ event: 'keepalive' }])
  })

  test('shows progress once the model thinks, still held back', () => {
    const read = reader()
    read(created)
    expect(read(thinking)).toMatchObject([{ isProgress: true, isMeaningful: false }])
    for (let count = 0; count < 100; count++) expect(read(keepalive)).toMatchObject([{ isProgress: true }])
    expect(read(delta)).toHaveLength(103)
  })

  test('without content is bounded', () => {
    const many = (first: JsonObject, count: number) => () => {
      const read = reader(...(first === thinking ? [created] : []))
      read(first)
      for (let event = 0; event < count; event++) read(keepalive)
    }
    expect(many(created, 65)).toThrow('too many events')
    expect(many(thinking, 10_001)).toThrow('too many events')
    expect(many({ ...created, text: 'x'.repeat(5 * 1024 * 1024) }, 0)).toThrow('too many events')
  })

  test('is read the same with and without names of events', () => {
    for (const event of [
      delta,
      { ...delta, delta: '' },
      { ...delta, delta: 5 },
      { ...delta, type: 'response.refusal.delta' },
    ]) {
      const [named, bare] = [reader(created)(event, delta.type), reader(created)(event, '')]
      const facts = (read: unknown) =>
        Array.isArray(read) ? read.map((part: object) => ({ ...part, event: '' })) : read
      expect(facts(named)).toEqual(facts(bare))
    }
  })

  test('is malformed where an event is no JSON object', () => {
    for (const data of ['{', '[]', '{"type":"response.output_text.delta","delta":"x"', '{}x', '5'])
      expect(() => partReader().read({ event: delta.type, data: encode(data) })).toThrow(
        /is not (?:JSON|a JSON object)/,
      )
  })

  const call = { type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', id: 'f' } }
  const piece = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{' }
  const done = { type: 'response.output_item.done', output_index: 0, item: call.item }
  const completed = { type: 'response.completed', response: { status: 'completed', output: [] } }

  test.each<readonly [string, readonly JsonObject[]]>([
    ['text before the start', [delta]],
    ['an item before the start', [call]],
    ['an end before the start', [completed]],
    ['a second start', [created, created]],
    ['no types', [{ choices: [] }]],
    ['a second item at an index', [created, call, call]],
    ['an item at the index of one that has ended', [created, call, done, thinking]],
    ['a piece of a call that has not begun', [created, piece]],
    ['a piece of a call that has ended', [created, call, done, piece]],
    ['a call that is open at the end', [created, call, piece, completed]],
    ['no response at the end', [created, { type: 'response.completed' }]],
  ])('is malformed with %s', (_name, events) => {
    const read = reader()
    expect(() => events.map((event) => read(event))).toThrow(MalformedAnswer)
  })

  test('may end at its limit inside a call, and begin without its first event', () => {
    const begun = { type: 'response.in_progress', response: { id: 'r' } }
    const incomplete = { type: 'response.incomplete', response: { status: 'incomplete' } }
    expect(reader(begun, call, piece)(incomplete)).toMatchObject([{ finishReason: 'length' }])
    expect(reader(created, call, piece, done)(completed)).toMatchObject([{ finishReason: 'tool_calls' }])
  })

  test('ends text with the event behind it, so that a cut between them can be resumed', () => {
    const ends = [
      { type: 'response.output_text.done', text: 'x' },
      { type: 'response.content_part.done', part: { type: 'output_text' } },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message' } },
    ]
    const read = reader(created, delta)
    for (const end of ends) expect(read(end)).toEqual([])
    expect(read(keepalive)).toMatchObject([{ event: 'keepalive' }])
    const types = (parts: unknown) => (Array.isArray(parts) ? parts.map(({ event }) => event) : parts)
    expect(types(read(completed))).toEqual([...ends.map(({ type }) => type), completed.type])
  })

  test('ends text at once behind other content, and if its end is large', () => {
    const end = { type: 'response.output_text.done', text: 'x' }
    expect(reader(created, call, delta)(end)).toHaveLength(1)
    expect(reader(created, delta)({ ...end, text: 'x'.repeat(5 * 1024 * 1024) })).toHaveLength(1)
  })

  test('compares deltas that differ in their text and number only', () => {
    const read = reader(created)
    for (const [number, text] of ['a', ' b', 'c\n', '', 'é', 'd', 'e'].entries()) {
      const event = { ...delta, delta: text, sequence_number: number, obfuscation: 'x'.repeat(number) }
      const parts = read(event)
      expect(Array.isArray(parts) ? parts.at(-1) : parts).toMatchObject({ text, data: encodeJson(event) })
    }
  })

  const added = { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', content: [] } }
  const placed = { ...delta, output_index: 0, content_index: 0, delta: 'x' }
  const message = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'xx' }] }
  const ended = { type: 'response.output_item.done', output_index: 0, item: message }

  /** All events that the client gets. */
  function eventsOf(...events: readonly JsonObject[]): readonly JsonObject[] {
    const read = reader()
    return events.flatMap((event) => {
      const parts = read(event)
      return Array.isArray(parts)
        ? parts.filter(({ data }) => data.length > 0).map(({ data }) => parseChecked(data))
        : []
    })
  }

  test('has the output at its end, from the items before it', () => {
    for (const output of [[], undefined, null]) {
      const end = { ...completed, response: { status: 'completed', output } }
      expect(eventsOf(created, added, placed, ended, end).at(-1)?.['response']).toMatchObject({ output: [message] })
    }
  })

  test('has one id for an item, and calls with ids of their own', () => {
    const events = eventsOf(
      created,
      added,
      { ...placed, item_id: 'a' },
      { ...placed, item_id: 'b' },
      { ...ended, item: { ...message, id: 'c' } },
      { type: 'response.completed', response: { output: [{ ...message, id: 'd' }] } },
    )
    expect(JSON.stringify(events)).not.toMatch(/"(?:item_)?id":"[abcd]"/)
    const begin = (output_index: number) => ({ ...call, output_index, item: { ...call.item, call_id: 'c' } })
    const finish = (output_index: number) => ({ ...done, output_index, item: { ...call.item, call_id: 'c' } })
    const calls = eventsOf(created, begin(0), finish(0), begin(1), finish(1), completed)
    const ids = calls.flatMap(({ item }) => (item as JsonObject | undefined)?.['call_id'] ?? [])
    expect(ids.slice(0, 2)).toEqual(['c', 'c'])
    expect(ids[2]).toMatch(/^call_[0-9a-f]{32}$/)
    expect(ids[3]).toBe(ids[2])
    const reasoning = { type: 'reasoning', encrypted_content: 'x' }
    const thought = eventsOf(
      created,
      { ...added, item: { ...reasoning, id: 'one' } },
      { ...ended, item: { ...reasoning, id: 'two' } },
      // Reasoning that shows nothing waits for content.
      begin(1),
    )
    expect(JSON.stringify(thought)).toContain('"id":"two"')
  })

  const typesOf = (events: readonly JsonObject[]) => events.map(({ type }) => String(type).replace('response.', ''))

  test('has the beginning and the ends of text that lacks them', () => {
    const end = { ...completed, response: { status: 'completed', output: [message] } }
    const beginning = ['created', 'output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta']
    const ends = ['output_text.done', 'content_part.done', 'output_item.done', 'completed']
    for (const last of [end, completed]) {
      const events = eventsOf(created, placed, placed, last)
      expect(typesOf(events)).toEqual([...beginning, ...ends])
      expect(events.at(-2)?.['item']).toMatchObject({ id: 'm', content: [{ text: 'xx' }] })
      expect(events.at(-1)?.['response']).toMatchObject({ output: [{ id: 'm' }] })
    }
    const whole = ['output_item.added', 'content_part.added', 'output_text.delta', ...ends]
    const part = { type: 'response.content_part.added', item_id: 'm', output_index: 0, content_index: 0 }
    expect(typesOf(eventsOf(created, added, placed, placed, end))).toEqual([...beginning, ...ends])
    expect(typesOf(eventsOf(created, part, placed, placed, end))).toEqual([...beginning, ...ends])
    expect(typesOf(eventsOf(created, ended, completed))).toEqual(['created', ...whole])
    expect(typesOf(eventsOf(created, end))).toEqual(['created', ...whole])
    expect(typesOf(eventsOf(created, added, end))).toEqual(['created', ...whole])
  })

  test('drops what comes behind its end', () => {
    expect(reader(created, delta, completed)(delta)).toBe('done')
  })

  test('takes events of other formats for no content', () => {
    const read = reader()
    for (const type of ['message_start', 'content_block_delta', 'vendor:news']) expect(read({ type })).toEqual([])
  })

  test('is one line an event', () => {
    const data = encode('{"type":"response.output_text.delta",\n"delta":"x"}')
    const parts = partReader()
    parts.read({ event: '', data: encodeJson(created) })
    expect(parts.read({ event: delta.type, data })).toMatchObject([
      { isMeaningful: false },
      { data: encode('{"type":"response.output_text.delta", "delta":"x"}') },
    ])
  })
})
