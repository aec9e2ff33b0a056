import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerEvent } from '../answer.ts'
import { jsonAnswers } from '../json-answers.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { answerContract } from '../testing.ts'
import { chatAnswerReader, readChatAnswer } from './answer-reader.ts'
import { writeReasoningDetails } from './reasoning-details.ts'
import { chatCompletions } from './upstream.ts'

const text = fc.constantFrom('', 'Good ', 'morning 🌅', '{"city":', '"Paris"}')
const call = fc.record(
  {
    index: fc.nat(2),
    id: text,
    type: fc.constantFrom('function', 'custom'),
    function: fc.record({ name: text, arguments: text }, { requiredKeys: [] }),
    extra_content: fc.constant({ google: { thought_signature: 's' } }),
  },
  { requiredKeys: ['index'] },
)
const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.option(text),
    refusal: fc.option(text),
    reasoning_content: text,
    reasoning: fc.option(text),
    tool_calls: fc.uniqueArray(call, { maxLength: 2, selector: ({ index }) => index }),
    thinking_blocks: fc.constantFrom(
      [{ type: 'thinking', thinking: 'a', signature: 's' }],
      [{ type: 'thinking', thinking: 'a' }],
      [{ type: 'redacted_thinking', data: 'd' }],
    ),
    images: fc.constantFrom([image('data:image/png;base64,aGk=')], [image('https://example.com/a.png')]),
    unknown: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: [] },
)
const choice = fc.record({
  index: fc.nat(1),
  delta: message,
  message,
  finish_reason: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom('stop', 'tool_calls', 'odd')),
})
const usage = fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), total_tokens: fc.nat() })
const events = fc.record(
  { id: text, choices: fc.uniqueArray(choice, { maxLength: 2, selector: ({ index }) => index }), usage },
  { requiredKeys: ['choices'] },
)

function image(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } }
}

function chunk(delta: JsonObject, finishReason: string | null = null): JsonObject {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  return { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
}

function called(index: number, name: string): JsonObject {
  return { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }
}

function more(index: number, piece: string): JsonObject {
  return { index, function: { arguments: piece } }
}

const talk = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Good ' }), chunk({ content: 'day' }, 'stop')]
const calls = [
  chunk({ role: 'assistant', reasoning_content: 'Two calls.' }),
  chunk({ tool_calls: [called(0, 'find'), called(1, 'look')] }),
  chunk({ tool_calls: [more(1, '{"a"'), more(0, '{}')] }),
  chunk({ tool_calls: [more(1, ':1}')] }),
  chunk({}, 'tool_calls'),
]
const whole = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Good day',
        refusal: null,
        reasoning_content: 'Two. Blocks.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"big":12345678901234567890}' } }],
        thinking_blocks: [
          { type: 'thinking', thinking: 'Two. ', signature: 's' },
          { type: 'thinking', thinking: 'Blocks.', signature: 't' },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}

const samples = { streams: [talk, calls], wholes: [whole], events }
answerContract(jsonAnswers({ readAnswer: readChatAnswer, answerReader: chatAnswerReader }), samples)
answerContract(chatCompletions, samples)

describe('the reader of chunks', () => {
  const read = (...chunks: readonly JsonObject[]) => {
    const reader = chatAnswerReader()
    return chunks.flatMap((each) => reader.read(each)).filter(({ kind }) => kind !== 'start')
  }

  test('begins a call with its name', () => {
    const nameless = { index: 0, id: 'a', type: 'function', function: { arguments: '{"a"' } }
    const named = { index: 0, function: { name: 'find', arguments: ':1}' } }
    const events = read(chunk({ tool_calls: [nameless] }), chunk({ tool_calls: [named] }))
    expect(events.filter(({ kind }) => kind !== 'own')).toEqual([
      { kind: 'call', choice: 0, call: 0, id: 'a', name: 'find', opaque: undefined },
      { kind: 'arguments', choice: 0, call: 0, text: '{"a":1}' },
    ])
  })

  test('reads reasoning by its other names, and keeps them for chat completions', () => {
    expect(read(chunk({ reasoning: 'Hm.' }))).toEqual([
      { kind: 'reasoning', choice: 0, text: 'Hm.' },
      {
        kind: 'own',
        at: 'message',
        choice: 0,
        format: 'chat',
        fields: { reasoning: 'Hm.', reasoning_content: undefined },
      },
    ])
  })

  test('puts each block of reasoning before its signature', () => {
    expect(readChatAnswer(whole).slice(1, 5)).toMatchObject([
      { kind: 'reasoning', text: 'Two. ' },
      { kind: 'sealed', text: 'Two. ', opaque: { maker: 'anthropic', data: 's' } },
      { kind: 'reasoning', text: 'Blocks.' },
      { kind: 'sealed', text: 'Blocks.', opaque: { maker: 'anthropic', data: 't' } },
    ])
  })

  test('leaves a custom tool call to chat completions', () => {
    const custom = { index: 0, id: 'a', type: 'custom', custom: { name: 'run', input: 'ls' } }
    expect(read(chunk({ tool_calls: [custom] }))).toEqual([
      { kind: 'own', at: 'message', choice: 0, format: 'chat', fields: { tool_calls: [custom] } },
    ])
  })

  test('reads the deprecated function_call for other formats', () => {
    const reader = chatAnswerReader('other')
    const pieces = [{ name: 'find', arguments: '' }, { arguments: '{"a"' }, { arguments: ':1}' }]
    const events = [
      ...pieces.map((function_call) => chunk({ content: null, function_call })),
      chunk({}, 'function_call'),
    ].flatMap((chunk) => reader.read(chunk))
    const expected: AnswerEvent[] = [
      { kind: 'call', choice: 0, call: 0, id: undefined, name: 'find', opaque: undefined },
      { kind: 'arguments', choice: 0, call: 0, text: '{"a"' },
      { kind: 'arguments', choice: 0, call: 0, text: ':1}' },
      { kind: 'callEnd', choice: 0, call: 0 },
      { kind: 'finish', choice: 0, reason: 'tool_calls', raw: 'function_call' },
    ]
    expect(events.slice(1)).toEqual(expected)
    const empty = { role: 'assistant', content: 'Hi', function_call: { name: '', arguments: '' } }
    expect(chatAnswerReader('other').read(chunk(empty)).slice(1)).toEqual([{ kind: 'text', choice: 0, text: 'Hi' }])
  })

  test.each<readonly [string, readonly JsonObject[]]>([
    [
      'without a name',
      [chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }), chunk({}, 'stop')],
    ],
    ['of a custom tool', [chunk({ tool_calls: [{ index: 0, type: 'custom', custom: { name: 'run', input: 'ls' } }] })]],
  ])('refuses a call %s that other formats would lose', (_name, chunks) => {
    const reader = chatAnswerReader('other')
    expect(() => chunks.flatMap((chunk) => reader.read(chunk))).toThrow(MalformedAnswer)
    expect(() => read(...chunks)).not.toThrow()
  })

  test('joins pieces of a name for other formats, and takes a repeated one once', () => {
    const piece = (name: string, text: string) =>
      chunk({ tool_calls: [{ index: 0, function: { name, arguments: text } }] })
    for (const pieces of [
      [piece('get_', ''), piece('weather', '{'), piece('', '}')],
      [piece('get_weather', ''), piece('get_weather', '{'), piece('get_weather', '}')],
      [piece('get_', ''), piece('get_weather', '{}')],
      [piece('get_', ''), piece('weather', '')],
    ]) {
      const reader = chatAnswerReader('other')
      const events = [...pieces, chunk({}, 'tool_calls')].flatMap((each) => reader.read(each))
      expect(events.flatMap((event) => (event.kind === 'call' ? event.name : []))).toEqual(['get_weather'])
    }
  })

  test('begins a call without arguments with the next one', () => {
    const reader = chatAnswerReader('other')
    const begin = (index: number) =>
      chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: '' } }] })
    const ids = [begin(0), begin(1)]
      .flatMap((each) => reader.read(each))
      .flatMap((event) => (event.kind === 'call' ? event.id : []))
    expect(ids).toEqual(['c0'])
  })

  test.each(['reasoning', 'thinking', 'reasoning_text', 'thinking_content', 'thought'])(
    'reads reasoning in %s',
    (name) => {
      const events = chatAnswerReader('other').read(chunk({ [name]: 'Hm.' }))
      expect(events.slice(1)).toEqual([{ kind: 'reasoning', choice: 0, text: 'Hm.' }])
    },
  )

  test('gives reasoning_details that only their maker can read with the end of the reasoning', () => {
    const reader = chatAnswerReader('other')
    const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
    const hidden = { type: 'reasoning.encrypted', data: 'x', format: 'anthropic-claude-v1', index: 1 }
    const events = [
      chunk({ reasoning: 'H', reasoning_details: [{ ...detail, text: 'H' }] }),
      chunk({ reasoning_details: [{ ...detail, text: 'm.' }] }),
      chunk({ reasoning_details: [{ ...detail, signature: 's' }] }),
      chunk({
        reasoning_details: [hidden],
        tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }],
      }),
    ].flatMap((each) => reader.read(each))
    expect(events.slice(1, 3)).toEqual([
      { kind: 'reasoning', choice: 0, text: 'H' },
      { kind: 'reasoning', choice: 0, text: 'm.' },
    ])
    const data = JSON.stringify([{ ...detail, signature: 's' }, hidden])
    expect(events[3]).toEqual({ kind: 'sealed', choice: 0, text: 'Hm.', opaque: { maker: 'openrouter', data } })
    expect(events[4]?.kind).toBe('call')
    const parts = [{ kind: 'reasoning' as const, text: 'Hm.', opaque: { maker: 'openrouter' as const, data } }]
    expect(writeReasoningDetails(parts)).toEqual([{ ...detail, signature: 's', text: 'Hm.' }, hidden])
  })

  test('gives no data for reasoning_details that are text alone', () => {
    const reader = chatAnswerReader('other')
    const events = [chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] }), chunk({ content: 'Hi' })]
    expect(events.flatMap((each) => reader.read(each)).map(({ kind }) => kind)).toEqual(['start', 'reasoning', 'text'])
  })

  test('names the stop sequence that vLLM and SGLang name', () => {
    for (const named of [{ stop_reason: 'END' }, { matched_stop: 'END' }]) {
      const choices = [{ index: 0, delta: {}, finish_reason: 'stop', ...named }]
      expect(chatAnswerReader('other').read({ choices }).at(-1)).toMatchObject({ kind: 'finish', stopSequence: 'END' })
    }
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 200_012 }]
    expect(chatAnswerReader('other').read({ choices }).at(-1)).not.toHaveProperty('stopSequence')
  })

  test('gives each finish_reason of servers that put one on every chunk', () => {
    const events = read(chunk({ content: 'Hi' }, 'stop'), chunk({}, 'length'))
    expect(events.flatMap((event) => (event.kind === 'finish' ? event.reason : []))).toEqual(['stop', 'length'])
  })

  test('names a finish_reason that is not common to the formats', () => {
    expect(read(chunk({}, 'odd'))).toEqual([{ kind: 'finish', choice: 0, reason: 'other', raw: 'odd' }])
  })
})
