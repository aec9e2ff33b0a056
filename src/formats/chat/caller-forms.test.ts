import { describe, expect, test } from 'bun:test'
import { jsonOf } from '../../protocols/fixtures/load.ts'
import type { AnswerEvent } from '../answer.ts'
import { WireError } from '../error.ts'
import { chat } from './format.ts'
import type { ChatRequest } from './request.ts'

const messages = [{ role: 'user', content: 'hi' }]
const bytesOf = (body: object) => new TextEncoder().encode(JSON.stringify({ model: 'm', ...body }))
const checked = (body: object) => chat.check(bytesOf(body), envelope)
const envelope = { path: chat.path, headers: new Headers(), parameter: () => null }
const parameters = { type: 'object', properties: { a: { type: 'string' } } }
const grammar = { syntax: 'lark', definition: 'start: "a"' }

describe('a chat request with tools as Responses has them', () => {
  test('gets them as this format has them', () => {
    const nested = { type: 'function', function: { name: 'g' } }
    const request = checked({
      messages,
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters, strict: true },
        nested,
        { type: 'custom', name: 'ApplyPatch', description: 'd', format: { type: 'grammar', ...grammar } },
        { type: 'web_search', name: 'w' },
      ],
    })
    expect(jsonOf(request.body)['tools']).toEqual([
      { type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } },
      nested,
      { type: 'custom', custom: { name: 'ApplyPatch', description: 'd', format: { type: 'grammar', grammar } } },
      { type: 'web_search', name: 'w' },
    ])
  })

  test('gets tools of Messages, and parts of Responses, as this format has them', () => {
    const url = 'https://example.com/a.png'
    const content = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: url, detail: 'low' },
    ]
    const request = checked({
      messages: [
        { role: 'user', content },
        { role: 'assistant', content: [{ type: 'output_text', text: 'It' }] },
      ],
      tools: [
        { name: 'f', input_schema: parameters },
        { type: 'custom', name: 'g', input_schema: parameters },
      ],
    })
    expect(jsonOf(request.body)).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url, detail: 'low' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'It' }] },
      ],
      tools: ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters } })),
    })
  })

  test.each([
    [
      { type: 'function', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      { type: 'custom', name: 'f' },
      { type: 'custom', custom: { name: 'f' } },
    ],
    [{ type: 'any' }, 'required'],
    [{ type: 'auto' }, 'auto'],
    ['any', 'required'],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    ],
  ])('and the choice %j', (given, nested) => {
    expect(jsonOf(checked({ messages, tool_choice: given }).body)['tool_choice']).toEqual(nested)
  })

  test('keeps its bytes where its tools are nested, or none', () => {
    for (const body of [
      { messages },
      { messages, tools: null, tool_choice: null },
      { messages, tools: [{ type: 'function', function: { name: 'f' } }, 1], tool_choice: 'required' },
      { messages, tools: [{ type: 'web_search', name: 'w' }], tool_choice: { type: 'custom', custom: { name: 'f' } } },
    ]) {
      const bytes = bytesOf(body)
      expect(chat.check(bytes, envelope).body).toBe(bytes)
    }
  })
})

describe('a request of Responses at the path of chat completions', () => {
  test('becomes a chat request, with custom tools and their calls', () => {
    const request = checked({
      stream: true,
      instructions: 'Be brief.',
      user: 'u1',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'opaque' },
        { type: 'custom_tool_call', call_id: 'c1', name: 'ApplyPatch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"a":"b"}' },
        { type: 'function_call_output', call_id: 'c2', output: 'ok' },
      ],
      tools: [
        { type: 'function', name: 'f', parameters },
        { type: 'custom', name: 'ApplyPatch', format: { type: 'grammar', ...grammar } },
      ],
      tool_choice: { type: 'custom', name: 'ApplyPatch' },
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low' },
      max_output_tokens: 9,
    })
    expect(request).toMatchObject({ format: 'chat', stream: true, model: 'm', includeUsage: true })
    expect(jsonOf(request.body)).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      user: 'u1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'ApplyPatch', input: '*** Begin' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } }],
        },
        { role: 'tool', tool_call_id: 'c2', content: 'ok' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', parameters } },
        { type: 'custom', custom: { name: 'ApplyPatch', format: { type: 'grammar', grammar } } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'ApplyPatch' } },
      reasoning_effort: 'high',
      verbosity: 'low',
      max_completion_tokens: 9,
    })
  })

  test.each([
    [{ input: 1 }, 'input'],
    [{ input: 'x', previous_response_id: 'r' }, 'previous_response_id'],
    [{ input: 'x', tools: [{ type: 'mcp', server_label: 's' }] }, 'tools[0].type'],
    [{}, 'messages'],
  ])('that cannot become one is refused: %j', (body, param) => {
    expect(faultOf(body)).toMatchObject({ status: 400, param })
  })
})

describe('calls of custom tools in translated answers', () => {
  const custom = { type: 'custom', custom: { name: 'ApplyPatch' } }
  const request = checked({ messages, tools: [custom, { type: 'function', function: { name: 'f' } }] })
  const events: readonly AnswerEvent[] = [
    { kind: 'start', id: 'i', model: 'm', created: 1 },
    { kind: 'call', choice: 0, call: 0, id: 'c1', name: 'ApplyPatch', opaque: undefined },
    { kind: 'arguments', choice: 0, call: 0, text: '{"input":"a' },
    { kind: 'arguments', choice: 0, call: 0, text: '\\nb"}' },
    { kind: 'callEnd', choice: 0, call: 0 },
    { kind: 'call', choice: 0, call: 1, id: 'c2', name: 'f', opaque: undefined },
    { kind: 'arguments', choice: 0, call: 1, text: '{}' },
    { kind: 'callEnd', choice: 0, call: 1 },
    { kind: 'finish', choice: 0, reason: 'tool_calls', raw: 'tool_use' },
  ]

  test('are given back whole', () => {
    const { choices } = jsonOf(chat.talk.writeWhole(events, request).body)
    expect(choices).toMatchObject([
      {
        message: {
          tool_calls: [
            { id: 'c1', type: 'custom', custom: { name: 'ApplyPatch', input: 'a\nb' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
      },
    ])
  })

  test('are given back in pieces', () => {
    const writer = chat.talk.writer({ ...request, stream: true } as ChatRequest)
    const written = events.flatMap((event) => writer.write([event]))
    const calls = written.map(({ data }) => /"tool_calls":\[(.*?)\]/.exec(new TextDecoder().decode(data))?.[1])
    expect(calls.filter((call) => call !== undefined).map((call) => JSON.parse(call))).toEqual([
      { index: 0, id: 'c1', type: 'custom', custom: { name: 'ApplyPatch', input: '' } },
      { index: 0, custom: { input: 'a' } },
      { index: 0, custom: { input: '\nb' } },
      { index: 1, id: 'c2', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ])
  })
})

function faultOf(body: object): unknown {
  try {
    return checked(body)
  } catch (error) {
    return error instanceof WireError ? error : undefined
  }
}
