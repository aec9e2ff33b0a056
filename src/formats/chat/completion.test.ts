import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import fc from 'fast-check'
import schema from '../../../test/schemas/CreateChatCompletionResponse.schema.json'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { readCompletion } from './completion.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const defaults = { id: 'made', created: 7, model: 'asked' }
const isValid = new Ajv({ strict: false, logger: false }).compile(schema)

function read(value: unknown): WholeReply {
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

const parsed = (completion: WholeReply) => JSON.parse(decode(completion.body))
const message = { role: 'assistant', content: 'hi', refusal: null }
const choice = { index: 0, message, logprobs: null, finish_reason: 'stop' }
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const call = { name: 'f', arguments: '{}' }
const cutCall = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
const namedCall = { id: 'a', type: 'function', function: { name: 'f' } }
const whole = { id: 'i', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage }
const answer = (of: object, others: object = {}) => ({
  ...whole,
  choices: [{ ...choice, message: { ...message, ...of }, ...others }],
})

describe('readCompletion', () => {
  test('passes a complete answer byte for byte', () => {
    const indented = JSON.stringify({ ...whole, service_tier: 'x', x: { y: [] } }, null, 2)
    const bytes = encode(`${indented.replace('"x": {', '"seed": 9007199254740993, "x": {')}\n`)
    const result = readCompletion(bytes)
    expect(result).toEqual({
      kind: 'whole',
      body: bytes,
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      isEmpty: false,
      isBlank: false,
      model: whole.model,
    })
    expect(result.kind === 'whole' && result.body).toBe(bytes)
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
      answer({
        content: undefined,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      }),
      answer({ content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
    ],
    [
      'Mistral: tool calls without a type',
      answer({ tool_calls: [{ id: 'a', function: call }] }, { finish_reason: 'tool_calls' }),
      answer({ tool_calls: [{ id: 'a', function: call, type: 'function' }] }, { finish_reason: 'tool_calls' }),
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
      answer({ tool_calls: [{ id: 'a', type: 'x', function: call }] }, { finish_reason: undefined }),
      answer({ tool_calls: [{ id: 'a', type: 'function', function: call }] }, { finish_reason: 'tool_calls' }),
    ],
    ['a finish_reason of null', answer({}, { finish_reason: null }), whole],
    ['a finish_reason of null in quotes', answer({}, { finish_reason: 'null' }), whole],
    ['a blank finish_reason', answer({}, { finish_reason: ' ' }), whole],
    [
      'a finish_reason of "" before tool calls',
      {
        ...whole,
        choices: [
          { finish_reason: '', message: { ...message, tool_calls: [{ id: 'a', type: 'function', function: call }] } },
        ],
      },
      answer({ tool_calls: [{ id: 'a', type: 'function', function: call }] }, { finish_reason: 'tool_calls' }),
    ],
    [
      "another format's finish_reason",
      answer({}, { finish_reason: 'MAX_TOKENS' }),
      answer({}, { finish_reason: 'length' }),
    ],
    [
      'an unknown finish_reason, which stays',
      answer({}, { finish_reason: 'recitation' }),
      answer({}, { finish_reason: 'recitation' }),
    ],
    [
      'a custom tool call',
      answer({ tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'f', input: 'x' } }] }),
      answer({ tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'f', input: 'x' } }] }),
    ],
    [
      'arguments that are no text',
      answer({ tool_calls: [{ id: 5, type: 'function', function: { name: 'f', arguments: { a: ['ä"'] } } }] }),
      answer({ tool_calls: [{ id: '5', type: 'function', function: { name: 'f', arguments: '{"a":["ä\\""]}' } }] }),
    ],
    [
      'missing arguments',
      answer({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' } }] }),
      answer({ tool_calls: [{ id: 'a', type: 'function', function: { ...call, arguments: '{}' } }] }),
    ],
    ['another role', answer({ role: 'model' }), whole],
    ['tool calls of null', answer({ tool_calls: null }), whole],
    [
      'usage that is text',
      {
        ...whole,
        usage: { prompt_tokens: '1', completion_tokens: ' 2', total_tokens: '3', prompt_tokens_details: null },
      },
      whole,
    ],
    [
      'negative usage',
      {
        ...whole,
        usage: {
          prompt_tokens: 1,
          completion_tokens: -2,
          completion_tokens_details: { reasoning_tokens: -1, audio_tokens: null },
        },
      },
      {
        ...whole,
        usage: {
          prompt_tokens: 1,
          completion_tokens: 0,
          total_tokens: 1,
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
    ],
    [
      'usage without a count in it',
      { ...whole, usage: { prompt_tokens_details: { cached_tokens: '1' } } },
      { ...whole, usage: undefined },
    ],
    [
      'log probabilities without bytes',
      answer({}, { logprobs: { content: [{ token: 'hi', logprob: '-0.5' }] } }),
      answer(
        {},
        { logprobs: { content: [{ token: 'hi', logprob: -0.5, bytes: null, top_logprobs: [] }], refusal: null } },
      ),
    ],
    ['a time in a string', { ...whole, created: '1' }, whole],
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
    [
      'no arguments of a call, unless the answer was cut',
      answer({ content: null, tool_calls: [cutCall] }, { finish_reason: 'length' }),
      answer({ content: null, tool_calls: [cutCall] }, { finish_reason: 'length' }),
    ],
    [
      'missing arguments of a call, with an object only if the answer was not cut',
      answer({ content: null, tool_calls: [namedCall] }, { finish_reason: 'length' }),
      answer({ content: null, tool_calls: [cutCall] }, { finish_reason: 'length' }),
    ],
    [
      'arguments that are no object',
      answer({
        content: null,
        tool_calls: ['', 'null', '"{}"', '[]', '"x"'].map((text, index) => ({
          id: `c${index}`,
          type: 'function',
          function: { name: 'f', arguments: text },
        })),
      }),
      answer({
        content: null,
        tool_calls: ['{}', '{}', '{}', '{}', '"x"'].map((text, index) => ({
          id: `c${index}`,
          type: 'function',
          function: { name: 'f', arguments: text },
        })),
      }),
    ],
  ])('fills %s', (_, value, expected) => {
    expect(parsed(read(value))).toEqual(JSON.parse(JSON.stringify(expected)))
  })

  test.each([
    [{ choices: [{ message: {} }] }],
    [
      {
        id: null,
        choices: [{ message: { content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] } }],
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

  test('generates ids for tool calls with an empty id', () => {
    const calls = [1, 2].map(() => ({ id: '', type: 'function', function: { name: 'f', arguments: '{}' } }))
    const result = readCompletion(encode(JSON.stringify({ choices: [{ message: { tool_calls: calls } }] })))
    const ids: unknown[] =
      result.kind === 'whole' ? parsed(result).choices[0].message.tool_calls.map(({ id }: { id: unknown }) => id) : []
    expect(ids).toEqual([expect.stringMatching(/^call_[0-9a-f]{32}$/), expect.stringMatching(/^call_[0-9a-f]{32}$/)])
    expect(ids[0]).not.toBe(ids[1])
  })

  test('generates a missing id and time', () => {
    const result = readCompletion(encode('{"choices":[{"message":{"content":"a"}}]}'))
    expect(result.kind === 'whole' && parsed(result)).toMatchObject({
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
    ['a tool call', { content: null, tool_calls: [{ function: call }] }, {}, false],
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
    [answer({}, { finish_reason: 'error' }), { message: "the answer ended with 'error'", codes: ['error'] }],
    [answer({}, { finish_reason: 'overloaded_error' }), { codes: ['overloaded_error'] }],
    [{ base_resp: { status_code: 9, status_msg: 'no' } }, { message: 'no', codes: ['9'] }],
    [{ detail: 'no' }, { message: 'no' }],
  ])('reads %j as an error (failover.md row 22)', (value, error) => {
    expect(readCompletion(encode(JSON.stringify(value)))).toMatchObject({ kind: 'error', error })
  })

  test('does not treat error null as an error', () => {
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
    ['{"choices":[{"message":{"tool_calls":[{}]}}]}', 'malformed'],
    ['{"choices":[{"message":{"tool_calls":[{"function":{}}]}}]}', 'malformed'],
    ['{"choices":[{"message":{"tool_calls":{"function":{}}}}]}', 'malformed'],
    ['{"choices":[{"message":{"refusal":{"a":1}}}]}', 'malformed'],
    ['{"choices":[{"message":{},"logprobs":{"content":["a"]}}]}', 'malformed'],
    ['{"choices":[null]', 'malformed'],
  ])('refuses %j as %s', (text, expected) => {
    expect(reason(encode(text))).toBe(expected)
  })

  test('refuses invalid UTF-8', () => {
    const bytes = encode(JSON.stringify(whole))
    bytes[bytes.indexOf(0x68)] = 0xff
    expect(reason(bytes)).toBe('malformed')
  })

  test('reads 16 MiB in place', () => {
    const big = encode(JSON.stringify(answer({ content: 'word '.repeat(3_300_000), audio: null })))
    expect(readCompletion(big)).toMatchObject({ kind: 'whole', isEmpty: false })
  })

  test('gives an answer, an error or MalformedAnswer for any input, and reads its own answers unchanged', () => {
    const bytes = encode(
      JSON.stringify(answer({ tool_calls: [{ id: 'ä', function: { name: 'f' } }], role: undefined })),
    )
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
          if (result.kind === 'whole')
            expect(readCompletion(result.body, defaults)).toMatchObject({ body: result.body })
        },
      ),
      { numRuns: 1500 },
    )
  })
})
