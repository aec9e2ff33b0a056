import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode, utf8 } from '../bytes/text.ts'
import { chunkReader } from './chat/chunk.ts'
import { chatCompletions } from './chat/upstream.ts'
import { generateContent } from './gemini/upstream.ts'
import { messageEventReader } from './messages/native.ts'
import { messages } from './messages/upstream.ts'
import { partReader } from './responses/native.ts'

interface Sample {
  readonly opening: readonly Named[]
  readonly events: readonly string[]
  /** Members that are put into events. */
  readonly members: readonly string[]
}

interface Reader {
  read(event: { readonly event: string; readonly data: Uint8Array }): unknown
  /** Parts at the end of the stream. */
  last(): unknown
}

/** An event: its name and its data. */
type Named = readonly [name: string, json: string]

function chunk(delta: string, finish = 'null'): string {
  const choices = `[{"index":0,"delta":${delta},"finish_reason":${finish}}]`
  return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":${choices}}`
}

const chunks: Sample = {
  opening: [['', chunk('{"role":"assistant","content":"x"}')]],
  events: [chunk('{"content":"a"}'), chunk('{}', '"stop"')],
  members: [
    '"choices":[]',
    '"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]',
    '"choices":[{"index":0,"delta":{"content":"twice"},"finish_reason":null}]',
    '"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}',
    '"content":"c"',
    '"content":null',
    '"finish_reason":"length"',
    '"index":1',
    '"reasoning_content":"r"',
    '"delta":{"content":"d"}',
    '"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"f","arguments":"{}"}}]',
    '"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]',
    '"x":1',
  ],
}

const blocks: Sample = {
  opening: [
    [
      'message_start',
      '{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}',
    ],
    ['content_block_start', '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'],
  ],
  events: [
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"s"}}',
    '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}',
    '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}',
    '{"type":"content_block_stop","index":0}',
  ],
  members: [
    '"text":"c"',
    '"type":"ping"',
    '"index":1',
    '"delta":{"type":"text_delta","text":"d"}',
    '"thinking":"t"',
    '"partial_json":"p"',
    '"stop_reason":"end_turn"',
    '"x":1',
  ],
}

const candidates: Sample = {
  opening: [],
  events: [
    '{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":0}],"usageMetadata":{"promptTokenCount":1}}',
    '{"candidates":[{"finishReason":"STOP","index":0}]}',
  ],
  members: [
    '"text":"c"',
    '"finishReason":"STOP"',
    '"thought":true',
    '"index":1',
    '"functionCall":{"name":"f","args":{}}',
    '"usageMetadata":{"promptTokenCount":4}',
    '"candidates":[]',
    '"parts":[{"text":"d"}]',
    '"x":1',
  ],
}

const outputs: Sample = {
  opening: [['response.created', '{"type":"response.created","response":{"id":"r","created_at":1,"model":"m"}}']],
  events: ['{"type":"response.output_text.delta","output_index":0,"delta":"a","sequence_number":4,"obfuscation":"zz"}'],
  members: [
    '"delta":"c"',
    '"delta":5',
    '"delta":{}',
    '"type":"error"',
    '"error":{"message":"e"}',
    '"response":{}',
    '"sequence_number":"6"',
    '"x":1',
  ],
}

const samples: readonly (readonly [string, Sample, () => Reader])[] = [
  ['chat completions, passed through', chunks, passedChunks],
  ['chat completions, translated', chunks, () => translated(chatCompletions)],
  ['Messages, passed through', blocks, () => passed(messageEventReader())],
  ['Messages, translated', blocks, () => translated(messages)],
  ['Gemini, translated', candidates, () => translated(generateContent)],
  ['Responses, passed through', outputs, () => passed(partReader())],
]

function passedChunks(): Reader {
  const read = chunkReader({ id: 'd', created: 1, model: 'm' })
  return { read: ({ data }) => read(data), last: () => read.finish() }
}

function passed(reader: ReturnType<typeof partReader>): Reader {
  return { read: (event) => reader.read(event), last: () => reader.finish() }
}

function translated(format: typeof messages): Reader {
  const reader = format.answerReader()
  return { read: (event) => reader.read(event), last: () => reader.end() }
}

const texts = ['b', ' you', '', 'x', 'type', '\\u0078', '\\u0022', '\\ud83d', '\\n', 'é', '12', '}  ']
const numbers = ['0', '1', '17', '01', '1.5', '-1', '1e2', '12345678901234567890']

interface Change {
  readonly place: RegExp
  readonly at: number
  readonly by: string
}

/** A text, a number, a member, white space or a byte. */
function changeOf(members: readonly string[]): fc.Arbitrary<Change> {
  const at = fc.nat()
  const change = (weight: number, place: RegExp, by: readonly string[]) => ({
    weight,
    arbitrary: fc.record({ place: fc.constant(place), at, by: fc.constantFrom(...by) }),
  })
  return fc.oneof(
    change(4, /(?<=:")[^"\\]*(?=")/g, texts),
    change(2, /(?<=:)\d+/g, numbers),
    change(
      2,
      /(?<=\{)(?=")/g,
      members.map((member) => `${member},`),
    ),
    change(
      2,
      /(?<=[^{])(?=\})/g,
      members.map((member) => `,${member}`),
    ),
    change(1, /(?<=[{}[\],:])/g, [' ', '  ', '\n', '\t', '\r']),
    change(1, /[^]/g, ['', '"', '\\', '\0', '}', ',', 'é']),
  )
}

function changed(json: string, { place, at, by }: Change): string {
  const places = [...json.matchAll(place)]
  const found = places[at % places.length]
  return found === undefined ? json : json.slice(0, found.index) + by + json.slice(found.index + found[0].length)
}

/** The parts of a stream, until it fails. @param before is in front of each event */
function readAll(reader: Reader, events: readonly Named[], before: (index: number) => string): readonly unknown[] {
  const read: unknown[] = []
  try {
    for (const [index, [event, json]] of events.entries())
      read.push(plain(reader.read({ event, data: encode(before(index) + json) })))
    read.push(plain(reader.last()))
  } catch (error) {
    read.push(error instanceof Error ? error.name : error)
  }
  return read
}

/** Without the space around data, and with ids that are made up alike. */
function plain(read: unknown): unknown {
  if (Array.isArray(read)) return read.map(plain)
  if (typeof read === 'string') return read.trim().replaceAll(/\b(call_|toolu_|chatcmpl-)[\w-]+/g, '$1')
  if (read instanceof Uint8Array) return plain(utf8(read))
  if (typeof read !== 'object' || read === null) return read
  return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, plain(value)]))
}

describe('events that are like earlier ones are read as if they were parsed', () => {
  test.each(samples)('%s', (_, { opening, events, members }, reader) => {
    const change = changeOf(members)
    const stream = fc
      .tuple(
        fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 3 }),
        fc.array(change, { maxLength: 2 }),
        fc.array(fc.tuple(fc.nat({ max: 2 }), fc.array(change, { maxLength: 1 })), { minLength: 2, maxLength: 6 }),
      )
      .map(([given, common, likes]): readonly Named[] => [
        ...opening,
        ...likes.map(([which, own]): Named => {
          const json = given[which % given.length] ?? ''
          const name = /^\{"type":"([^"]+)"/.exec(json)?.[1] ?? ''
          return [name, [...common, ...own].reduce(changed, json)]
        }),
      ])
    fc.assert(
      fc.property(stream, (named) => {
        const parsed = readAll(reader(), named, (index) => ' '.repeat(index + 1))
        expect(readAll(reader(), named, () => '')).toEqual(parsed)
      }),
      { numRuns: 400 },
    )
  })
})
