import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import fc from 'fast-check'
import schema from '../../test/schemas/CreateChatCompletionResponse.schema.json'
import { readCompletion } from './chat-completion.ts'
import type { Completion } from './chat-completion.ts'
import { MalformedAnswer } from './malformed-answer.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const defaults = { id: 'made', created: 7, model: 'asked' }
const isValid = new Ajv({ strict: false, logger: false }).compile(schema)

function read(value: unknown): Completion {
  const result = readCompletion(encode(typeof value === 'string' ? value : JSON.stringify(value)), defaults)
  if (result.kind === 'error') throw new Error('an error', { cause: result.error })
  return result
}

function reason(body: Uint8Array): string | undefined {
  try {
    readCompletion(body, defaults)
    return undefined
  } catch (error) {
    if (error instanceof MalformedAnswer) return error.reason
    throw error
  }
}

const parsed = (completion: Completion) => JSON.parse(decode(completion.body))
const message = { role: 'assistant', content: 'hi', refusal: null }
const choice = { index: 0, message, logprobs: null, finish_reason: 'stop' }
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const whole = { id: 'i', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage }
const answer = (of: object, others: object = {}) => ({
  ...whole,
  choices: [{ ...choice, message: { ...message, ...of }, ...others }],
})

describe('readCompletion', () => {
  test('leaves an answer that lacks nothing as it is, byte for byte', () => {
    const bytes = encode(
      `${JSON.stringify({ ...whole, service_tier: 'x', x: { y: [] } }, null, 2).replace('"x": {', '"seed": 9007199254740993, "x": {')}\n`,
    )
    const result = readCompletion(bytes)
    expect(result).toEqual({
      kind: 'completion',
      body: bytes,
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      isEmpty: false,
      finishReason: 'stop',
    })
    expect(result.kind === 'completion' && result.body).toBe(bytes)
  })

  test.each([
    [
      'almost everything',
      { choices: [{ message: {} }] },
      { ...whole, ...defaults, usage: undefined, choices: [{ ...choice, message: { ...message, content: null } }] },
    ],
    [
      'nulls',
      {
        ...whole,
        id: null,
        object: null,
        created: null,
        model: null,
        choices: [{ ...choice, index: null, message: { ...message, role: null } }],
      },
      { ...whole, ...defaults },
    ],
    [
      'Groq: no content beside tool calls',
      answer({ content: undefined, tool_calls: [{ id: 'a', type: 'function', function: {} }] }),
      answer({ content: null, tool_calls: [{ id: 'a', type: 'function', function: {} }] }),
    ],
    [
      'Mistral: tool calls without a type',
      answer({ tool_calls: [{ id: 'a', function: {} }] }, { finish_reason: 'tool_calls' }),
      answer({ tool_calls: [{ id: 'a', function: {}, type: 'function' }] }, { finish_reason: 'tool_calls' }),
    ],
    [
      'Mistral: content in parts',
      answer({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'hi' },
        ],
      }),
      answer({ content: 'hi', reasoning_content: 'hm' }),
    ],
    ['no finish_reason', answer({}, { finish_reason: undefined }), whole],
    [
      'no finish_reason beside tool calls',
      answer({ tool_calls: [{ type: 'x' }] }, { finish_reason: undefined }),
      answer({ tool_calls: [{ type: 'x' }] }, { finish_reason: 'tool_calls' }),
    ],
    ['a finish_reason of null, which stays', answer({}, { finish_reason: null }), answer({}, { finish_reason: null })],
    [
      'a second choice without an index',
      { ...whole, choices: [choice, { message: { content: 'b' } }] },
      { ...whole, choices: [choice, { ...choice, index: 1, message: { ...message, content: 'b' } }] },
    ],
    [
      'unknown members',
      answer({ reasoning_content: 'r', annotations: [] }, { stop_reason: 4 }),
      answer({ reasoning_content: 'r', annotations: [] }, { stop_reason: 4 }),
    ],
  ])('fills %s', (_, value, expected) => {
    expect(parsed(read(value))).toEqual(JSON.parse(JSON.stringify(expected)))
  })

  test.each([
    [{ choices: [{ message: {} }] }],
    [
      {
        id: null,
        choices: [{ message: { content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }] } }],
      },
    ],
    [
      {
        object: 'text',
        choices: [{ message: { content: 'x' }, finish_reason: 'length' }, { message: { content: [] } }],
      },
    ],
  ])('makes %j as the public schema wants it', (value) => {
    expect(isValid(parsed(read(value)))).toBeTrue()
  })

  test('makes up an id and the time when it is told none', () => {
    const result = readCompletion(encode('{"choices":[{"message":{"content":"a"}}]}'))
    expect(result.kind === 'completion' && parsed(result)).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      created: expect.any(Number),
      model: '',
    })
  })

  test.each([
    ['no content', { content: null }, {}, true],
    ['content ""', { content: '' }, {}, true],
    ['no content, finish missing', { content: '' }, { finish_reason: undefined }, true],
    ['no content, finish null', { content: '' }, { finish_reason: null }, true],
    ['empty parts', { content: [] }, {}, true],
    ['empty lists', { content: '', tool_calls: [], reasoning_content: '', refusal: null, audio: null }, {}, true],
    ['content', {}, {}, false],
    ['white space', { content: ' ' }, {}, false],
    ['finish length', { content: '' }, { finish_reason: 'length' }, false],
    ['finish content_filter', { content: null }, { finish_reason: 'content_filter' }, false],
    ['a tool call', { content: null, tool_calls: [{}] }, {}, false],
    ['a refusal', { content: null, refusal: 'no' }, {}, false],
    ['reasoning_content', { content: '', reasoning_content: 'r' }, {}, false],
    ['reasoning', { content: '', reasoning: 'r' }, {}, false],
    ['audio', { content: null, audio: { id: 'a' } }, {}, false],
    ['a function call', { content: null, function_call: { name: 'f' } }, {}, false],
  ])('with %s: isEmpty is as in failover.md row 27', (_, of, others, isEmpty) => {
    expect(read(answer(of, others)).isEmpty).toBe(isEmpty)
  })

  test('judges emptiness by the first choice', () => {
    expect(read({ choices: [{ message: { content: '' } }, { message: { content: 'b' } }] }).isEmpty).toBeTrue()
    expect(read({ choices: [{ message: { content: 'a' } }, { message: { content: '' } }] }).isEmpty).toBeFalse()
  })

  test.each([
    [{ error: { message: 'no', code: 429 } }, { message: 'no', status: 429 }],
    [{ error: 'no' }, { message: 'no' }],
    [{ ...whole, error: { message: 'no' } }, { message: 'no' }],
    [
      { object: 'error', message: 'no', code: 500 },
      { message: 'no', status: 500 },
    ],
    [
      { choices: [{ error: { code: 502, message: 'within' }, message: { content: '' } }] },
      { message: 'within', status: 502 },
    ],
    [{ choices: [null], error: { message: 'no' } }, { message: 'no' }],
  ])('reads %j as an error (failover.md row 22)', (value, error) => {
    expect(readCompletion(encode(JSON.stringify(value)))).toMatchObject({ kind: 'error', error })
  })

  test('does not take error null for one', () => {
    expect(parsed(read({ ...whole, error: null }))).toEqual({ ...whole, error: null })
  })

  test.each([
    ['', 'empty'],
    [' \r\n', 'empty'],
    ['\ufeff', 'malformed'],
    ['<html></html>', 'malformed'],
    ['ok', 'malformed'],
    ['{"choices":[', 'malformed'],
    [JSON.stringify(whole).slice(0, -1), 'malformed'],
    ['[]', 'malformed'],
    ['null', 'malformed'],
    ['"x"', 'malformed'],
    ['data: {}\n\n', 'malformed'],
    ['{}', 'no_choices'],
    ['{"choices":[]}', 'no_choices'],
    ['{"choices":null}', 'no_choices'],
    ['{"choices":{}}', 'no_choices'],
    ['{"choices":"x"}', 'no_choices'],
    ['{"choices":[null]}', 'no_choices'],
    ['{"choices":[1]}', 'no_choices'],
    ['{"choices":[{"message":{}},null]}', 'malformed'],
    ['{"choices":[{}]}', 'malformed'],
    ['{"choices":[{"text":"x"}]}', 'malformed'],
    ['{"choices":[{"message":null}]}', 'malformed'],
    ['{"choices":[{"message":"x"}]}', 'malformed'],
    ['{"choices":[{"message":{"content":42}}]}', 'malformed'],
    ['{"choices":[{"message":{"content":{}}}]}', 'malformed'],
    ['{"choices":[{"message":{"tool_calls":[null]}}]}', 'malformed'],
    ['{"choices":[null]', 'malformed'],
  ])('refuses %j as %s', (text, expected) => {
    expect(reason(encode(text))).toBe(expected)
  })

  test('refuses invalid UTF-8', () => {
    const bytes = encode(JSON.stringify(whole))
    bytes[bytes.indexOf(0x68)] = 0xff
    expect(reason(bytes)).toBe('malformed')
  })

  test('reads 16 MiB without building it', () => {
    const big = encode(JSON.stringify(answer({ content: 'word '.repeat(3_300_000), audio: null })))
    expect(readCompletion(big)).toMatchObject({ kind: 'completion', isEmpty: false })
  })

  test('gives an answer, an error or MalformedAnswer, whatever is broken, and leaves an answer alone when it reads it again', () => {
    const bytes = encode(JSON.stringify(answer({ tool_calls: [{ id: 'ä', function: {} }], role: undefined })))
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(12),
        fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.constantFrom('null', '{}', '[]', '1', '""', ',').map(encode)),
        (place, removed, inserted) => {
          const broken = [...bytes]
          broken.splice(place % broken.length, removed, ...inserted)
          const body = new Uint8Array(broken)
          if (reason(body) !== undefined) return
          const result = readCompletion(body, defaults)
          if (result.kind === 'completion')
            expect(readCompletion(result.body, defaults)).toMatchObject({ body: result.body, usage: result.usage })
        },
      ),
      { numRuns: 1500 },
    )
  })
})
