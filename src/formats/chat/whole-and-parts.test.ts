import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import fc from 'fast-check'
import answerSchema from '../../../test/schemas/CreateChatCompletionResponse.schema.json'
import chunkSchema from '../../../test/schemas/CreateChatCompletionStreamResponse.schema.json'
import { MalformedAnswer } from '../malformed-answer.ts'
import { chunkReader } from './chunk.ts'
import { partGatherer, completionToParts } from './whole-and-parts.ts'

const encode = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))
const ajv = new Ajv({ strict: false, logger: false })
const isChunk = ajv.compile(chunkSchema)
const isAnswer = ajv.compile(answerSchema)

const message = { role: 'assistant', content: 'hi', refusal: null }
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const whole = {
  id: 'i',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
}

const chunksOf = (value: unknown, includeUsage = false) => completionToParts(encode(value), { includeUsage })
const parsedChunks = (value: unknown, includeUsage = false) =>
  chunksOf(value, includeUsage).map(({ data }) => parse(data))

interface Answer {
  readonly choices: readonly {
    readonly index: number
    readonly message: Readonly<Record<string, unknown>>
    readonly finish_reason: string
    readonly logprobs: { readonly content: readonly unknown[] } | null
  }[]
}

function gather(values: readonly unknown[]): Answer {
  const read = chunkReader({ id: 'made', created: 7, model: 'asked' })
  const gatherer = partGatherer()
  for (const value of values) {
    const part = read(encode(value))
    if (part.kind === 'part') gatherer.add(part)
  }
  return parse(gatherer.finish())
}

const head = { id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm' }
const delta = (of: object, others: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta: of, finish_reason: null, ...others }],
})

describe('completionToParts', () => {
  test('gives role, content and finish', () => {
    expect(parsedChunks(whole)).toEqual([
      {
        ...head,
        choices: [
          { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
        ],
      },
      { ...head, choices: [{ index: 0, delta: { content: 'hi' }, logprobs: null, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] },
    ])
    expect(chunksOf(whole).map(({ isMeaningful, text, finishReason }) => [isMeaningful, text, finishReason])).toEqual([
      [false, '', undefined],
      [true, 'hi', undefined],
      [true, '', 'stop'],
    ])
  })

  test('gives usage last, and only on request', () => {
    expect(parsedChunks({ ...whole, usage }, true).at(-1)).toEqual({ ...head, choices: [], usage })
    expect(
      parsedChunks({ ...whole, usage }, true)
        .slice(0, -1)
        .every((part) => part.usage === null),
    ).toBeTrue()
    expect(parsedChunks({ ...whole, usage }, false).some((part) => 'usage' in part)).toBeFalse()
    expect(parsedChunks(whole, true).at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
  })

  test('gives choices by their index', () => {
    const two = {
      ...whole,
      choices: [
        { index: 1, message: { ...message, content: 'b' }, finish_reason: 'length' },
        { index: 0, message, finish_reason: 'stop' },
      ],
    }
    expect(
      gather(parsedChunks(two)).choices.map((choice) => [
        choice.index,
        choice.message['content'],
        choice.finish_reason,
      ]),
    ).toEqual([
      [0, 'hi', 'stop'],
      [1, 'b', 'length'],
    ])
  })

  test('makes parts that match the public schema', () => {
    const rich = {
      ...whole,
      usage,
      choices: [
        {
          ...whole.choices[0],
          message: {
            ...message,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          logprobs: { content: [{ token: 'hi', logprob: -1, bytes: null, top_logprobs: [] }], refusal: null },
        },
      ],
    }
    for (const part of [...parsedChunks(rich, true), ...parsedChunks({ choices: [{ message: {} }] })])
      expect(isChunk(part)).toBeTrue()
  })

  test.each([
    ['{', 'malformed'],
    ['[]', 'malformed'],
    ['{}', 'no_choices'],
    ['{"choices":[null]}', 'no_choices'],
    [new TextDecoder().decode(new Uint8Array()), 'malformed'],
  ])('refuses %j', (text, reason) => {
    expect(() => chunksOf(text)).toThrow(MalformedAnswer)
    expect(() => chunksOf(text)).toThrow(expect.objectContaining({ reason }))
  })
})

describe('partGatherer', () => {
  test('concatenates text and takes the last usage', () => {
    const answer = gather([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'h' }),
      delta({ content: 'i' }),
      delta({ content: null }),
      delta({}, { finish_reason: 'stop' }),
      { ...head, choices: [], usage: { prompt_tokens: 0 } },
      { ...head, choices: [], usage },
    ])
    expect<unknown>(answer).toEqual({ ...whole, usage })
    expect(isAnswer(answer)).toBeTrue()
  })

  test('joins tool calls by their index', () => {
    const call = (of: object) => delta({ tool_calls: [of] })
    const answer = gather([
      delta({ role: 'assistant', content: null }),
      call({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x"' } }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({
        index: 1,
        id: 'b',
        function: { name: 'g', arguments: '{}' },
        extra_content: { google: { thought_signature: 's' } },
      }),
      delta({}, { finish_reason: 'tool_calls' }),
    ])
    expect(answer.choices[0]).toEqual({
      index: 0,
      logprobs: null,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          {
            id: 'b',
            type: 'function',
            function: { name: 'g', arguments: '{}' },
            extra_content: { google: { thought_signature: 's' } },
          },
        ],
      },
    })
    expect(isAnswer(answer)).toBeTrue()
  })

  test('keeps reasoning, refusals, log probabilities and unknown members', () => {
    const logprobs = (token: string) => ({
      logprobs: { content: [{ token, logprob: 0, bytes: null, top_logprobs: [] }], refusal: null },
    })
    const answer = gather([
      { ...delta({ reasoning_content: 'a', audio: { id: 'x', data: 'AA' } }), x_top: 1, system_fingerprint: null },
      {
        ...delta(
          { reasoning_content: 'b', content: 'c', audio: { data: 'BB' } },
          { ...logprobs('c'), stop_reason: null },
        ),
        x_top: 2,
        system_fingerprint: 'fp',
      },
      delta({ content: 'd', refusal: 'no' }, { ...logprobs('d'), stop_reason: 5, finish_reason: 'stop' }),
    ])
    expect(answer).toMatchObject({ x_top: 2, system_fingerprint: 'fp' })
    expect<unknown>(answer.choices[0]).toEqual({
      index: 0,
      finish_reason: 'stop',
      stop_reason: 5,
      message: {
        role: 'assistant',
        content: 'cd',
        refusal: 'no',
        reasoning_content: 'ab',
        audio: { id: 'x', data: 'AABB' },
      },
      logprobs: { content: [...logprobs('c').logprobs.content, ...logprobs('d').logprobs.content], refusal: null },
    })
  })

  test('treats __proto__ like any other member', () => {
    const answer = gather([
      '{"choices":[{"index":0,"delta":{"content":"a","__proto__":{"x":1}}}],"__proto__":{"y":1}}',
      delta({ content: 'b' }),
    ])
    expect(Object.getOwnPropertyNames(answer.choices[0]?.message)).toContain('__proto__')
    expect(Object.getOwnPropertyNames(answer)).toContain('__proto__')
    expect({}).not.toHaveProperty('x')
  })

  test('rejects a stream without choices', () => {
    expect(() => gather([{ ...head, choices: [], usage }])).toThrow(MalformedAnswer)
    expect(() => gather([])).toThrow(MalformedAnswer)
  })

  test('restores an answer from its parts', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 })
    const call = fc.record({
      id: text,
      type: fc.constant('function'),
      function: fc.record({ name: text, arguments: text.map((value) => JSON.stringify({ value })) }),
    })
    const anyMessage = fc.record(
      {
        role: fc.constant('assistant'),
        content: text,
        refusal: fc.constant(null),
        reasoning_content: text,
        tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
        unknown: fc.jsonValue().filter((value) => value !== null),
      },
      { requiredKeys: ['role', 'content', 'refusal'] },
    )
    const choices = fc.array(
      fc.record({
        message: anyMessage,
        logprobs: fc.constantFrom(null, {
          content: [{ token: 'a', logprob: 0, bytes: null, top_logprobs: [] }],
          refusal: null,
        }),
        finish_reason: fc.constantFrom('stop', 'length'),
      }),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(choices, (all) => {
        const answer = {
          ...whole,
          choices: all.map((choice, index) => ({ index, ...choice })),
          usage,
          service_tier: 'x',
        }
        const expected = JSON.parse(JSON.stringify(answer))
        expect<unknown>(gather(parsedChunks(answer, true))).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  test('gathers 5,000 parts with log probabilities in linear time', () => {
    const answer = gather(
      Array.from({ length: 5_000 }, () => delta({ content: 'x' }, { logprobs: { content: [{ token: 'x' }] } })),
    )
    expect(answer.choices[0]?.logprobs?.content).toHaveLength(5_000)
  })
})

describe('an answer designed to fill memory', () => {
  test('with more than 128 choices is malformed', () => {
    const choices = Array.from({ length: 129 }, (_, index) => ({
      index,
      message: { role: 'assistant', content: 'a' },
      finish_reason: 'stop',
    }))
    expect(() =>
      completionToParts(new TextEncoder().encode(JSON.stringify({ choices })), { includeUsage: false }),
    ).toThrow(MalformedAnswer)
  })

  test('has unknown members once, not in every part', () => {
    const choices = Array.from({ length: 128 }, (_, index) => ({
      index,
      message: { role: 'assistant', content: 'a' },
      finish_reason: 'stop',
    }))
    const parts = completionToParts(new TextEncoder().encode(JSON.stringify({ extra: 'e'.repeat(100_000), choices })), {
      includeUsage: false,
    })
    expect(parts.reduce((sum, { data }) => sum + data.length, 0)).toBeLessThan(300_000)
  })
})
