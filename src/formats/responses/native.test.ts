import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { encodeJson } from '../exact-json.ts'
import { partReader } from './native.ts'

const created = { type: 'response.created', response: { id: 'r' } }
const thinking = { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs' } }
const keepalive = { type: 'keepalive' }
const delta = { type: 'response.output_text.delta', item_id: 'm', delta: 'é\n"x"', logprobs: [] }

function reader() {
  const parts = partReader()
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
      const read = reader()
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
      const [named, bare] = [reader()(event, delta.type), reader()(event, '')]
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

  test('is one line an event', () => {
    const data = encode('{"type":"response.output_text.delta",\n"delta":"x"}')
    expect(partReader().read({ event: delta.type, data })).toMatchObject([
      { data: encode('{"type":"response.output_text.delta", "delta":"x"}') },
    ])
  })
})
