import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../../service/failure.ts'
import type { Conversation } from '../conversation.ts'
import { encodeJson } from '../exact-json.ts'
import { envelopeAt } from '../format-testing.ts'
import { geminiOfCallers } from './format.ts'
import { readSchema } from './read-schema.ts'
import { openThoughts, sealThoughts } from './sealed-thoughts.ts'

const contents = [{ parts: [{ text: 'Hi' }] }]

function conversation(fields: object, drop: readonly string[] = []): Conversation {
  const ask = geminiOfCallers.check(encodeJson({ contents, ...fields }), envelopeAt('/v1beta/models/m:generateContent'))
  return geminiOfCallers.talk.read(ask, drop)
}

function turns(given: readonly object[]): Conversation['turns'] {
  return conversation({ contents: given }).turns
}

const text = (said: string) => ({ kind: 'text', text: said, cacheControl: undefined }) as const

describe('the contents', () => {
  test('of the model that follow each other are one turn, their texts one text', () => {
    const piece = (said: string, thought = false) => ({
      role: 'model',
      parts: [{ text: said, ...(thought ? { thought } : {}) }],
    })
    expect(turns([piece('H', true), piece('m', true), piece('He'), piece('llo'), piece('')])).toEqual([
      { role: 'assistant', parts: [{ kind: 'reasoning', text: 'Hm', opaque: undefined }, text('Hello')] },
    ])
  })

  test('keep their order, with the instruction first, and lose what is empty', () => {
    const read = conversation({
      contents: [
        { parts: [{ text: 'a' }, { text: '' }, { text: 'b' }] },
        { role: 'model', parts: [] },
        { role: 'user' },
      ],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
    })
    expect(read.turns).toEqual([
      { role: 'system', parts: [text('Be brief.')] },
      { role: 'user', parts: [text('a'), text('b')] },
    ])
  })

  test('have media and links', () => {
    const parts = [
      { inline_data: { mime_type: 'IMAGE/PNG; x=1', data: 'aGk=' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://a/b' } },
      { fileData: { mimeType: 'image/png', fileUri: 'https://a/b.png' } },
    ]
    expect(turns([{ parts }])[0]?.parts).toMatchObject([
      { kind: 'media', mediaType: 'image/png', base64: 'aGk=' },
      { kind: 'link', url: 'https://a/b', isFile: true },
      { kind: 'link', url: 'https://a/b.png', isFile: false },
    ])
  })

  test('without ids have calls and results that belong together, in the order of each function', () => {
    const call = (name: string, n: number) => ({ functionCall: { name, args: { n } } })
    const result = (name: string, response: object) => ({ functionResponse: { name, response } })
    const read = turns([
      { role: 'model', parts: [call('f', 1), call('g', 2), call('f', 3)] },
      { parts: [result('g', { output: 'two' }), { text: 'And?' }] },
      { parts: [result('f', { error: 'no' }), result('f', { a: 3, b: [1] })] },
    ])
    expect(read.slice(1)).toMatchObject([
      { role: 'tool', callId: 'call_2', name: 'g', parts: [text('two')], isError: false },
      { role: 'user', parts: [text('And?')] },
      { role: 'tool', callId: 'call_1', name: 'f', parts: [text('no')], isError: true },
      { role: 'tool', callId: 'call_3', name: 'f', parts: [text('{"a":3,"b":[1]}')], isError: false },
    ])
  })

  test('have ids that every vendor takes, the same for call and result', () => {
    const id = `run_shell_command__call_${'x'.repeat(40)}`
    const read = turns([
      { role: 'model', parts: [{ functionCall: { id, name: 'f' } }, { functionCall: { id: 'b', name: 'f' } }] },
      { role: 'function', parts: [{ functionResponse: { id: 'b', name: 'f', response: {} } }] },
      { parts: [{ functionResponse: { id, name: 'f', response: { result: 5 } } }] },
    ])
    const [said, second, first] = read
    const calls = said?.role === 'assistant' ? said.parts : []
    expect(calls).toMatchObject([{ id: expect.stringMatching(/^call_\w{1,35}$/) }, { id: 'b' }])
    expect([first, second]).toMatchObject([{ callId: calls[0]?.kind === 'call' && calls[0].id }, { callId: 'b' }])
    expect(first?.parts).toEqual([text('5')])
  })

  test('have the reasoning that svc sealed in the signature of a call, and no signatures of Google', () => {
    const sealed = { text: 'Hm.', opaque: { maker: 'sealed', data: 'svc1:signed' } } as const
    const call = (thoughtSignature: string) => ({
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true },
        { functionCall: { name: 'f' }, thoughtSignature },
      ],
    })
    expect(turns([call('Z29vZ2xl')])[0]?.parts).toMatchObject([
      { kind: 'reasoning', text: 'Hm.', opaque: undefined },
      { kind: 'call', opaque: undefined },
    ])
    expect(turns([call(sealThoughts([sealed]))])[0]?.parts).toMatchObject([
      { kind: 'reasoning', ...sealed },
      { kind: 'call', opaque: undefined },
    ])
  })

  test('lose what ran at Google', () => {
    const parts = [{ executableCode: { code: 'x' } }, { codeExecutionResult: {} }, { text: 'a', thoughtSignature: 's' }]
    expect(turns([{ role: 'model', parts }])).toEqual([{ role: 'assistant', parts: [text('a')] }])
  })
})

describe('a request', () => {
  test('has its settings, in either spelling', () => {
    const generationConfig = {
      max_output_tokens: 5,
      temperature: 0.5,
      top_p: 0.1,
      topK: 3,
      stopSequences: ['x', ' '],
      candidateCount: 2,
      presencePenalty: 1,
      frequency_penalty: -1,
      seed: 7,
      responseLogprobs: true,
      logprobs: 2,
      responseModalities: ['TEXT', 'IMAGE'],
    }
    expect(conversation({ generationConfig })).toMatchObject({
      format: 'gemini',
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.1,
      topK: 3,
      stops: ['x'],
      choices: 2,
      presencePenalty: 1,
      frequencyPenalty: -1,
      seed: 7,
      logprobs: { alternatives: 2 },
      modalities: ['text', 'image'],
      own: {},
    })
    expect(conversation({ generation_config: generationConfig }, ['generationConfig']).maxTokens).toBeUndefined()
  })

  test.each([
    [{ thinkingBudget: 0 }, 'none'],
    [{ thinkingBudget: 1_024 }, 'low'],
    [{ thinking_budget: 8_192 }, 'medium'],
    [{ thinkingBudget: 8_193 }, 'high'],
    [{ thinkingBudget: -1 }, undefined],
    [{ thinkingLevel: 'MINIMAL' }, 'minimal'],
    [{ thinking_level: 'high', thinkingBudget: 0 }, 'high'],
    [{ includeThoughts: true }, undefined],
  ] as const)('thinks with %j: %p', (thinkingConfig, effort) => {
    expect(conversation({ generationConfig: { thinkingConfig } }).effort).toBe(effort)
  })

  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  test.each([
    [{}, { kind: 'text' }],
    [{ responseMimeType: 'application/json' }, { kind: 'json' }],
    [
      { responseMimeType: 'application/json', responseJsonSchema: schema },
      { kind: 'schema', schema },
    ],
    [{ response_schema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }, { kind: 'schema', schema }],
    [{ responseMimeType: 'text/plain' }, { kind: 'text' }],
  ])('asks for an answer with %j', (generationConfig, expected) => {
    expect(conversation({ generationConfig }).answerFormat).toMatchObject(expected)
  })

  const declared = ['f', 'g', 'h'].map((name) => ({ name, parametersJsonSchema: schema }))
  const choosing = (config: object) =>
    conversation({
      tools: [{ functionDeclarations: declared }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: config },
    }).tools
  test.each([
    [{}, ['f', 'g', 'h'], undefined],
    [{ mode: 'AUTO' }, ['f', 'g', 'h'], { kind: 'auto' }],
    [{ mode: 'NONE' }, ['f', 'g', 'h'], { kind: 'none' }],
    [{ mode: 'ANY' }, ['f', 'g', 'h'], { kind: 'required' }],
    [{ mode: 'ANY', allowedFunctionNames: ['g'] }, ['g'], { kind: 'function', name: 'g' }],
    [{ mode: 'ANY', allowed_function_names: ['g', 'h'] }, ['g', 'h'], { kind: 'required' }],
    [{ mode: 'VALIDATED' }, ['f', 'g', 'h'], { kind: 'auto' }],
  ])('chooses functions by %j', (config, names, choice) => {
    const { functions, choice: chosen } = choosing(config)
    expect(functions.map(({ name }) => name)).toEqual(names)
    expect(chosen as unknown).toEqual(choice)
    expect(functions.every(({ isStrict }) => isStrict === ('mode' in config && config.mode === 'VALIDATED'))).toBe(true)
  })

  test.each([
    [{ cachedContent: 'c' }, 'cachedContent'],
    [{ tools: [{ codeExecution: {} }] }, 'codeExecution'],
    [{ tools: [{ computer_use: {} }] }, 'computer_use'],
    [{ toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['x'] } } }, 'not declared'],
    [{ generationConfig: { responseMimeType: 'text/x.enum' } }, 'text/x.enum'],
    [{ contents: [{ parts: [{ news: { a: 1 } }] }] }, "'news'"],
    [{ contents: [{ parts: [{ fileData: { fileUri: 'files/x' } }] }] }, 'address'],
  ])('with %j is not translated', (fields, reason) => {
    expect(() => conversation(fields)).toThrow(UpstreamFailure)
    expect(() => conversation(fields)).toThrow(reason)
  })
})

test('a schema of Google becomes JSON Schema', () => {
  expect(
    readSchema({
      type: 'OBJECT',
      nullable: true,
      propertyOrdering: ['type', 'tags'],
      properties: {
        type: { type: 'STRING', enum: ['a'], nullable: true, description: 'd' },
        tags: {
          type: 'ARRAY',
          items: { any_of: [{ type: 'INTEGER' }, { type: 'NUMBER', minimum: 1 }] },
          minItems: '2',
        },
      },
      required: ['type'],
    }),
  ).toEqual({
    type: ['object', 'null'],
    properties: {
      type: { type: ['string', 'null'], enum: ['a', null], description: 'd' },
      tags: { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'number', minimum: 1 }] }, minItems: 2 },
    },
    required: ['type'],
  })
})

test('sealed thoughts are opened again, and damaged ones are none', () => {
  const thoughts = [
    { text: undefined, opaque: { maker: 'sealed', data: 'svc1:a' } },
    { text: 'Hm 🌅', opaque: { maker: 'sealed', data: 'svc1:b' } },
  ] as const
  const sealed = sealThoughts(thoughts)
  expect(openThoughts(sealed)).toEqual([...thoughts])
  expect(openThoughts('CpcBAY89a18')).toBeUndefined()
  for (let end = 10; end < sealed.length - 4; end++) expect(openThoughts(sealed.slice(0, end))).toEqual([])
})
