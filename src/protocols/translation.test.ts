import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../base/json-value.ts'
import type { FormatName } from '../formats/ask.ts'
import { chat } from '../formats/chat/format.ts'
import { parseChatRequest, type ChatRequest } from '../formats/chat/request.ts'
import { chatUpstream } from '../formats/chat/upstream.ts'
import { WireError } from '../formats/error.ts'
import { objectsOf } from '../formats/exact-json.ts'
import { formats } from '../formats/format-list.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { anthropic } from './anthropic.ts'
import { chatOf, chatRequest, endpointAt, jsonOf } from './fixtures/load.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Protocol } from './protocol.ts'
import { translation } from './translation.ts'

const anyone = endpointAt('https://upstream.test/v1')

const encoder = new TextEncoder()
const endpoint = endpointAt('https://api.example.com/v1')
const anthropicModels = ['claude-sonnet-4-5', 'claude-opus-5-5', 'claude-3-5-haiku', 'glm-5']
const geminiModels = ['gemini-2.5-pro', 'gemini-3-pro', 'gemini-flash-latest', 'gemma-3']

const anything = fc.jsonValue({ maxDepth: 2 })
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' ', '{"a":12345678901234567890}', '[1]', '\ud800'),
)
const url = fc.oneof(
  text,
  fc.constantFrom(
    'data:image/png;base64,aGk=',
    'data:application/pdf;base64,aGk=',
    'data:text/plain,%zz',
    'https://e.com/a.png',
  ),
)
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url }) }),
  fc.record({
    type: fc.constantFrom('input_audio', 'file', 'refusal', 'text'),
    text,
    input_audio: anything,
    file: anything,
    refusal: anything,
  }),
)
const called = fc.record({
  id: text,
  type: fc.constant('function'),
  function: fc.record({ name: text, arguments: text }),
})
const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool', 'function'),
    content: fc.oneof({ weight: 3, arbitrary: text }, fc.array(part, { maxLength: 3 }), fc.constant(null)),
    tool_calls: fc.oneof(fc.array(called, { maxLength: 3 }), anything),
    tool_call_id: text,
    name: text,
    function_call: anything,
    thinking_blocks: fc.oneof(anything, fc.constant([{ type: 'thinking', thinking: 'a', signature: 'b' }])),
    refusal: anything,
  },
  { requiredKeys: ['role', 'content'] },
)
const request = fc.record(
  {
    model: fc.constant('m'),
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    max_tokens: fc.integer(),
    max_completion_tokens: fc.integer(),
    seed: fc.maxSafeInteger(),
    stop: fc.oneof(text, fc.array(text, { maxLength: 6 })),
    n: anything,
    stream: fc.boolean(),
    logprobs: fc.boolean(),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', null),
    enable_thinking: fc.boolean(),
    tools: fc.oneof(
      anything,
      fc.array(
        fc.record({
          type: fc.constant('function'),
          function: fc.record({ name: text, parameters: anything, strict: anything }),
        }),
      ),
    ),
    functions: anything,
    tool_choice: fc.oneof(
      anything,
      fc.constantFrom('auto', 'none', 'required'),
      fc.record({ type: fc.constant('allowed_tools'), allowed_tools: anything }),
    ),
    parallel_tool_calls: anything,
    response_format: fc.oneof(
      anything,
      fc.record({ type: fc.constantFrom('json_schema', 'json_object'), json_schema: anything }),
    ),
    modalities: anything,
    metadata: anything,
    thinking: anything,
    system: anything,
    generationConfig: anything,
    toolConfig: anything,
    systemInstruction: anything,
  },
  { requiredKeys: ['model', 'messages'] },
)

/** The checked request; undefined for an invalid one. */
function admitted(fields: JsonObject): ChatRequest | undefined {
  try {
    return parseChatRequest(encoder.encode(JSON.stringify(fields)))
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

/** The body that the protocol sends; undefined for a request that it cannot express. */
function sent(protocol: Protocol, fields: JsonObject, model: string): JsonObject | undefined {
  const chat = admitted(fields)
  if (chat === undefined) return undefined
  try {
    return jsonOf(Buffer.concat([...chatOf(protocol).encode(chat, model, endpoint)]))
  } catch (error) {
    expect(error).toBeInstanceOf(UpstreamFailure)
    return undefined
  }
}

/** Whether the roles alternate and no turn is empty. */
function isWellFormed(turns: readonly JsonObject[], pieces: string): boolean {
  return (
    turns.length > 0 &&
    turns.every(
      (turn, index) =>
        turn['role'] !== turns[index - 1]?.['role'] &&
        Array.isArray(turn[pieces]) &&
        objectsOf(turn[pieces]).length > 0,
    )
  )
}

describe('any request that the gateway accepts', () => {
  test("goes to Anthropic as alternating messages, the user's first, results first, without blank text", () => {
    let count = 0
    fc.assert(
      fc.property(request, fc.constantFrom(...anthropicModels), (fields, model) => {
        const body = sent(anthropic, fields, model)
        if (body === undefined) return
        count++
        const messages = objectsOf(body['messages'])
        expect(isWellFormed(messages, 'content')).toBe(true)
        expect(messages[0]?.['role']).toBe('user')
        expect(body['max_tokens']).toBeNumber()
        for (const { content } of messages) {
          const kinds = objectsOf(content).map((block) => block['type'] === 'tool_result')
          expect(kinds.lastIndexOf(true) < (kinds.includes(false) ? kinds.indexOf(false) : kinds.length)).toBe(true)
          expect(
            objectsOf(content).every((block) => block['type'] !== 'text' || String(block['text']).trim() !== ''),
          ).toBe(true)
        }
      }),
      { numRuns: 150 },
    )
    expect(count).toBeGreaterThan(8)
  })

  test('goes to Gemini as contents of alternating roles', () => {
    let count = 0
    fc.assert(
      fc.property(request, fc.constantFrom(...geminiModels), (fields, model) => {
        const body = sent(gemini, fields, model)
        if (body === undefined) return
        count++
        expect(isWellFormed(objectsOf(body['contents']), 'parts')).toBe(true)
      }),
      { numRuns: 150 },
    )
    expect(count).toBeGreaterThan(8)
  })
})

const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.constantFrom('a', 'b 🌅', ''),
    reasoning_content: fc.constantFrom('r', 's'),
    tool_calls: fc.uniqueArray(
      fc.record(
        {
          index: fc.nat(1),
          id: fc.constant('call'),
          function: fc.record({ name: fc.constant('f'), arguments: fc.constantFrom('x', '') }),
          dialect: fc.nat(3),
        },
        { requiredKeys: ['index', 'id', 'function'] },
      ),
      { maxLength: 2, selector: ({ index }) => index },
    ),
    dialect: fc.nat(3),
  },
  { requiredKeys: [] },
)
const head = { id: 'c1', created: 1, model: 'm' }
const chunk = fc.record(
  {
    id: fc.constant(head.id),
    created: fc.constant(head.created),
    model: fc.constant(head.model),
    choices: fc.uniqueArray(fc.record({ index: fc.nat(1), delta }), { maxLength: 2, selector: ({ index }) => index }),
    dialect: fc.nat(3),
  },
  { requiredKeys: ['id', 'created', 'model', 'choices'] },
)

describe('chat completions of callers to a provider of chat completions, translated', () => {
  const translatedChat = { ...openai, dialects: { chat: translation(chat.talk, chatUpstream('chat'), () => '/') } }

  const opening = { index: 0, delta: { role: 'assistant', content: '' } }

  function answerOf(protocol: Protocol, chunks: readonly JsonObject[]): JsonObject {
    const asked = chatRequest({ stream: true, n: 2 })
    const decoder = chatOf(protocol).stream(asked, anyone)
    const gatherer = chat.stream.gatherer(asked)
    for (const each of [{ ...head, choices: [opening] }, ...chunks]) {
      const parts = decoder.decode({ event: '', data: encoder.encode(JSON.stringify(each)) })
      if (parts !== 'done') parts.forEach(gatherer.add)
    }
    decoder.finish().forEach(gatherer.add)
    const text = Buffer.from(gatherer.finish())
      .toString()
      .replaceAll(/call_[0-9a-f]{32}/g, 'call_made_up')
    return jsonOf(Buffer.from(text.replaceAll('"content":null', '"content":""')))
  }

  test('give the same answer as bytes that pass through', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 5 }), (chunks) => {
        expect(answerOf(translatedChat, chunks)).toEqual(answerOf(openai, chunks))
      }),
      { numRuns: 150 },
    )
  })
})

describe('a request of very many values', () => {
  const text = { type: 'text', text: 'a' }
  const many = (value: unknown) => Array.from({ length: 40_000 }, () => value)
  const requests: readonly (readonly [FormatName, JsonObject])[] = [
    ['chat', { messages: [{ role: 'user', content: many(text) }] }],
    ['chat', { messages: [{ role: 'assistant', tool_calls: many({ id: 'a', function: { name: 'f' } }) }] }],
    ['messages', { max_tokens: 5, messages: many({ role: 'user', content: 'a' }) }],
    ['responses', { input: many({ role: 'user', content: 'a' }) }],
    ['chat', { messages: [{ role: 'user', content: 'a' }], stop: many('a"{,'), x: many(1), y: many(1) }],
  ]

  test.each(requests)('of %s is not translated, since that would block the service', async (name, fields) => {
    const format = formats[name]
    const envelope = { path: format.path, parameter: () => null, headers: new Headers() }
    const ask = format.check(encoder.encode(JSON.stringify({ model: 'm', ...fields })), envelope)
    for (const { dialects } of [anthropic, gemini, openai]) {
      const dialect = dialects[name]
      if (dialect?.isNative === true) expect(dialect.encode(ask, 'm', endpoint).length).toBeGreaterThan(0)
      else expect(() => dialect?.encode(ask, 'm', endpoint)).toThrow('A request of more than 100,000 values')
    }
  })
})

describe('the name of a function', () => {
  const callers: readonly (readonly [FormatName, string, (name: string) => JsonObject])[] = [
    [
      'gemini',
      '/v1beta/models/m:generateContent',
      (name) => ({
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ functionCall: { id: 'a', name, args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'a', name, response: {} } }] },
        ],
        tools: [{ functionDeclarations: [{ name }, { name: 'plain' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
      }),
    ],
    [
      'messages',
      '/v1/messages',
      (name) => ({
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name, input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
        ],
        tools: [{ name, input_schema: {} }],
        tool_choice: { type: 'tool', name },
      }),
    ],
  ]
  const names = ['fs.read:all', 'a'.repeat(65), `mcp__${'x'.repeat(70)}__get.it`, '7-up.now']
  const cases = callers.flatMap(([format, path, fields]) =>
    names.map((name) => [format, name, path, fields(name)] as const),
  )

  test.each(cases)(
    'of callers of %s, %s, is one that chat completions allow, and comes back',
    (format, name, ...rest) => {
      const [path, fields] = rest
      const envelope = { path, parameter: () => null, headers: new Headers() }
      const ask = formats[format].check(encoder.encode(JSON.stringify({ model: 'm', ...fields })), envelope)
      const dialect = openai.dialects[format]
      const notes = {}
      const sent = jsonOf(Buffer.concat([...(dialect?.encode(ask, 'm', endpoint, notes) ?? [])]))
      const [declared] = objectsOf(sent['tools'])
      const changed = String(Object(declared?.['function']).name)
      expect(changed).toMatch(/^[a-zA-Z_][\w-]{0,63}$/)
      expect(JSON.stringify(sent)).not.toContain(JSON.stringify(name))
      expect(JSON.stringify(sent).split(JSON.stringify(changed)).length - 1).toBe(3)
      const call = { id: 'c', type: 'function', function: { name: changed, arguments: '{}' } }
      const message = { role: 'assistant', content: null, tool_calls: [call] }
      const answer = {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      }
      const reply = dialect?.decode(encoder.encode(JSON.stringify(answer)), ask, notes)
      expect(Buffer.from(reply?.body ?? []).toString()).toContain(JSON.stringify(name))
      const decoder = dialect?.stream?.(ask, endpoint, notes)
      const delta = { role: 'assistant', tool_calls: [{ index: 0, ...call }] }
      const chunk = { ...head, choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }
      const parts = decoder?.decode({ event: '', data: encoder.encode(JSON.stringify(chunk)) }) ?? []
      const all = [...(parts === 'done' ? [] : parts), ...(decoder?.end?.() ?? [])]
      expect(Buffer.concat(all.map(({ data }) => data)).toString()).toContain(JSON.stringify(name))
    },
  )

  test('stays where the provider allows it', () => {
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'fs.read' } }],
    }
    const ask = parseChatRequest(encoder.encode(JSON.stringify(body)))
    const written = (protocol: Protocol) =>
      Buffer.concat([...chatOf(protocol).encode(ask, 'm', endpoint, {})]).toString()
    expect(written(gemini)).toContain('"name":"fs.read"')
    expect(written(anthropic)).not.toContain('"fs.read"')
  })
})

describe('a stream for a plain request', () => {
  test('is gathered with its usage', () => {
    const ask = parseChatRequest(
      encoder.encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a' }] })),
    )
    const parts = chat.talk.writer(ask).write([
      { kind: 'text', choice: 0, text: 'Hi' },
      { kind: 'finish', choice: 0, reason: 'stop', raw: undefined },
      { kind: 'usage', counts: { prompt: 3, completion: 2 }, own: undefined },
    ])
    const gatherer = chat.stream.gatherer(ask)
    for (const each of parts) gatherer.add(each)
    expect(jsonOf(gatherer.finish())).toMatchObject({
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    })
  })
})
