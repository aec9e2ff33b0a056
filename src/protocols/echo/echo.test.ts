import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { FormatName } from '../../formats/ask.ts'
import { listOf, objectsOf } from '../../formats/exact-json.ts'
import { formats } from '../../formats/format-list.ts'
import { envelopeAt } from '../../formats/format-testing.ts'
import type { Part } from '../../formats/part.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { Call } from '../../service/service.ts'
import { chatRequest, deltas, jsonOf } from '../fixtures/load.ts'
import { echo, echoFormats } from './echo.ts'

const call: Call = { signal: new AbortController().signal, trail: [] }
const ask = (fields: Readonly<Record<string, unknown>>) => echo(() => 1_700_000_000_999)(chatRequest(fields), call)

async function stream(fields: Readonly<Record<string, unknown>>): Promise<readonly Part[]> {
  const reply = await ask({ ...fields, stream: true })
  if (reply.kind !== 'stream') throw new Error('not a stream')
  const parts: Part[] = []
  for (let read = await reply.read(); read !== undefined; read = await reply.read()) {
    expect(read).not.toBeEmpty()
    parts.push(...read)
  }
  return parts
}

/** Without those for the record. */
const sent = (parts: readonly Part[]) => parts.filter(({ data }) => data.length > 0)

const asking = (content: unknown) => ({
  messages: [
    { role: 'system', content: 'Be kind' },
    { role: 'user', content },
  ],
})

describe('the echo', () => {
  test("answers with the caller's last message, and usage in words", async () => {
    const reply = await ask(asking('Hello there, world'))
    if (reply.kind !== 'whole') throw new Error('not whole')
    const { id, ...answer } = jsonOf(reply.body)
    expect(id).toStartWith('chatcmpl-')
    expect(answer).toEqual({
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'asked-for',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there, world', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    })
    expect(reply.usage).toEqual({ promptTokens: 5, completionTokens: 3, totalTokens: 8 })
  })

  const contents: readonly (readonly [unknown, string])[] = [
    [
      [
        { type: 'text', text: 'What is' },
        { type: 'text', text: 'this?' },
      ],
      'What is this?',
    ],
    [
      [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
      'See [image/png]',
    ],
    ['', ''],
    ['  spaces  kept  ', '  spaces  kept  '],
  ]
  test.each(contents)('of %j is %j', async (content, expected) => {
    const reply = await ask(asking(content))
    if (reply.kind !== 'whole') throw new Error('not whole')
    expect(jsonOf(reply.body)).toMatchObject({ choices: [{ message: { content: expected } }] })
  })

  test.each(['Hello there, world', 'one', 'Grüße  an\n\nalle 🌍 ', '  first'])(
    'streams %j word by word, nothing lost',
    async (content) => {
      const parts = await stream(asking(content))
      expect(parts.map(({ text }) => text).join('')).toBe(content)
      expect(
        deltas(sent(parts))
          .map((delta) => (typeof delta === 'object' && delta !== null && 'content' in delta ? delta.content : ''))
          .join(''),
      ).toBe(content)
      expect(parts.filter(({ text }) => text !== '').length).toBe(content.match(/\S+\s*|^\s+/g)?.length ?? 0)
      expect(sent(parts).at(-1)?.finishReason).toBe('stop')
    },
  )

  test('streams usage when it was asked for', async () => {
    const last = (await stream({ ...asking('Hi'), stream_options: { include_usage: true } })).at(-1)
    expect(last === undefined ? undefined : jsonOf(last.data)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  })

  test('reports usage to the log, unasked', async () => {
    const parts = await stream(asking('Hi'))
    expect(parts.at(-1)?.usage).toEqual({ promptTokens: 3, completionTokens: 1, totalTokens: 4 })
    for (const { data } of sent(parts)) expect(jsonOf(data)).not.toHaveProperty('usage')
  })

  test('ends when it is cancelled', async () => {
    const reply = await ask({ ...asking('one two three'), stream: true })
    if (reply.kind !== 'stream') throw new Error('not a stream')
    await reply.read()
    reply.cancel()
    expect(await reply.read()).toBeUndefined()
  })
})

/** A whole answer of the echo, parsed, after the format's own check of the request. */
async function answer(name: FormatName, fields: Readonly<Record<string, unknown>>): Promise<JsonObject> {
  const { check, path } = formats[name]
  const reply = await echo(() => 1_700_000_000_999)(
    check(encode(JSON.stringify({ model: 'echo', ...fields })), envelopeAt(path)),
    call,
  )
  if (reply.kind !== 'whole') throw new Error('not whole')
  return { ...jsonOf(reply.body), counted: reply.usage }
}

const hi = { messages: [{ role: 'user', content: 'one two three four' }] }
const parameters = {
  type: 'object',
  properties: { city: { enum: ['Bern', 'Rome'] }, days: { type: 'integer', minimum: 3 } },
  required: ['city', 'days'],
}
const fitting = '{"city":"Bern","days":3}'

describe('the echo speaks', () => {
  test('every format with conversations, and embeddings', () => {
    const conversing = Object.values(formats).flatMap(({ name, talk }) => (talk === undefined ? [] : [name]))
    expect(echoFormats.toSorted()).toEqual(
      [...conversing, 'embeddings', 'gemini_embed', 'gemini_batch_embed'].toSorted(),
    )
  })

  test('chat completions', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
    expect(await answer('chat', { ...hi, max_tokens: 2, n: 2 })).toMatchObject({
      choices: [0, 1].map((index) => ({ index, message: { content: 'one two ' }, finish_reason: 'length' })),
      usage: { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 },
      counted: { promptTokens: 4, completionTokens: 4, totalTokens: 8 },
    })
    expect(await answer('chat', { ...hi, stop: [' three', 'four'] })).toMatchObject({
      choices: [{ message: { content: 'one two' }, finish_reason: 'stop' }],
    })
    for (const tool_choice of ['required', { type: 'function', function: { name: 'weather' } }])
      expect(await answer('chat', { ...hi, tools, tool_choice })).toMatchObject({
        choices: [
          {
            message: { content: null, tool_calls: [{ function: { name: 'weather', arguments: fitting } }] },
            finish_reason: 'tool_calls',
          },
        ],
      })
    for (const tool_choice of ['auto', 'none'])
      expect(await answer('chat', { ...hi, tools, tool_choice })).toMatchObject({
        choices: [{ message: { content: 'one two three four' }, finish_reason: 'stop' }],
      })
    expect(await answer('chat', { ...hi, response_format: { type: 'json_object' } })).toMatchObject({
      choices: [{ message: { content: '{"text":"one two three four"}' } }],
    })
    const json_schema = { name: 'trip', schema: parameters }
    expect(await answer('chat', { ...hi, response_format: { type: 'json_schema', json_schema } })).toMatchObject({
      choices: [{ message: { content: fitting } }],
    })
  })

  test('Messages', async () => {
    const asked = { ...hi, max_tokens: 100 }
    expect(await answer('messages', asked)).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'one two three four' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4, output_tokens: 4 },
    })
    expect(await answer('messages', { ...asked, max_tokens: 2 })).toMatchObject({ stop_reason: 'max_tokens' })
    expect(await answer('messages', { ...asked, stop_sequences: ['three'] })).toMatchObject({
      content: [{ text: 'one two ' }],
      stop_reason: 'stop_sequence',
    })
    const tools = [{ name: 'weather', input_schema: parameters }]
    expect(await answer('messages', { ...asked, tools, tool_choice: { type: 'any' } })).toMatchObject({
      content: [{ type: 'tool_use', name: 'weather', input: JSON.parse(fitting) }],
      stop_reason: 'tool_use',
    })
    const format = { type: 'json_schema', schema: parameters }
    expect(await answer('messages', { ...asked, output_config: { format } })).toMatchObject({
      content: [{ text: fitting }],
    })
  })

  test('Responses', async () => {
    const asked = { input: 'one two three four' }
    expect(await answer('responses', asked)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'output_text', text: 'one two three four' }] }],
      usage: { input_tokens: 4, output_tokens: 4, total_tokens: 8 },
    })
    expect(await answer('responses', { ...asked, max_output_tokens: 16, input: 'x '.repeat(20) })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    const tools = [{ type: 'function', name: 'weather', parameters }]
    expect(await answer('responses', { ...asked, tools, tool_choice: 'required' })).toMatchObject({
      output: [{ type: 'function_call', name: 'weather', arguments: fitting }],
    })
    const format = { type: 'json_schema', name: 'trip', schema: parameters }
    expect(await answer('responses', { ...asked, text: { format } })).toMatchObject({
      output: [{ content: [{ text: fitting }] }],
    })
  })

  test('embeddings', async () => {
    const { data, usage } = await answer('embeddings', { input: ['a cat', 'A cat!', 'dogs', ''], dimensions: 64 })
    const [one = [], other = [], third] = objectsOf(data).map(({ embedding }) => listOf(embedding).map(Number))
    expect(objectsOf(data)).toHaveLength(4)
    expect(one).toHaveLength(64)
    expect(one).toEqual(other)
    expect(one).not.toEqual(third)
    for (const { embedding } of objectsOf(data)) {
      const square = listOf(embedding).reduce<number>((sum, value) => sum + Number(value) ** 2, 0)
      expect(square).toBeCloseTo(1, 6)
    }
    expect(usage).toEqual({ prompt_tokens: 5, total_tokens: 5 })
    const encoded = await answer('embeddings', { input: 'a cat', dimensions: 64, encoding_format: 'base64' })
    const base64 = String(objectsOf(encoded['data'])[0]?.['embedding'])
    const floats = new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)
    expect([...floats]).toEqual(one.map(Math.fround))
    for (const input of [[1, 2, 3], [[1, 2, 3]]])
      expect(await answer('embeddings', { input })).toMatchObject({ data: [{ index: 0 }], usage: { total_tokens: 3 } })
  })

  test('nothing beyond its limits', async () => {
    await expect(answer('chat', { ...hi, n: 129 })).rejects.toThrow('at most 128 choices')
    await expect(answer('embeddings', { input: 'x', dimensions: 4_097 })).rejects.toThrow('at most 4096 dimensions')
    const many = Array.from({ length: 3_000 }, () => 'x')
    await expect(answer('embeddings', { input: many })).rejects.toBeInstanceOf(UpstreamFailure)
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: '#' } } }
    await expect(answer('chat', { ...hi, response_format })).rejects.toThrow('no value for the schema of x')
  })

  test('a call that is longer than the limit is not complete', async () => {
    const spaced = { type: 'object', properties: { a: { const: 'one two three' } }, required: ['a'] }
    const tools = [{ type: 'function', function: { name: 'f', parameters: spaced } }]
    expect(await answer('chat', { ...hi, tools, tool_choice: 'required', max_tokens: 2 })).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { arguments: '{"a":"one two ' } }] }, finish_reason: 'length' }],
    })
  })
})
