import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { targetWith } from '../../profiles/testing.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { writeChatRequest } from '../chat/write-request.ts'
import { parseJsonBytes } from '../exact-json.ts'
import { writeGeminiRequest } from '../gemini/write-request.ts'
import { writeMessagesRequest } from '../messages/write-request.ts'
import { readResponsesRequest } from './read-conversation.ts'
import { checked } from './testing.ts'

const target = { model: 'up', isStream: false, ...targetWith() }
const user = { role: 'user', content: 'hi' }
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }

function read(fields: JsonObject, drop: readonly string[] = []) {
  return readResponsesRequest(checked(fields), drop)
}

/** The request for a provider of chat completions, as it is sent. */
function chat(fields: JsonObject): unknown {
  return parseJsonBytes(new TextEncoder().encode(JSON.stringify(writeChatRequest(read(fields), target))))
}

describe('a request for a response', () => {
  test('becomes chat completions', () => {
    expect(
      chat({
        instructions: 'Be brief.',
        input: [
          { role: 'developer', content: 'Then.' },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_image', image_url: 'https://x.test/i.png', detail: 'low' },
            ],
          },
          { type: 'reasoning', summary: [], content: null, encrypted_content: 'of another house' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b', annotations: [] }] },
          { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":"1"}' },
          { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"a":"2"}' },
          { type: 'function_call_output', call_id: 'c1', output: 'one' },
          { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
        ],
        max_output_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        reasoning: { effort: 'high', summary: 'auto' },
        text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
        tools: [{ type: 'function', name: 'f', description: 'd', parameters: schema }],
        tool_choice: 'required',
        parallel_tool_calls: false,
        metadata: { a: 'b' },
      }),
    ).toEqual({
      model: 'up',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Then.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'https://x.test/i.png', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: 'b',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"1"}' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":"2"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
      ],
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
  })

  test('reaches Messages and Gemini with the same turns', () => {
    const fields = {
      instructions: 'Be brief.',
      input: [
        user,
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ],
      max_output_tokens: 9,
    }
    expect(writeMessagesRequest(read(fields), target)).toMatchObject({
      system: 'Be brief.',
      max_tokens: 9,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] },
      ],
    })
    expect(writeGeminiRequest(read(fields), target)).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user' },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'ok' } } }] },
      ],
    })
  })

  test('writes out whether a function is strict: by its schema where the field is absent', () => {
    const loose = { type: 'object', properties: { a: { type: 'string' } } }
    const nested = { ...schema, properties: { a: { type: 'array', items: loose } } }
    const tools = [
      { type: 'function', name: 'fits', parameters: schema },
      { type: 'function', name: 'not', parameters: schema, strict: false },
      { type: 'function', name: 'loose', parameters: loose },
      { type: 'function', name: 'nested', parameters: nested },
      { type: 'function', name: 'asked', parameters: loose, strict: true },
    ]
    expect(read({ tools }).tools.functions.map(({ name, isStrict }) => [name, isStrict])).toEqual([
      ['fits', true],
      ['not', false],
      ['loose', false],
      ['nested', false],
      ['asked', true],
    ])
  })

  test('has custom tools as functions of one string, with the grammar in the description', () => {
    const fields = {
      tools: [
        {
          type: 'custom',
          name: 'patch',
          description: 'Edits.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
      input: [
        user,
        { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '*** "x"' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'done' },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
    }
    const { tools, turns } = read(fields)
    expect(tools.choice).toEqual({ kind: 'function', name: 'patch' })
    expect(tools.functions[0]?.description).toContain('Edits.')
    expect(tools.functions[0]?.description).toContain('lark grammar:\nstart: "x"')
    expect(tools.functions[0]?.parameters).toMatchObject({ required: ['input'] })
    expect(turns[1]).toMatchObject({
      role: 'assistant',
      parts: [{ kind: 'call', name: 'patch', input: { input: '*** "x"' } }],
    })
    expect(turns[2]).toMatchObject({ role: 'tool', callId: 'c', name: 'patch' })
  })

  test('has tools of namespaces, of items and of a search as functions', () => {
    const inner = { type: 'function', name: 'go', parameters: schema }
    const { tools, turns } = read({
      tools: [{ type: 'namespace', name: 'agents', description: 'd', tools: [inner] }, { type: 'web_search' }],
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'exec' }] },
        { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'q' } },
        { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [{ type: 'function', name: 'found' }] },
        { type: 'function_call', call_id: 'c', name: 'go', namespace: 'agents', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: '' },
        { type: 'web_search_call', id: 'w', status: 'completed' },
        user,
      ],
    })
    expect(tools.functions.map(({ name }) => name)).toEqual(['exec', 'found', 'agents__go'])
    expect(turns).toMatchObject([
      { role: 'assistant', parts: [{ kind: 'call', name: 'tool_search', input: { query: 'q' } }] },
      { role: 'tool', name: 'tool_search', parts: [{ text: 'These tools are now available: found' }] },
      { role: 'assistant', parts: [{ kind: 'call', name: 'agents__go' }] },
      { role: 'tool', name: 'agents__go' },
      { role: 'user' },
    ])
  })

  test('shortens names that are no names of functions, each in its own way', () => {
    const tool = (name: string) => ({ type: 'namespace', name, tools: [{ type: 'function', name: 'x'.repeat(60) }] })
    const names = read({ tools: [tool('mcp.one'), tool('mcp_one'), tool('mcp/one')] }).tools.functions.map(
      ({ name }) => name,
    )
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(new Set(names).size).toBe(3)
  })

  test('keeps only allowed tools', () => {
    const tools = ['a', 'b', 'c'].map((name) => ({ type: 'function', name }))
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] }
    const read_ = read({ tools, tool_choice: allowed }).tools
    expect(read_.functions.map(({ name }) => name)).toEqual(['b'])
    expect(read_.choice).toEqual({ kind: 'required' })
  })

  test('has reasoning that this service sealed, and plain reasoning, but not that of other services', () => {
    const item = (encrypted_content: string | undefined, text: string) => ({
      type: 'reasoning',
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content,
    })
    const { turns } = read({
      input: [
        item('svc1:signature', 'thought'),
        item('not of this service', 'foreign'),
        item(undefined, 'plain'),
        item('svc1:of the call', ''),
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      ],
    })
    expect(turns).toMatchObject([
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'thought', opaque: { maker: 'sealed', data: 'svc1:signature' } },
          { kind: 'reasoning', text: 'plain', opaque: undefined },
          { kind: 'reasoning', text: '', opaque: { maker: 'sealed', data: 'svc1:of the call' } },
          { kind: 'call', opaque: undefined },
        ],
      },
    ])
  })

  test('cannot be translated with content that a conversation does not carry', () => {
    const impossible: readonly JsonObject[] = [
      { input: [{ type: 'shell_call', call_id: 'c' }] },
      { input: [{ role: 'user', content: [{ type: 'not_known', x: 1 }] }] },
      { tools: [{ type: 'image_generation' }] },
      { tool_choice: { type: 'shell' } },
      { text: { format: { type: 'grammar', grammar: 'x' } } },
    ]
    for (const fields of impossible) expect(() => read(fields)).toThrow(UpstreamFailure)
  })

  test('leaves out the fields that a provider refuses', () => {
    const conversation = read({ tools: [{ type: 'function', name: 'f' }], temperature: 1 }, ['tools', 'temperature'])
    expect(conversation.tools.functions).toEqual([])
    expect(conversation.temperature).toBeUndefined()
  })
})
