import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import fc from 'fast-check'
import schema from '../../../test/schemas/CreateChatCompletionStreamResponse.schema.json'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { chunkReader } from './chunk.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const defaults = { id: 'made', created: 7, model: 'asked' }
const isValid = new Ajv({ strict: false, logger: false }).compile(schema)

/** Reads chunks of one stream. */
function readAll(values: readonly unknown[]): readonly (Part | AnsweredError)[] {
  return values.map(chunkReaderOf())
}

function chunkReaderOf(): (value: unknown) => Part | AnsweredError {
  const read = chunkReader(defaults)
  return (value) => read(encode(typeof value === 'string' ? value : JSON.stringify(value)))
}

function readOne(value: unknown): Part {
  return readChunk(chunkReaderOf()(value))
}

function readChunk(chunk: Part | AnsweredError): Part {
  if (chunk.kind === 'error') throw new Error('an error', { cause: chunk.error })
  return chunk
}

const parsed = (chunk: Part | AnsweredError) => (chunk.kind === 'part' ? JSON.parse(decode(chunk.data)) : chunk.error)
const head = { id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (choice: object, others: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  ...others,
})

describe('chunkReader', () => {
  test('passes a complete chunk unchanged', () => {
    const bytes = encode(
      JSON.stringify(
        chunk(
          { delta: { role: 'assistant', content: 'é\n"' }, logprobs: { content: [], refusal: null } },
          { x_groq: { id: 1 }, obfuscation: 'x', seed: 1 },
        ),
      ).replace('"seed":1', '"seed":9007199254740993.10'),
    )
    const read = chunkReader()(bytes)
    expect(read).toEqual({
      kind: 'part',
      data: bytes,
      isMeaningful: true,
      text: 'é\n"',
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: true,
      usage: undefined,
    })
    expect(read.kind === 'part' && read.data).toBe(bytes)
  })

  test.each([
    ['{}', { ...defaultHead(), choices: [] }],
    ['{"choices":null,"object":null,"id":null,"created":"1","model":5}', { choices: [], ...defaultHead(), created: 1 }],
    [
      { ...head, object: 'chat.completion.done', choices: [] },
      { ...head, choices: [] },
    ],
    [
      { ...head, object: '', choices: [] },
      { ...head, choices: [] },
    ],
    [
      { ...head, choices: [{}] },
      { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
    ],
    [
      { ...head, choices: [{ delta: null, index: null, finish_reason: '' }] },
      { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
    ],
    [
      { ...head, choices: [{ delta: { content: 'a' } }, { delta: { content: 'b' } }] },
      {
        ...head,
        choices: [
          { index: 0, delta: { content: 'a', role: 'assistant' }, finish_reason: null },
          { index: 1, delta: { content: 'b', role: 'assistant' }, finish_reason: null },
        ],
      },
    ],
    [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: 'null' }] },
      { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
    ],
    [
      { ...head, choices: [{ index: -1, delta: {}, finish_reason: 4 }] },
      { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
    ],
  ])('fills %j', (value, expected) => {
    const read = parsed(readOne(value))
    expect(read).toEqual(expected)
    expect(isValid(read)).toBeTrue()
  })

  test.each([
    ['text', { delta: { content: 'a' } }, { isMeaningful: true, text: 'a', isBeyondText: false }],
    [
      'a role',
      { delta: { role: 'assistant', content: '', refusal: null } },
      { isMeaningful: false, text: '', isBeyondText: false },
    ],
    ['nothing', { delta: {} }, { isMeaningful: false, isBeyondText: false }],
    [
      'null',
      { delta: { content: null, tool_calls: null, reasoning_content: null, audio: null } },
      { isMeaningful: false, isBeyondText: false },
    ],
    [
      'empty lists',
      { delta: { tool_calls: [], reasoning: '', reasoning_details: [] } },
      { isMeaningful: false, isBeyondText: false },
    ],
    ['a finish', { finish_reason: 'stop' }, { isMeaningful: true, isBeyondText: false, finishReason: 'stop' }],
    [
      'a tool call',
      { delta: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] } },
      { isMeaningful: true, isBeyondText: true },
    ],
    ['reasoning_content', { delta: { reasoning_content: 'hm' } }, { isMeaningful: true, isBeyondText: true }],
    ['reasoning', { delta: { reasoning: 'hm' } }, { isMeaningful: true, isBeyondText: true }],
    [
      'reasoning_details',
      { delta: { reasoning_details: [{ text: 'hm' }] } },
      { isMeaningful: true, isBeyondText: true },
    ],
    ['a refusal', { delta: { refusal: 'no' } }, { isMeaningful: true, isBeyondText: true }],
    ['audio', { delta: { audio: { data: 'x' } } }, { isMeaningful: true, isBeyondText: true }],
    ['a function call', { delta: { function_call: { name: 'f' } } }, { isMeaningful: true, isBeyondText: true }],
    ['a second choice', { index: 1, delta: { content: 'b' } }, { isMeaningful: true, text: '', isBeyondText: true }],
    [
      'text before its index',
      { delta: { content: 'b' }, finish_reason: null, index: 2 },
      { isMeaningful: true, isBeyondText: true },
    ],
  ])('tells the facts of %s', (_, choice, facts) => {
    expect(readOne(chunk(choice))).toMatchObject(facts)
  })

  test('gives usage at a place of the provider its usual place, too', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
    const choice = { index: 0, delta: {}, finish_reason: 'stop' }
    for (const value of [
      { ...head, choices: [choice], x_groq: { id: 'r', usage } },
      { ...head, choices: [{ ...choice, usage }] },
    ]) {
      const part = readOne(value)
      expect(part.usage).toMatchObject({ promptTokens: 5, completionTokens: 1 })
      expect(parsed(part).usage).toEqual(usage)
    }
  })

  test('gives reasoning and cache hits that are counted elsewhere their usual places', () => {
    const counts = { prompt_tokens: 50, completion_tokens: 7 }
    const details = { completion_tokens_details: { reasoning_tokens: 100 } }
    const beside = { ...head, choices: [], usage: { ...counts, total_tokens: 157, ...details } }
    expect(parsed(readOne(beside)).usage).toEqual({ ...beside.usage, completion_tokens: 107 })
    const hits = { ...head, choices: [], usage: { ...counts, total_tokens: 57, cached_tokens: 20 } }
    expect(parsed(readOne(hits)).usage).toEqual({ ...hits.usage, prompt_tokens_details: { cached_tokens: 20 } })
  })

  test('reads usage, beside choices and without', () => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 1 },
    }
    expect(readOne({ ...head, choices: [], usage }).usage).toEqual({
      promptTokens: 3,
      completionTokens: 4,
      totalTokens: 7,
      cachedTokens: 1,
    })
    expect(readOne(chunk({}, { usage })).usage).toEqual({
      promptTokens: 3,
      completionTokens: 4,
      totalTokens: 7,
      cachedTokens: 1,
    })
    expect(readOne(chunk({}, { usage: { completion_tokens: 4, total_tokens: 'x' } })).usage).toEqual({
      promptTokens: undefined,
      completionTokens: 4,
      totalTokens: undefined,
    })
    for (const none of [null, {}, 5, []]) expect(readOne(chunk({}, { usage: none })).usage).toBeUndefined()
  })

  test.each<readonly [string, object, number | undefined]>([
    [
      'the common name',
      { prompt_tokens_details: { audio_tokens: 9, cached_tokens: 2, deep: { cached_tokens: 8 } } },
      2,
    ],
    ["DeepSeek's", { prompt_cache_hit_tokens: 3, prompt_cache_miss_tokens: 8 }, 3],
    ['both', { prompt_cache_hit_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } }, 2],
    ['a number in a string', { prompt_tokens_details: { cached_tokens: '2' } }, 2],
    ['what is no number', { prompt_tokens_details: { cached_tokens: 'x' } }, undefined],
    ['what is no object', { prompt_tokens_details: [2] }, undefined],
    ['null', { prompt_tokens_details: null }, undefined],
  ])('reads cached tokens under %s', (_, more, cachedTokens) => {
    expect(readOne(chunk({}, { usage: { ...more, prompt_tokens: 4 } })).usage).toMatchObject({
      promptTokens: 4,
      completionTokens: undefined,
      totalTokens: undefined,
      cachedTokens,
    })
  })

  test('keeps the first id, created and model (failover.md row 39)', () => {
    const chunks = readAll([
      { ...head, choices: [] },
      { ...head, id: 'j', created: 2, model: 'n', choices: [] },
      { choices: [] },
      { ...head, id: '', created: 0, model: null, choices: [] },
    ])
    for (const each of chunks) expect(parsed(each)).toEqual({ ...head, choices: [] })
  })

  test('passes empty ones until there are others, as Azure sends them', () => {
    const first = {
      id: '',
      object: '',
      created: 0,
      model: '',
      choices: [],
      prompt_filter_results: [{ prompt_index: 0 }],
    }
    const chunks = readAll([first, { ...head, choices: [] }, first]).map(parsed)
    expect(chunks).toEqual([
      { ...first, object: head.object },
      { ...head, choices: [] },
      { ...first, ...head },
    ])
  })

  test('generates missing members once', () => {
    const read = chunkReader({ model: 'asked' })
    const [one, other] = [read(encode('{"choices":[]}')), read(encode('{"id":"late","choices":[]}'))].map(parsed)
    expect(one.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(other).toEqual(one)
    expect(isValid(one)).toBeTrue()
  })

  test('skips the beginning of a chunk only if it is the same', () => {
    const read = chunkReaderOf()
    const texts = ['a', 'b', 'c'].map((content) => chunk({ delta: { content } }))
    expect(texts.map(read).map((each) => each.kind === 'part' && each.text)).toEqual(['a', 'b', 'c'])
    const changed = JSON.stringify(texts[0]).replace('"id":"i"', '"id":"j"')
    expect(parsed(read(changed)).id).toBe('i')
    expect(() => read(JSON.stringify(texts[0]).slice(0, -1))).toThrow(MalformedAnswer)
    expect(() => read(`${JSON.stringify(texts[0])}x`)).toThrow(MalformedAnswer)
    expect(parsed(read(texts[1]))).toEqual(texts[1])
    const twice =
      '{"id":"i","object":"chat.completion.chunk","created":1,"model":"m",' +
      '"choices":[{"index":0,"delta":{"reasoning":"x"},"finish_reason":null}],' +
      '"choices":[{"index":0,"delta":{"content":"y"},"finish_reason":"stop"}]}'
    expect(read(twice)).toMatchObject({ finishReason: 'stop', isBeyondText: true })
    const other = chunkReaderOf()
    other(texts[0])
    expect(read(twice)).toEqual(other(twice))
  })

  test('reads chunks that differ in one place like every other chunk', () => {
    const usual = '[{"index":0,"delta":{"content":"a"},"finish_reason":null}]'
    const others = [
      usual,
      usual.replace('"a"', '"b\\n"'),
      usual.replace('"a"', '"é"'),
      usual.replace('"a"', '""'),
      usual.replace('"a"', 'null'),
      usual.replace('"a"', '"a","content":"b"'),
      usual.replace('"a"', '"a","content":[{"type":"text","text":"b"}]'),
      usual.replace('"a"', '"a","reasoning":"b"'),
      usual.replace('"a"', '"a","refusal":"b"'),
      usual.replace('"a"', '"a","tool_calls":null'),
      usual.replace('null', '"stop"'),
      usual.replace('null', '"length"'),
      usual.replace('null', 'null,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}'),
      usual.replace('null', 'null,"logprobs":null'),
      usual.replace('0', '1'),
      usual.replace(']', `,${usual.slice(1)}`),
      usual.replace('[{', '[ \n{'),
      usual.replace('null', 'null,"other":"é"'),
    ]
    const first = '[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]'
    const head = '"id":"i","object":"chat.completion.chunk","created":1,"model":"m"'
    const whole = (choices: string, text: string, other = '') =>
      `{${other}${head},"choices":${choices.replace('"a"', `"${text}"`)}}`
    for (const one of others)
      for (const other of others) {
        const [read, alone] = [chunkReaderOf(), chunkReaderOf()]
        for (const text of ['x', 'longer']) read(whole(text === 'x' ? first : one, text))
        // Another beginning: these are not compared with later ones.
        alone(whole(first, 'x', '"other":1,'))
        alone(whole(one, 'longer', '"other":1,'))
        expect(read(whole(other, 'y'))).toEqual(alone(whole(other, 'y')))
      }
  })

  test('finds line breaks and invalid UTF-8 in the beginning of every chunk', () => {
    const read = chunkReaderOf()
    const broken = JSON.stringify(chunk({})).replace('{', '{\n')
    for (let count = 0; count < 2; count++) expect(decode(readChunk(read(broken)).data)).not.toContain('\n')
    const invalid = encode(JSON.stringify(chunk({})).replace('"m"', '"é"'))
    invalid[invalid.indexOf(0xc3) + 1] = 0x20
    const readBytes = chunkReader()
    for (let count = 0; count < 2; count++) expect(() => readBytes(invalid)).toThrow(MalformedAnswer)
  })

  test('numbers tool calls without an index, and gives each an id and a type', () => {
    const call = (value: object) => chunk({ delta: { tool_calls: [value] } })
    const calls = readAll([
      call({ id: 'a', function: { name: 'f', arguments: '' } }),
      call({ function: { arguments: '{' } }),
      call({ id: 'b', type: null, index: null, function: { name: 'g', arguments: '{}' } }),
      call({ id: 'a', function: { arguments: '}' } }),
      call({ function: { name: 'h', arguments: '' } }),
      call({ index: 5, id: 'c', type: 'custom' }),
      call({ id: 'd', function: {} }),
      call({}),
    ]).map((each) => parsed(each).choices[0].delta.tool_calls[0])
    expect(calls.map(({ index }) => index)).toEqual([0, 0, 1, 0, 2, 5, 6, 6])
    expect(calls.map(({ type }) => type)).toEqual([
      'function',
      undefined,
      'function',
      'function',
      'function',
      'custom',
      'function',
      undefined,
    ])
    expect(calls.map(({ id }) => id)).toEqual([
      'a',
      undefined,
      'b',
      'a',
      expect.stringMatching(/^call_[0-9a-f]{32}$/),
      'c',
      'd',
      undefined,
    ])
  })

  test('numbers several whole tool calls of one delta, as Mistral sends them', () => {
    const { tool_calls } = parsed(
      readOne(
        chunk({
          delta: {
            tool_calls: [
              { id: 'a', function: { name: 'f', arguments: '{}' } },
              { id: 'b', function: { name: 'g', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        }),
      ),
    ).choices[0].delta
    expect(tool_calls).toEqual([
      { id: 'a', function: { name: 'f', arguments: '{}' }, index: 0, type: 'function' },
      { id: 'b', function: { name: 'g', arguments: '{}' }, index: 1, type: 'function' },
    ])
  })

  test('separates calls to which a provider gives the same index', () => {
    const call = (value: object) => chunk({ delta: { tool_calls: [{ index: 0, ...value }] } })
    const calls = readAll([
      call({ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } }),
      call({ function: { arguments: '1}' } }),
      call({ id: 'b', type: 'function', function: { name: 'f', arguments: '{"y":' } }),
      call({ id: '', function: { arguments: '2}' } }),
      call({ id: 'a', function: { arguments: ' ' } }),
      call({ index: 1, id: 'c', type: 'function', function: { name: 'g', arguments: '{}' } }),
      call({ index: 1, id: 'other', function: { arguments: ' ' } }),
    ]).map((each) => parsed(each).choices[0].delta.tool_calls[0])
    expect(calls.map(({ index }) => index)).toEqual([0, 0, 1, 1, 0, 2, 2])
  })

  test('leaves calls with different indexes unchanged', () => {
    const call = (index: number, id: string) =>
      encode(
        JSON.stringify(
          chunk({ delta: { tool_calls: [{ index, id, type: 'function', function: { name: 'f', arguments: '' } }] } }),
        ),
      )
    const read = chunkReader()
    read(encode(JSON.stringify(chunk({ delta: { role: 'assistant' } }))))
    for (const bytes of [call(0, 'f'), call(1, 'g'), call(0, 'f'), call(1, 'g')])
      expect(readChunk(read(bytes)).data).toBe(bytes)
  })

  test('gives calls that have the same id ids of their own, at which their pieces keep', () => {
    const call = (index: number | undefined, name: string | undefined, text: string) =>
      chunk({ delta: { tool_calls: [{ index, id: 'a', type: 'function', function: { name, arguments: text } }] } })
    const ids = (...chunks: readonly object[]) =>
      readAll(chunks).map((each) => parsed(each).choices[0].delta.tool_calls[0].id)
    const [first, second, third, fourth] = ids(
      call(0, 'f', '{'),
      call(1, 'f', '{'),
      call(0, undefined, '}'),
      call(1, undefined, '}'),
    )
    expect([first, third, fourth]).toEqual(['a', 'a', second])
    expect(second).toMatch(/^call_[0-9a-f]{32}$/)
    const [one, other] = ids(call(undefined, 'f', '{"a":1}'), call(undefined, 'f', '{"a":2}'))
    expect([one, other]).toEqual(['a', expect.stringMatching(/^call_/)])
  })

  test.each([
    ['nothing', [''], '{}'],
    ['null', ['null'], '{}'],
    ['pieces of null', ['nu', 'll'], '{}'],
    ['an empty list', ['[', ']'], '{}'],
    ['JSON in a JSON string', ['"{\\"a\\"', ':1}"'], '{"a":1}'],
    ['another value', ['"x"'], '"x"'],
    ['an object', ['{"a"', ':1}'], '{"a":1}'],
    ['text', ['new', ' text'], 'new text'],
  ])('gives a call with %s as arguments an object where it means one', (_name, pieces, expected) => {
    const call = (text: string, name?: string) =>
      chunk({ delta: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name, arguments: text } }] } })
    for (const end of [{ delta: {} }, {}, { delta: null }, { delta: { tool_calls: [] } }]) {
      const parts = readAll([
        ...pieces.map((text, position) => call(text, position === 0 ? 'f' : undefined)),
        chunk({ ...end, finish_reason: 'tool_calls' }),
      ])
      const given = parts.flatMap((part) => parsed(part).choices[0].delta.tool_calls ?? [])
      expect(given.map((each) => each.function.arguments).join('')).toBe(expected)
      expect(given.every(({ index }) => index === 0)).toBe(true)
    }
  })

  test('leaves a call without arguments as it is where the answer was cut', () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
    const parts = readAll([chunk({ delta: { tool_calls: [call] } }), chunk({ delta: {}, finish_reason: 'length' })])
    expect(parsed(parts[1] as Part).choices[0].delta).toEqual({})
  })

  test('generates an id for a call whose first piece has an empty one', () => {
    const call = (value: object) => chunk({ delta: { tool_calls: [{ index: 0, type: 'function', ...value }] } })
    const [first, second] = readAll([
      call({ id: '', function: { name: 'f', arguments: '' } }),
      call({ id: '', function: { arguments: '{}' } }),
    ]).map((each) => parsed(each).choices[0].delta.tool_calls[0].id)
    expect(first).toMatch(/^call_[0-9a-f]{32}$/)
    expect(second).toBe('')
  })

  test('repairs pieces of tool calls', () => {
    const calls = readAll(
      [
        { index: '0', id: 7, type: 'x', function: { name: 'f', arguments: { n: 1 } } },
        { index: 0, id: null, type: null, function: { name: null, arguments: null } },
        { index: 0, type: '', function: null },
      ].map((value) => chunk({ delta: { role: null, tool_calls: [value] } })),
    ).map((each) => parsed(each).choices[0].delta)
    expect(calls).toEqual([
      {
        role: 'assistant',
        tool_calls: [{ index: 0, id: '7', type: 'function', function: { name: 'f', arguments: '{"n":1}' } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '' } }] },
      { tool_calls: [{ index: 0 }] },
    ])
  })

  test.each([
    [{ tool_calls: null, content: 'a' }, { content: 'a' }],
    [{ tool_calls: null }, {}],
    [
      { role: '', tool_calls: [], refusal: false },
      { tool_calls: [], refusal: null },
    ],
    [
      { role: null, tool_calls: '', content: 'a', x: 1 },
      { content: 'a', x: 1 },
    ],
    [
      { role: 'model', content: 'a', tool_calls: null },
      { role: 'assistant', content: 'a' },
    ],
  ])('repairs the delta %j', (delta, expected) => {
    for (const space of [0, 1]) {
      const read = chunkReaderOf()
      const texts = [chunk({}), chunk({ delta })].map((value) => JSON.stringify(value, null, space))
      expect(texts.map((text) => parsed(read(text)).choices[0].delta)).toEqual([{ role: 'assistant' }, expected])
    }
  })

  test.each(['{}', '{"role":""}', '{"role":null,"tool_calls":null}', '{"content":"a"}', 'null', '{"role":"model"}'])(
    'has the role in the first delta of each choice, which is %s',
    (delta) => {
      const read = chunkReaderOf()
      const choices = [1, 0, 1].map((index) => `{"delta":${delta},"index":${index},"finish_reason":null}`)
      const roles = choices.map((choice) => parsed(read(`{"choices":[${choice}]}`)).choices[0].delta.role)
      expect(roles).toEqual(['assistant', 'assistant', delta.includes('model') ? 'assistant' : undefined])
    },
  )

  test('finishes the choices that have begun, for a stream without a finish_reason (failover.md row 36)', () => {
    const read = chunkReader(defaults)
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    for (const [index, delta] of [{ content: 'x' }, { tool_calls: [call] }, { content: 'y' }].entries())
      read(encode(JSON.stringify(chunk({ index, delta }))))
    read(encode(JSON.stringify(chunk({ index: 2, finish_reason: 'length' }))))
    const last = read.finish()
    expect(last.map(parsed)).toEqual([
      chunk({ index: 0, finish_reason: 'stop' }),
      chunk({ index: 1, finish_reason: 'tool_calls' }),
    ])
    expect(last.map(({ hasOpenChoice }) => hasOpenChoice)).toEqual([true, false])
    expect(read.finish()).toEqual([])
  })

  test.each([
    [['{"a":'], true],
    [['{"a":{"b":"}}"', '}'], true],
    [['', ' {"a":"}', '\\""}'], false],
    [['plain'], false],
    [[], false],
  ])('finishes no choice whose call has the arguments %j: %p', (texts, isCut) => {
    const read = chunkReader(defaults)
    for (const text of ['', ...texts])
      read(encode(JSON.stringify(chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }))))
    if (isCut) expect(read.finish).toThrow(MalformedAnswer)
    else expect(read.finish()).toHaveLength(1)
  })

  test('numbers the tool calls of each choice separately', () => {
    const both = {
      ...head,
      choices: [0, 1].map((index) => ({
        index,
        delta: { tool_calls: [{ id: `id${index}`, function: { name: 'f' } }] },
        finish_reason: null,
      })),
    }
    expect(
      parsed(readOne(both)).choices.map(
        (choice: { delta: { tool_calls: { index: number }[] } }) => choice.delta.tool_calls[0]?.index,
      ),
    ).toEqual([0, 0])
  })

  test('converts content in parts to text', () => {
    const content = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'hm' },
          { type: 'text', text: '…' },
        ],
      },
      { type: 'text', text: 'a' },
      'b',
      { type: 'reference' },
    ]
    const read = readOne(chunk({ delta: { content } }))
    expect(parsed(read).choices[0].delta).toEqual({ content: 'ab', reasoning_content: 'hm…', role: 'assistant' })
    expect(read).toMatchObject({ text: 'ab', isMeaningful: true, isBeyondText: true })
    expect(readOne(chunk({ delta: { content: [] } }))).toMatchObject({ text: '', isMeaningful: false })
  })

  test('replaces line breaks between tokens, and keeps everything else', () => {
    const value = chunk(
      { delta: { role: 'assistant', content: 'a', extra_content: { google: { thought_signature: 'sig' } } } },
      { x_groq: { id: 'r' } },
    )
    const read = readOne(JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'))
    expect(decode(read.data)).not.toMatch(/[\r\n]/)
    expect(parsed(read)).toEqual(value)
  })

  test.each([
    [
      { error: { message: 'no', type: 'server_error', code: 503 } },
      { message: 'no', codes: ['503', 'server_error'], status: 503 },
    ],
    [{ error: 'no' }, { message: 'no' }],
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { codes: ['overloaded_error', 'error'], message: 'Overloaded' },
    ],
    [
      {
        ...head,
        error: { code: 502, message: 'gone' },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      },
      { message: 'gone', status: 502 },
    ],
    [
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: 'within' } }] },
      { message: 'within' },
    ],
    [
      { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 },
      { message: 'too long', status: 400 },
    ],
    [{ choices: 42, error: { message: 'no' } }, { message: 'no' }],
    [{ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] }, { codes: ['error'] }],
    [
      { choices: [{ delta: { content: 'x' } }, { delta: {}, finish_reason: 'network_error' }] },
      { message: "the answer ended with 'network_error'", codes: ['network_error'] },
    ],
    [{ detail: 'it is full' }, { message: 'it is full' }],
    [
      { id: 'as-1', error_code: 17, error_msg: 'the limit of a day' },
      { message: 'the limit of a day', codes: ['17'] },
    ],
    [{ errors: [{ code: 9, message: 'no room' }], success: false }, { message: 'no room' }],
    [
      { ...head, choices: null, base_resp: { status_code: 9, status_msg: 'no' } },
      { message: 'no', codes: ['9'] },
    ],
    [
      { ...head, choices: [], message: 'it broke', status: 500 },
      { message: 'it broke', status: 500 },
    ],
  ])('reads %j as an error', (value, error) => {
    expect(chunkReaderOf()(value)).toMatchObject({ kind: 'error', error })
  })

  test.each([
    { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    { ...head, choices: [{ index: 0, delta: { content: 'x' } }], message: 'no error', base_resp: { status_code: 0 } },
    { ...head, choices: null, base_resp: { status_code: 0, status_msg: 'success' } },
    { type: 'ping' },
    {},
  ])('takes %j for no error', (value) => {
    expect(chunkReaderOf()(value)).toMatchObject({ kind: 'part' })
  })

  test.each([[null], [false], [''], [{}], [[]]])('does not take error %j for one', (error) => {
    expect(parsed(readOne({ ...head, error, choices: [] }))).toEqual({ ...head, error, choices: [] })
  })

  test.each([
    '',
    ' ',
    '[DONE]',
    '[]',
    '"x"',
    'null',
    '{',
    '{"choices":42}',
    '{"choices":{}}',
    '{"choices":[null]}',
    '{"choices":[1]}',
    '{"choices":[{"delta":"x"}]}',
    '{"choices":[{"delta":{"content":42}}]}',
    '{"choices":[{"delta":{"content":{}}}]}',
    '{"choices":[{"delta":{"tool_calls":[1]}}]}',
    '{"choices":[{"delta":{"tool_calls":{"a":1}}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"function":"f"}]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"function":{"name":1}}]}}]}',
    '{"choices":[{"delta":{"refusal":{"a":1}}}]}',
    '{"choices":[{"delta":{},"logprobs":{"content":[1]}}]}',
    '{"choices":[{"delta":{},"logprobs":{"content":[{"logprob":1}]}}]}',
  ])('refuses %j', (text) => {
    expect(() => chunkReaderOf()(text)).toThrow(MalformedAnswer)
  })

  test('refuses invalid UTF-8', () => {
    expect(() => chunkReader()(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow(MalformedAnswer)
  })

  const known = fc.constantFrom(
    'id',
    'object',
    'created',
    'model',
    'choices',
    'usage',
    'error',
    'index',
    'delta',
    'finish_reason',
    'content',
    'tool_calls',
    'type',
    'function',
    'name',
    'text',
    'thinking',
    'message',
    'detail',
    '__proto__',
  )
  const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, true, 0, 1, 1.5, '', 'a', 'é', 'error', 'chat.completion.chunk'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(known, tie('value'), { maxKeys: 4 }),
    ),
  }))

  test('gives a part, an error or MalformedAnswer for any input, and reads its own parts unchanged', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            anyValue,
            fc.dictionary(known, anyValue),
            fc.array(fc.dictionary(known, anyValue), { maxLength: 2 }).map((choices) => ({ choices })),
          ),
          { maxLength: 4 },
        ),
        (values) => {
          let [read, readAgain] = [chunkReader(defaults), chunkReader(defaults)]
          for (const value of values) {
            const bytes = encode(JSON.stringify(value, null, 1))
            let result: Part | AnsweredError
            try {
              result = read(bytes)
            } catch (error) {
              if (!(error instanceof MalformedAnswer)) throw error
              result = { kind: 'error', error: undefined }
            }
            if (result.kind === 'error') {
              ;[read, readAgain] = [chunkReader(defaults), chunkReader(defaults)]
              continue
            }
            expect(decode(result.data)).not.toMatch(/[\r\n]/)
            const again = readAgain(result.data)
            // `hasOpenChoice` depends on earlier chunks; usage has the provider's own counts.
            expect({ ...again, hasOpenChoice: result.hasOpenChoice, usage: result.usage }).toEqual(result)
          }
        },
      ),
      { numRuns: 700 },
    )
  })

  test('throws only MalformedAnswer on broken bytes', () => {
    const whole = encode(
      JSON.stringify(
        chunk(
          { delta: { content: 'ä', tool_calls: [{ id: 'a', function: { name: 'f' } }] } },
          { usage: { prompt_tokens: 1 } },
        ),
      ),
    )
    const read = chunkReader()
    fc.assert(
      fc.property(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 }), (place, removed, inserted) => {
        const bytes = [...whole]
        bytes.splice(place % bytes.length, removed, ...inserted)
        try {
          const result = read(new Uint8Array(bytes))
          if (result.kind === 'part') JSON.parse(decode(result.data))
        } catch (error) {
          if (!(error instanceof MalformedAnswer)) throw error
        }
      }),
      { numRuns: 700 },
    )
  })
})

function defaultHead(): object {
  return { id: 'made', object: 'chat.completion.chunk', created: 7, model: 'asked' }
}

describe('choices that have not finished', () => {
  const choice = (index: number, finishReason: string | null) => ({
    index,
    delta: finishReason === null ? { content: 'x' } : {},
    finish_reason: finishReason,
  })
  const open = (...chunks: readonly (readonly object[])[]) => {
    const read = chunkReader()
    return chunks.map((choices) => {
      const chunk = read(
        encode(JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })),
      )
      return chunk.kind === 'part' && chunk.hasOpenChoice
    })
  }

  test.each([
    ['one choice', [[choice(0, null)], [choice(0, 'stop')], []], [true, false, false]],
    ['one of two', [[choice(0, null)], [choice(1, null)], [choice(0, 'stop')], []], [true, true, true, true]],
    ['both', [[choice(0, null), choice(1, null)], [choice(1, 'stop')], [choice(0, 'stop')]], [true, true, false]],
    ['what follows a finish', [[choice(0, 'stop')], [choice(0, null)]], [false, false]],
  ])('are reported: %s', (_, chunks, expected) => {
    expect(open(...chunks)).toEqual(expected)
  })
})
