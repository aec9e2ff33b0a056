import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { profileAt } from '../../profiles/resolve-profile.ts'
import { anthropic } from '../../protocols/anthropic.ts'
import { chatOf, chatRequest, endpointAt, encoded } from '../../protocols/fixtures/load.ts'
import { UpstreamFailure } from '../../service/failure.ts'

const connection = endpointAt('https://api.anthropic.com/v1')
const png = 'data:image/png;charset=x;base64,aGk='

function sent(fields: JsonObject, model = 'claude-sonnet-4-5'): JsonObject {
  const profile = profileAt({ brand: 'anthropic', protocol: 'anthropic', model })
  return encoded(anthropic, fields, model, { ...connection, profile })
}

function said(...messages: readonly JsonObject[]): unknown {
  return sent({ messages })['messages']
}

function called(id: string, name: string, args = '{}'): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } }
}

describe('anthropic messages', () => {
  test('collect system and developer messages at the top', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be kind.' },
          { type: 'text', text: '' },
        ],
      },
    ]
    expect(sent({ messages })).toMatchObject({
      system: expect.stringMatching(/^Be brief\.\nBe kind\./),
      messages: [{ role: 'user' }],
    })
  })

  test('keep system blocks if one has cache_control', () => {
    const content = [
      { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Short.' },
    ]
    expect(
      sent({
        messages: [
          { role: 'system', content },
          { role: 'user', content: 'Hi' },
        ],
      })['system'],
    ).toEqual([
      { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Short.' },
    ])
  })

  test('make a user message of a conversation of system messages only', () => {
    const request = sent({ messages: [{ role: 'system', content: 'Say hi.' }] })
    expect(request['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hi.' }] }])
    expect(request).not.toHaveProperty('system')
  })

  test('merge neighbours of one role and leave out empty texts', () => {
    expect(
      said(
        { role: 'user', content: 'One' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' ' },
            { type: 'text', text: 'Two' },
          ],
        },
        { role: 'assistant', content: null, refusal: 'No.' },
      ),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'No.' }] },
    ])
  })

  test('put a user message before a first message of the assistant', () => {
    expect(said({ role: 'assistant', content: 'Hello' }, { role: 'user', content: 'Hi' })).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: '.' }] },
      { role: 'assistant' },
      { role: 'user' },
    ])
  })

  test('put all results of parallel calls first in one user message, in their order', () => {
    expect(
      said(
        { role: 'user', content: 'Weather and time?' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [called('a', 'weather', '{"city":"Rome"}'), called('functions.time:1', 'time', '')],
        },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
        { role: 'user', content: 'Quick!' },
        { role: 'tool', tool_call_id: 'functions.time:1', content: [{ type: 'text', text: 'noon' }] },
        { role: 'tool', tool_call_id: 'a', content: 'windy' },
      ),
    ).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Weather and time?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'functions_time_1', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'sunny' },
          { type: 'tool_result', tool_use_id: 'functions_time_1', content: 'noon' },
          { type: 'text', text: 'Quick!' },
          { type: 'text', text: 'Result of a tool:\n' },
          { type: 'text', text: 'windy' },
        ],
      },
    ])
  })

  test('carry arguments exactly, and broken ones as an empty object', () => {
    const body = chatOf(anthropic).encode(
      chatRequest({
        messages: [
          { role: 'user', content: 'Go' },
          {
            role: 'assistant',
            tool_calls: [
              called('a', 'f', '{"id":9007199254740993}'),
              called('b', 'f', '{"id":'),
              called('c', 'f', '[1]'),
            ],
          },
        ],
      }),
      'claude-sonnet-4-5',
      connection,
    )
    const text = Buffer.concat([...body]).toString('utf8')
    expect(text).toContain('"input":{"id":9007199254740993}')
    expect(text.match(/"input":\{\}/g)).toHaveLength(2)
  })

  test('support the deprecated function_call and function messages', () => {
    expect(
      said(
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'done' },
      ),
    ).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
    ])
  })

  test('send back signed thinking first, and drop unsigned thinking', () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: 'Hm.', signature: 'signature-for-tests', extra: 1 },
      { type: 'redacted_thinking', data: 'redacted-for-tests' },
      { type: 'thinking', thinking: 'Unsigned.' },
      { type: 'text', text: 'no', signature: 'signature-for-tests' },
    ]
    expect(
      said(
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Yes', reasoning_content: 'Hm.', thinking_blocks },
      ),
    ).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'signature-for-tests' },
          { type: 'redacted_thinking', data: 'redacted-for-tests' },
          { type: 'text', text: 'Yes' },
        ],
      },
    ])
  })

  const parts: readonly (readonly [string, JsonObject, JsonObject])[] = [
    [
      'an image in a data: address with parameters',
      { type: 'image_url', image_url: { url: png } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ],
    [
      'an image/jpg',
      { type: 'image_url', image_url: { url: 'DATA:image/jpg;base64,aGk=' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' } },
    ],
    [
      'an image at an address',
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      'a PDF',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
    ],
    [
      'a PDF without a media type',
      { type: 'file', file: { filename: 'A.PDF', file_data: 'aGk=' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'A.PDF' },
    ],
    [
      'a PDF at an address',
      { type: 'image_url', image_url: { url: 'https://example.com/a.pdf?x' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf?x' } },
    ],
    [
      'plain text in a file',
      { type: 'file', file: { file_data: 'data:text/plain,h%C3%A9' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hé' } },
    ],
    [
      'a mark for the cache',
      { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } },
    ],
  ]
  test.each(parts)('carry %s', (_name, part, block) => {
    expect(said({ role: 'user', content: [part] })).toEqual([{ role: 'user', content: [block] }])
  })

  const untranslatable: readonly (readonly [string, JsonObject])[] = [
    [
      'sound',
      {
        messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }] }],
      },
    ],
    ['a file by id', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }],
    [
      'an image of another type',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,aGk=' } }] },
        ],
      },
    ],
    [
      'an address of another scheme',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
    ],
    [
      'a data: address that is none',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png' } }] }] },
    ],
    [
      'broken percent signs',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png,%zz' } }] }] },
    ],
    ['nothing at all', { messages: [{ role: 'user', content: '' }] }],
    ['several choices', { n: 2 }],
    ['sound in the answer', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } }],
  ]
  test.each(untranslatable)('leave %s to the next provider', (_name, fields) => {
    expect(() => sent(fields)).toThrow(
      expect.objectContaining({ name: 'UpstreamFailure', failure: 'bad_request', isFinal: false }),
    )
  })
})

describe('anthropic parameters', () => {
  const weather = {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Now',
      parameters: { properties: { city: { type: 'string' } } },
      strict: true,
    },
  }
  const bare = { type: 'function', function: { name: 'bare' } }

  const rows: readonly (readonly [string, string, JsonObject, JsonObject])[] = [
    ['a default of max_tokens by model', 'claude-sonnet-4-5', {}, { max_tokens: 64_000 }],
    ['a default of max_tokens for other houses', 'glm-5', {}, { max_tokens: 8_192 }],
    ['max_tokens', 'claude-sonnet-4-5', { max_tokens: 5 }, { max_tokens: 5 }],
    [
      'max_completion_tokens before max_tokens',
      'claude-sonnet-4-5',
      { max_tokens: 5, max_completion_tokens: 6 },
      { max_tokens: 6 },
    ],
    ['a temperature above 1 as 1', 'claude-sonnet-4-5', { temperature: 1.7 }, { temperature: 1 }],
    ['stop as a list', 'claude-sonnet-4-5', { stop: 'END' }, { stop_sequences: ['END'] }],
    ['stops that are not white space', 'claude-sonnet-4-5', { stop: ['\n', 'END', ' '] }, { stop_sequences: ['END'] }],
    ['the user', 'claude-sonnet-4-5', { user: 'u1', metadata: { team: 'a' } }, { metadata: { user_id: 'u1' } }],
    [
      'metadata.user_id',
      'claude-sonnet-4-5',
      { user: 'u1', metadata: { user_id: 'u2', team: 'a' } },
      { metadata: { user_id: 'u2' } },
    ],
    [
      'tools',
      'claude-sonnet-4-5',
      { tools: [weather, bare, { type: 'web_search_20250305', name: 'web_search' }] },
      {
        tools: [
          {
            name: 'weather',
            description: 'Now',
            input_schema: { type: 'object', properties: { city: { type: 'string' } } },
          },
          { name: 'bare', input_schema: { type: 'object', properties: {} } },
          { type: 'web_search_20250305', name: 'web_search' },
        ],
      },
    ],
    [
      'deprecated functions',
      'claude-sonnet-4-5',
      { functions: [{ name: 'bare' }], function_call: { name: 'bare' } },
      {
        tools: [{ name: 'bare', input_schema: { type: 'object', properties: {} } }],
        tool_choice: { type: 'tool', name: 'bare' },
      },
    ],
    [
      'tool_choice auto',
      'claude-sonnet-4-5',
      { tools: [bare], tool_choice: 'auto' },
      { tool_choice: { type: 'auto' } },
    ],
    [
      'tool_choice none',
      'claude-sonnet-4-5',
      { tools: [bare], tool_choice: 'none', parallel_tool_calls: false },
      { tool_choice: { type: 'none' } },
    ],
    [
      'tool_choice required',
      'claude-sonnet-4-5',
      { tools: [bare], tool_choice: 'required' },
      { tool_choice: { type: 'any' } },
    ],
    [
      'tool_choice of a function, one at a time',
      'claude-sonnet-4-5',
      { tools: [bare], tool_choice: { type: 'function', function: { name: 'bare' } }, parallel_tool_calls: false },
      { tool_choice: { type: 'tool', name: 'bare', disable_parallel_tool_use: true } },
    ],
    [
      'one call at a time',
      'claude-sonnet-4-5',
      { tools: [bare], parallel_tool_calls: false },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'only the allowed tools',
      'claude-sonnet-4-5',
      {
        tools: [weather, bare],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [bare] } },
      },
      { tools: [{ name: 'bare', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'any' } },
    ],
    [
      'effort as a budget',
      'claude-sonnet-4-5',
      { reasoning_effort: 'medium' },
      { thinking: { type: 'enabled', budget_tokens: 8_192 } },
    ],
    [
      'effort as a budget that leaves room',
      'claude-sonnet-4-5',
      { reasoning_effort: 'high', max_tokens: 4_000 },
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    ],
    [
      'effort as effort',
      'claude-opus-4.6',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    [
      'xhigh where it is known',
      'claude-opus-5',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
    ],
    ['no effort as no thinking', 'claude-opus-5', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    [
      'no effort as little where thinking cannot be switched off',
      'claude-opus-5-5',
      { reasoning_effort: 'none' },
      { output_config: { effort: 'low' } },
    ],
    [
      'enable_thinking',
      'claude-opus-5',
      { enable_thinking: true },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
    ],
    [
      'effort beside a forced tool',
      'claude-opus-5',
      { reasoning_effort: 'high', tools: [bare], tool_choice: 'required' },
      { output_config: { effort: 'high' } },
    ],
    [
      'a schema',
      'claude-sonnet-4-5',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    [
      'a schema in words to models that know none',
      'claude-3-5-haiku',
      { response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } } },
      { system: 'Answer with JSON that matches this JSON Schema, and nothing else: {"type":"object"}' },
    ],
    [
      'json_object in words',
      'claude-opus-5',
      {
        response_format: { type: 'json_object' },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
      { system: 'Be brief.\nAnswer with one JSON object and nothing else.' },
    ],
    [
      'its own fields',
      'claude-sonnet-4-5',
      {
        thinking: { type: 'enabled', budget_tokens: 2048 },
        reasoning_effort: 'low',
        top_k: 5,
        mcp_servers: [],
        container: 'c',
        service_tier: 'standard_only',
        system: 'Hi.',
      },
      {
        thinking: { type: 'enabled', budget_tokens: 2048 },
        mcp_servers: [],
        container: 'c',
        service_tier: 'standard_only',
        system: 'Hi.',
      },
    ],
    ['top_k', 'claude-sonnet-4-5', { top_k: 5 }, { top_k: 5 }],
    ['top_p', 'claude-sonnet-4-5', { top_p: 0.5 }, { top_p: 0.5 }],
    ['stream', 'claude-sonnet-4-5', { stream: true, stream_options: { include_usage: true } }, { stream: true }],
  ]
  test.each(rows)('carry %s', (_name, model, fields, expected) => {
    expect(sent(fields, model)).toMatchObject(expected)
  })

  const absent: readonly (readonly [string, string, JsonObject, string])[] = [
    ['top_p beside a temperature', 'claude-sonnet-4-5', { top_p: 0.5, temperature: 0 }, 'top_p'],
    ['a temperature for models that refuse it', 'claude-opus-4-8', { temperature: 0 }, 'temperature'],
    ['a temperature beside thinking', 'claude-sonnet-4-5', { temperature: 0, reasoning_effort: 'low' }, 'temperature'],
    ['thinking without room for it', 'claude-sonnet-4-5', { reasoning_effort: 'high', max_tokens: 2_000 }, 'thinking'],
    ['thinking for models that do not think', 'claude-3-5-sonnet', { reasoning_effort: 'high' }, 'thinking'],
    [
      'thinking beside a forced tool',
      'claude-sonnet-4-5',
      { reasoning_effort: 'high', tools: [bare], tool_choice: 'required' },
      'thinking',
    ],
    ['a choice without tools', 'claude-sonnet-4-5', { tool_choice: 'auto', parallel_tool_calls: false }, 'tool_choice'],
    ['stops that are all white space', 'claude-sonnet-4-5', { stop: [' '] }, 'stop_sequences'],
    ['metadata of the other format', 'claude-sonnet-4-5', { metadata: { team: 'a' } }, 'metadata'],
    ['service tiers of the other format', 'claude-sonnet-4-5', { service_tier: 'flex' }, 'service_tier'],
    ...[
      'n',
      'seed',
      'logprobs',
      'presence_penalty',
      'logit_bias',
      'prediction',
      'store',
      'unheard_of',
      'stream_options',
    ].map(
      (name) =>
        [
          name,
          'claude-sonnet-4-5',
          {
            n: 1,
            seed: 1,
            logprobs: true,
            presence_penalty: 1,
            logit_bias: {},
            prediction: {},
            store: true,
            unheard_of: 1,
          },
          name,
        ] as const,
    ),
  ]
  test.each(absent)('leave out %s', (_name, model, fields, field) => {
    expect(sent(fields, model)).not.toHaveProperty(field)
  })

  test('do not ask for thinking during tool use that began without it', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', tool_calls: [called('a', 'bare')] },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
    ]
    expect(sent({ messages, tools: [bare], reasoning_effort: 'low' })).not.toHaveProperty('thinking')
    expect(sent({ messages, tools: [bare], reasoning_effort: 'low' }, 'claude-opus-5')).toHaveProperty('thinking')
  })

  test('apply overrides last, and never have dropped fields', () => {
    const owned = endpointAt('https://api.anthropic.com', {
      overrides: { max_tokens: 7, speed: 'fast' },
      profile: { drop: ['temperature', 'top_k'] },
    })
    const body = encoded(anthropic, { max_tokens: 5, temperature: 0.1, top_k: 3 }, 'claude-sonnet-4-5', owned)
    expect(body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 7,
      speed: 'fast',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  test('reject values that are nested too deeply', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const body = new TextEncoder().encode(
      `{"model":"m","messages":[{"role":"user","content":"Hi"}],"thinking":{"a":${deep}}}`,
    )
    const request = { ...chatRequest(), body }
    expect(() => chatOf(anthropic).encode(request, 'claude-sonnet-4-5', connection)).toThrow(UpstreamFailure)
  })
})
