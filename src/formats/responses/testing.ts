import { expect } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { checkBody } from '../check-body.ts'
import { listOf, objectOf, parseJsonBytes } from '../exact-json.ts'
import type { Part } from '../part.ts'
import { requestReader, type ResponsesRequest } from './request.ts'

/** A checked request for a response; `fields` adds and replaces fields. For tests. */
export function checked(fields: Readonly<Record<string, unknown>> = {}): ResponsesRequest {
  return checkBody(
    new TextEncoder().encode(JSON.stringify({ model: 'm', input: 'hi', ...fields })),
    requestReader('responses'),
  )
}

/** The events of these parts; without the end marker. For tests. */
export function eventsOf(parts: readonly Part[]): readonly JsonObject[] {
  const sent = parts.filter(({ data }) => data.length > 0 && data[0] === '{'.charCodeAt(0))
  for (const { event, data } of sent) expect(event).toBe(String(objectOf(parseJsonBytes(data))['type']))
  return sent.map(({ data }) => objectOf(parseJsonBytes(data)))
}

/**
 * Gathers the items of a stream from its single events, and checks what strict clients check: numbers in order, nothing
 * before it was added, nothing after it was done, and text that is the sum of its pieces. For tests.
 */
export function gatherStrictly(parts: readonly Part[]): readonly JsonObject[] {
  const events = eventsOf(parts)
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index))
  expect(events[0]?.['type']).toBe('response.created')
  const ids = new Set(events.flatMap(({ response }) => (response === undefined ? [] : [objectOf(response)['id']])))
  expect(ids.size).toBe(1)
  const open = new Map<unknown, string>()
  const texts = new Map<string, string>()
  const items: JsonObject[] = []
  for (const event of events) {
    const { type, output_index, item_id, content_index = 0, summary_index, item, delta } = event
    const place = `${String(output_index)} ${String(content_index)} ${String(summary_index)}`
    switch (type) {
      case 'response.output_item.added':
        expect([...open.keys(), ...items.keys()].filter((index) => index === output_index && !open.has(index))).toEqual(
          [],
        )
        open.set(output_index, String(objectOf(item)['id']))
        break
      case 'response.output_item.done':
        expect(open.get(output_index)).toBe(String(objectOf(item)['id']))
        open.delete(output_index)
        items[Number(output_index)] = objectOf(item)
        break
      case 'response.created':
      case 'response.in_progress':
      case 'response.completed':
      case 'response.incomplete':
        break
      default:
        expect(open.get(output_index)).toBe(String(item_id))
        if (typeof delta === 'string') texts.set(place, (texts.get(place) ?? '') + delta)
        else if (String(type).endsWith('.done') && event['part'] === undefined)
          expect(event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input']).toBe(texts.get(place) ?? '')
    }
  }
  for (const [index, { content, summary, arguments: given, input }] of items.entries()) {
    const said = [...listOf(content), ...listOf(summary)].map(objectOf).map(({ text, refusal }) => text ?? refusal)
    const all = [...texts].filter(([place]) => place.startsWith(`${index} `)).map(([, value]) => value)
    expect(all.join('')).toBe(typeof given === 'string' ? given : typeof input === 'string' ? input : said.join(''))
  }
  return items
}
