import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { endpointAt, encoded } from '../../protocols/fixtures/load.ts'
import { gemini } from '../../protocols/gemini.ts'

const connection = endpointAt('https://generativelanguage.googleapis.com/v1beta')

function sent(fields: JsonObject, model = 'gemini-2.5-flash'): JsonObject {
  return encoded(gemini, fields, model, connection)
}

function said(messages: readonly JsonObject[], model?: string): unknown {
  return sent({ messages }, model)['contents']
}

function called(id: string, name: string, args: string, more: JsonObject = {}): JsonObject {
  return { id, type: 'function', function: { name, arguments: args }, ...more }
}

const toolUse: readonly JsonObject[] = [
  { role: 'user', content: 'Weather and time?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [called('a', 'weather', '{"city":"Rome"}'), called('b', 'time', '')],
  },
  { role: 'tool', tool_call_id: 'b', content: 'noon' },
  { role: 'user', content: 'Quick!' },
  { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '{"sky":"blue"}' }] },
]

describe('gemini contents', () => {
  test('separate system messages, merge neighbours of one role, and leave out empty texts', () => {
    expect(
      sent({
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'One' },
          { role: 'developer', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Two' },
              { type: 'text', text: '' },
            ],
          },
          { role: 'assistant', content: 'Three' },
        ],
      }),
    ).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
        { role: 'model', parts: [{ text: 'Three' }] },
      ],
    })
  })

  test('make a user message of a conversation of system messages only', () => {
    expect(sent({ messages: [{ role: 'system', content: 'Say hi.' }] })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Say hi.' }] }],
    })
  })

  test('name the functions of results, put them first, and wrap results that are not objects', () => {
    expect(said(toolUse)).toEqual([
      { role: 'user', parts: [{ text: 'Weather and time?' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'weather', args: { city: 'Rome' } } },
          { functionCall: { name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { sky: 'blue' } } },
          { functionResponse: { name: 'time', response: { result: 'noon' } } },
          { text: 'Quick!' },
        ],
      },
    ])
  })

  test('give Gemini 3 ids, and a placeholder for a missing signature', () => {
    expect(said(toolUse, 'gemini-3-pro-preview')).toMatchObject([
      { role: 'user' },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'a', name: 'weather', args: { city: 'Rome' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'b', name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'a' } }, { functionResponse: { id: 'b' } }, { text: 'Quick!' }],
      },
    ])
  })

  test('send back the thought signature of a call', () => {
    const call = called('a', 'f', '{}', { extra_content: { google: { thought_signature: 'signature-for-tests' } } })
    for (const model of ['gemini-2.5-pro', 'gemini-3.5-flash']) {
      expect(
        said(
          [
            { role: 'user', content: 'Go' },
            { role: 'assistant', tool_calls: [call] },
            { role: 'tool', tool_call_id: 'a', content: 'ok' },
          ],
          model,
        ),
      ).toMatchObject([{}, { parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'signature-for-tests' }] }, {}])
    }
  })

  test('support the deprecated function_call and function messages', () => {
    expect(
      said([
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: '[1]' },
      ]),
    ).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] },
      { parts: [{ functionResponse: { name: 'f', response: { result: [1] } } }] },
    ])
  })

  const parts: readonly (readonly [string, JsonObject, JsonObject])[] = [
    [
      'an image in a data: address',
      { type: 'image_url', image_url: { url: 'data:image/png;name=x;base64,aGk=' } },
      { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
    ],
    [
      'an image at an address',
      { type: 'image_url', image_url: { url: 'https://example.com/a.JPG?x=1' } },
      { fileData: { fileUri: 'https://example.com/a.JPG?x=1', mimeType: 'image/jpeg' } },
    ],
    [
      'an image at an address without a type',
      { type: 'image_url', image_url: { url: 'https://example.com/a' } },
      { fileData: { fileUri: 'https://example.com/a' } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'aGk=' } },
    ],
    [
      'sound in a data: address',
      { type: 'input_audio', input_audio: { data: 'data:audio/ogg;base64,aGk=', format: 'wav' } },
      { inlineData: { mimeType: 'audio/ogg', data: 'aGk=' } },
    ],
    [
      'a PDF',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
      { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
    ],
  ]
  test.each(parts)('carry %s', (_name, part, expected) => {
    expect(said([{ role: 'user', content: [part] }])).toEqual([{ role: 'user', parts: [expected] }])
  })

  const untranslatable: readonly (readonly [string, JsonObject])[] = [
    ['an answer in a grammar', { response_format: { type: 'grammar' } }],
    ['nothing at all', { messages: [{ role: 'user', content: '' }] }],
    ['a stream of several choices', { n: 2, stream: true }],
    ['sound in the answer', { modalities: ['audio'] }],
    ['a file by id', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }],
  ]
  test.each(untranslatable)('leave %s to the next provider', (_name, fields) => {
    expect(() => sent(fields)).toThrow(
      expect.objectContaining({ name: 'UpstreamFailure', failure: 'bad_request', isFinal: false }),
    )
  })
})

describe('gemini parameters', () => {
  const bare = { type: 'function', function: { name: 'bare' } }
  const strict = {
    type: 'function',
    function: {
      name: 'strict',
      strict: true,
      description: 'Now',
      parameters: { type: 'object', additionalProperties: false },
    },
  }
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } } }

  const rows: readonly (readonly [string, string, JsonObject, JsonObject])[] = [
    [
      'generation parameters',
      'gemini-2.5-flash',
      {
        max_tokens: 1,
        max_completion_tokens: 2,
        temperature: 1.9,
        top_p: 0.5,
        top_k: 3,
        stop: ['a', 'b'],
        n: 2,
        presence_penalty: 1,
        frequency_penalty: -1,
      },
      {
        generationConfig: {
          maxOutputTokens: 2,
          temperature: 1.9,
          topP: 0.5,
          topK: 3,
          stopSequences: ['a', 'b'],
          candidateCount: 2,
          presencePenalty: 1,
          frequencyPenalty: -1,
        },
      },
    ],
    [
      'at most five stops',
      'gemini-2.5-flash',
      { stop: ['1', '2', '3', '4', '5', '6'] },
      { generationConfig: { stopSequences: ['1', '2', '3', '4', '5'] } },
    ],
    ['a seed', 'gemini-2.5-flash', { seed: 7 }, { generationConfig: { seed: 7 } }],
    ['a seed of more than 32 bits', 'gemini-2.5-flash', { seed: 2 ** 32 + 5 }, { generationConfig: { seed: 5 } }],
    [
      'log probabilities',
      'gemini-2.5-flash',
      { logprobs: true, top_logprobs: 2 },
      { generationConfig: { responseLogprobs: true, logprobs: 2 } },
    ],
    [
      'log probabilities of the chosen alone',
      'gemini-2.5-flash',
      { logprobs: true },
      { generationConfig: { responseLogprobs: true } },
    ],
    [
      'json_object',
      'gemini-2.5-flash',
      { response_format: { type: 'json_object' } },
      { generationConfig: { responseMimeType: 'application/json' } },
    ],
    [
      'a schema as it is',
      'gemini-2.5-flash',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
    ],
    [
      'modalities',
      'gemini-2.5-flash-image',
      { modalities: ['text', 'image'] },
      { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
    ],
    [
      'high effort of 2.5',
      'gemini-2.5-flash',
      { reasoning_effort: 'high' },
      { generationConfig: { thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true } } },
    ],
    [
      'no effort of 2.5',
      'gemini-2.5-flash',
      { reasoning_effort: 'none' },
      { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    ],
    [
      'no effort of 2.5 Pro',
      'gemini-2.5-pro',
      { enable_thinking: false },
      { generationConfig: { thinkingConfig: { thinkingBudget: 128 } } },
    ],
    [
      'medium effort of 3 Flash',
      'models/gemini-3-flash',
      { enable_thinking: true },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM', includeThoughts: true } } },
    ],
    [
      'medium effort of 3 Pro',
      'gemini-3-pro-preview',
      { reasoning_effort: 'medium' },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } } },
    ],
    [
      'minimal effort of 3.1 Pro',
      'gemini-3.1-pro',
      { reasoning_effort: 'minimal' },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } } },
    ],
    [
      'no effort of the newest',
      'gemini-flash-latest',
      { reasoning_effort: 'none' },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL' } } },
    ],
    [
      'tools',
      'gemini-2.5-flash',
      { tools: [strict, bare, { googleSearch: {} }] },
      {
        tools: [
          {
            functionDeclarations: [
              {
                name: 'strict',
                description: 'Now',
                parametersJsonSchema: { type: 'object', additionalProperties: false },
              },
              { name: 'bare' },
            ],
          },
          { googleSearch: {} },
        ],
        toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
      },
    ],
    [
      'only the allowed tools',
      'gemini-2.5-flash',
      { tools: [bare, strict], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [bare] } } },
      {
        tools: [{ functionDeclarations: [{ name: 'bare' }] }],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      },
    ],
    [
      'its own fields',
      'gemini-2.5-flash',
      {
        safetySettings: [{ category: 'x' }],
        cached_content: 'cachedContents/1',
        toolConfig: { retrievalConfig: {} },
        systemInstruction: { parts: [{ text: 'Hi.' }] },
        temperature: 1,
        generationConfig: { temperature: 0, mediaResolution: 'LOW' },
      },
      {
        safetySettings: [{ category: 'x' }],
        cached_content: 'cachedContents/1',
        toolConfig: { retrievalConfig: {} },
        systemInstruction: { parts: [{ text: 'Hi.' }] },
        generationConfig: { temperature: 0, mediaResolution: 'LOW' },
      },
    ],
  ]
  test.each(rows)('carry %s', (_name, model, fields, expected) => {
    expect(sent(fields, model)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...expected })
  })

  const choices: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['auto', { tools: [bare], tool_choice: 'auto' }, { mode: 'AUTO' }],
    ['none', { tools: [strict], tool_choice: 'none' }, { mode: 'NONE' }],
    ['required', { tools: [strict], tool_choice: 'required' }, { mode: 'ANY' }],
    [
      'of a function',
      { tools: [bare], tool_choice: { type: 'function', function: { name: 'bare' } } },
      { mode: 'ANY', allowedFunctionNames: ['bare'] },
    ],
  ]
  test.each(choices)('carry tool_choice %s', (_name, fields, functionCallingConfig) => {
    expect(sent(fields)['toolConfig']).toEqual({ functionCallingConfig })
  })

  test('are left out without a counterpart', () => {
    const fields = {
      stream: true,
      user: 'u',
      store: true,
      logit_bias: {},
      parallel_tool_calls: false,
      metadata: {},
      tool_choice: 'auto',
      unheard_of: 1,
      logprobs: false,
    }
    expect(sent(fields)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
    expect(sent({ reasoning_effort: 'high' }, 'gemma-3-27b-it')).not.toHaveProperty('generationConfig')
    expect(sent({ reasoning_effort: 'high' }, 'gemini-2.5-flash-image')).not.toHaveProperty('generationConfig')
  })

  test('apply overrides last, field by field in generationConfig, and never have dropped fields', () => {
    const owned = endpointAt('https://x', {
      overrides: { safetySettings: [], generationConfig: { temperature: 0 } },
      profile: { drop: ['presence_penalty'] },
    })
    expect(
      encoded(
        gemini,
        { temperature: 1, max_tokens: 3, presence_penalty: 1, safetySettings: [{ category: 'x' }] },
        'gemini-2.5-flash',
        owned,
      ),
    ).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      safetySettings: [],
      generationConfig: { temperature: 0, maxOutputTokens: 3 },
    })
  })
})
