import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { targetWith } from '../../profiles/testing.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { writeChatRequest } from '../chat/write-request.ts'
import { encodeJson } from '../exact-json.ts'
import { writeGeminiRequest } from '../gemini/write-request.ts'
import { openConversation } from '../opaque-seal.ts'
import { readMessagesRequest } from './read-conversation.ts'
import { writeMessagesRequest } from './write-request.ts'

const user = { role: 'user', content: 'Hi' }

function read(fields: JsonObject) {
  return readMessagesRequest(encodeJson({ model: 'm', max_tokens: 5, messages: [user], ...fields }), [])
}

/** The request as chat completions. */
function asChat(fields: JsonObject): unknown {
  return JSON.parse(JSON.stringify(writeChatRequest(read(fields), { model: 'm', isStream: false })))
}

const chat = { model: 'm', messages: [user], max_completion_tokens: 5 }
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
const called = { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }
const chatCall = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }

describe('a request for a provider of chat completions', () => {
  test.each<readonly [JsonObject, JsonObject]>([
    [{}, {}],
    [{ system: 'Be brief.' }, { messages: [{ role: 'system', content: 'Be brief.' }, user] }],
    [
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
          { type: 'text', text: 'One', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Two' },
        ],
      },
      { messages: [{ role: 'system', content: 'One\nTwo' }, user] },
    ],
    [
      { messages: [user, { role: 'system', content: 'Now brief.' }, user] },
      { messages: [user, { role: 'system', content: 'Now brief.' }, user] },
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: '' }, picture] }] },
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] },
        ],
      },
    ],
    [
      {
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }, called] },
        ],
      },
      {
        messages: [user, { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [chatCall] }],
      },
    ],
    [
      {
        messages: [
          { role: 'assistant', content: [called] },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'And?' },
              {
                type: 'tool_result',
                tool_use_id: 'a',
                is_error: true,
                content: [{ type: 'text', text: 'No' }, picture],
              },
            ],
          },
        ],
      },
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [chatCall] },
          { role: 'tool', tool_call_id: 'a', content: 'The tool failed:\nNo' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Files of the result of a:' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            ],
          },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    [
      {
        messages: [
          { role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }, { type: 'web_search_tool_result' }] },
          user,
        ],
      },
      {},
    ],
    [
      {
        tools: [
          {
            name: 'f',
            description: 'd',
            input_schema: { type: 'object', required: null },
            cache_control: { type: 'x' },
          },
          { type: 'web_search_20250305', name: 'web_search' },
        ],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
      {
        tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
        tool_choice: 'required',
        parallel_tool_calls: false,
      },
    ],
    [
      {
        thinking: { type: 'adaptive' },
        output_config: { effort: 'high', format: { type: 'json_schema', schema: {} } },
      },
      {
        reasoning_effort: 'high',
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: {} } },
      },
    ],
    [{ thinking: { type: 'enabled', budget_tokens: 5_000 } }, { reasoning_effort: 'medium' }],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, { reasoning_effort: 'none' }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, {}],
    [
      { temperature: 0.5, top_p: 0.9, top_k: 4, stop_sequences: ['x', ' '], metadata: { user_id: 'u' } },
      { temperature: 0.5, top_p: 0.9, stop: ['x'] },
    ],
    [{ service_tier: 'auto', context_management: { edits: [] }, cache_control: { type: 'ephemeral' } }, {}],
  ])('%j', (fields, expected) => {
    expect(asChat(fields)).toEqual({ ...chat, ...expected })
  })

  test.each<readonly [string, JsonObject]>([
    ['container', { container: 'c' }],
    ['mcp_servers', { mcp_servers: [] }],
    ['max_tokens', { max_tokens: 0 }],
    ['bash_20250124', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    [
      'choice of a tool',
      {
        tools: [
          { type: 'web_search_20250305', name: 'w' },
          { name: 'f', input_schema: {} },
        ],
        tool_choice: { type: 'tool', name: 'w' },
      },
    ],
    ['no tool but', { tools: [{ type: 'web_search_20250305', name: 'w' }] }],
    ['container_upload', { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] }],
    ['its id', { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] }],
  ])('is not written with what would be lost: %s', (named, fields) => {
    expect(() => read(fields)).toThrow(UpstreamFailure)
    expect(() => read(fields)).toThrow(named)
  })

  test('has documents and results of searches as files and text', () => {
    const blocks = [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Long' },
        title: 'b',
        context: 'New',
      },
      { type: 'search_result', source: 'https://x', title: 't', content: [{ type: 'text', text: 'found' }] },
    ]
    expect(asChat({ messages: [{ role: 'user', content: blocks }] })).toMatchObject({
      messages: [
        {
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
            { type: 'text', text: 'New' },
            { type: 'text', text: 'b\n\nLong' },
            { type: 'text', text: 't (https://x)\n\nfound' },
          ],
        },
      ],
    })
  })
})

describe('a request for other providers', () => {
  test('has system messages of later turns in their place at Gemini, and failures as such', () => {
    const messages = [
      user,
      { role: 'assistant', content: [called] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'No', is_error: true }] },
      { role: 'system', content: 'Now brief.' },
    ]
    const target = { model: 'g', isStream: false, ...targetWith() }
    expect(writeGeminiRequest(read({ system: 'Be kind.', messages }), target)).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      contents: [
        { role: 'user' },
        { role: 'model' },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { error: 'No' } } },
            { text: '<system>\nNow brief.\n</system>' },
          ],
        },
      ],
    })
  })

  test('has data that only Anthropic can read at Anthropic alone', () => {
    const thinking = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sealed' },
      { type: 'redacted_thinking', data: 'hidden' },
    ]
    const conversation = read({ messages: [user, { role: 'assistant', content: [...thinking, called] }] })
    const target = { model: 'claude-opus-4-5', isStream: false, ...targetWith() }
    expect(writeMessagesRequest(conversation, target)['messages']).toMatchObject([
      {},
      { content: [...thinking, called] },
    ])
    const elsewhere = openConversation(conversation, { seal: undefined, keepsOpaque: false })
    for (const write of [writeGeminiRequest, writeChatRequest, writeMessagesRequest])
      expect(JSON.stringify(write(elsewhere, target))).not.toMatch(/sealed|hidden/)
  })
})
