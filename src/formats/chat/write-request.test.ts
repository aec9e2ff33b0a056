import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { ContentPart, Conversation, Turn } from '../conversation.ts'
import { encodeJson, listOf, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import { joinTexts } from '../turns.ts'
import { readChatRequest } from './read-conversation.ts'
import { writeChatRequest } from './write-request.ts'

/** The written request as JSON. */
function written(conversation: Conversation, isStream = false): JsonObject {
  return objectOf(parseJsonBytes(encodeJson(writeChatRequest(conversation, { model: 'm', isStream }))))
}

function read(fields: JsonObject): Conversation {
  return readChatRequest(encode(JSON.stringify(fields)), [])
}

const word = fc.constantFrom('a', 'Good morning 🌅', '{"city":"Paris"}', 'two\nlines', ' ')
const anyText = fc.oneof(word, fc.constant(''))
const mark = fc.constant({ type: 'ephemeral' })
const textPart = fc.record(
  { type: fc.constant('text'), text: anyText, cache_control: mark },
  { requiredKeys: ['type', 'text'] },
)
const image = fc.record({
  type: fc.constant('image_url'),
  image_url: fc.record(
    {
      url: fc.constantFrom('https://e.com/a.png', 'data:image/png;base64,aGk='),
      detail: fc.constantFrom('low', 'high'),
    },
    { requiredKeys: ['url'] },
  ),
})
const otherPart = fc.constantFrom(
  { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
  { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
  { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
  { type: 'file', file: { file_data: 'https://e.com/a.pdf' } },
)
const texts = fc.oneof(anyText, fc.array(textPart, { minLength: 1, maxLength: 3 }))
const input = fc.dictionary(fc.constantFrom('city', 'big', '__proto__'), fc.constantFrom(1, 'x', null, [{}]))
const call = fc.record({
  id: fc.constantFrom('call_1', 'call_2'),
  type: fc.constant('function'),
  function: fc.record({ name: word, arguments: input.map((value) => JSON.stringify(value)) }),
})
const signature = fc.constant({ google: { thought_signature: 's' } })
const signedCall = fc.tuple(call, signature).map(([given, extra_content]) => ({ ...given, extra_content }))
const blocks = fc.constantFrom<readonly JsonObject[]>(
  [{ type: 'thinking', thinking: 'Hm.', signature: 's' }],
  [
    { type: 'thinking', thinking: 'H', signature: 's' },
    { type: 'redacted_thinking', data: 'd' },
    { type: 'thinking', thinking: 'm.', signature: 't' },
  ],
)
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer'), content: texts }),
  fc.record({
    role: fc.constant('user'),
    content: fc.oneof(texts, fc.array(fc.oneof(textPart, image, otherPart), { minLength: 1, maxLength: 4 })),
  }),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: texts,
      reasoning_content: fc.constantFrom('Hm.', 'Well.'),
      thinking_blocks: blocks,
      tool_calls: fc.array(fc.oneof(call, signedCall), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  }),
  fc.record(
    {
      role: fc.constant('tool'),
      tool_call_id: fc.constantFrom('call_1', 'call_2'),
      content: texts,
      cache_control: mark,
    },
    { requiredKeys: ['role', 'tool_call_id', 'content'] },
  ),
)
const schema = fc.constant({ type: 'object', properties: { a: { type: 'integer', maximum: 1 } } })
const tool = fc.oneof(
  fc.record(
    {
      type: fc.constant('function'),
      function: fc.record(
        { name: word, description: word, parameters: schema, strict: fc.boolean() },
        { requiredKeys: ['name'] },
      ),
      cache_control: mark,
    },
    { requiredKeys: ['type', 'function'] },
  ),
  fc.constant({ type: 'web_search', filters: { allowed: ['e.com'] } }),
)
const request = fc.record(
  {
    model: fc.constant('asked'),
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    top_k: fc.nat(),
    max_tokens: fc.nat(),
    max_completion_tokens: fc.nat(),
    n: fc.integer({ min: 1, max: 4 }),
    seed: fc.maxSafeInteger(),
    stop: fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 4 }), fc.constant(null)),
    presence_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
    frequency_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
    stream: fc.boolean(),
    logprobs: fc.constant(true),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    tool_choice: fc.constantFrom<unknown>('auto', 'none', 'required', { type: 'function', function: { name: 'a' } }),
    parallel_tool_calls: fc.boolean(),
    response_format: fc.constantFrom<unknown>(
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: {}, strict: true } },
    ),
    modalities: fc.constantFrom(['text'], ['text', 'audio']),
    service_tier: fc.constantFrom('auto', 'flex'),
    user: word,
    metadata: fc.constant({ user_id: 'u', team: 't' }),
    store: fc.boolean(),
    logit_bias: fc.constant({ '50256': -100 }),
    audio: fc.constant({ voice: 'v', format: 'mp3' }),
    some_dialect: fc.json({ maxDepth: 1 }).map((json): unknown => JSON.parse(json)),
  },
  { requiredKeys: ['model', 'messages'] },
)

/** Fields whose default is the same as their absence. */
const defaults: JsonObject = { stream: false, parallel_tool_calls: true, stop: [], response_format: { type: 'text' } }

/** One spelling for all requests with the same meaning. */
function meaning(fields: JsonObject): JsonObject {
  const { max_tokens, stop, messages, tools, tool_choice, parallel_tool_calls, ...others } = fields
  const stops = (typeof stop === 'string' ? [stop] : listOf(stop)).filter((each) => String(each).trim() !== '')
  const all: JsonObject = {
    ...(max_tokens === undefined ? {} : { max_completion_tokens: max_tokens }),
    ...(fields['stream'] === true ? { stream_options: { include_usage: true } } : {}),
    ...others,
    model: 'm',
    messages: objectsOf(messages).map(messageMeaning),
    stop: stops,
    ...(tools === undefined ? {} : { tools: toolsMeaning(tools), tool_choice, parallel_tool_calls }),
  }
  const isDefault = (name: string, value: unknown) => Bun.deepEquals(defaults[name], value)
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== undefined && value !== null && !isDefault(name, value)),
  )
}

/** Functions first, then tools of other kinds. */
function toolsMeaning(tools: unknown): readonly JsonObject[] {
  const isFunction = (given: JsonObject): boolean => given['type'] === 'function'
  const all = objectsOf(tools).map(toolMeaning)
  return [...all.filter(isFunction), ...all.filter((each) => !isFunction(each))]
}

function toolMeaning(given: JsonObject): JsonObject {
  const { strict, ...called } = objectOf(given['function'])
  return given['type'] === 'function' ? { ...given, function: strict === true ? { ...called, strict } : called } : given
}

function messageMeaning(given: JsonObject): JsonObject {
  const { role, content, tool_calls, thinking_blocks, reasoning_content } = given
  const thought = objectsOf(thinking_blocks).map((block) => block['thinking'] ?? '')
  const calls = objectsOf(tool_calls).map((each) => {
    const called = objectOf(each['function'])
    return { ...each, function: { ...called, arguments: JSON.parse(String(called['arguments'])) as unknown } }
  })
  const all: JsonObject = {
    ...given,
    role: role === 'developer' ? 'system' : role,
    content: contentMeaning(content),
    reasoning_content: reasoning_content ?? (thought.length === 0 ? undefined : thought.join('')),
    tool_calls: calls.length === 0 ? undefined : calls,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function contentMeaning(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const filled = objectsOf(content).filter((part) => part['type'] !== 'text' || part['text'] !== '')
  const isPlain = filled.every((part) => part['type'] === 'text' && part['cache_control'] === undefined)
  return isPlain ? filled.map((part) => part['text']).join('\n') : filled
}

const user: Turn = { role: 'user', parts: [said('Hi')] }

function said(text: string): ContentPart & { readonly kind: 'text' } {
  return { kind: 'text', text, cacheControl: { type: 'ephemeral' } }
}

/** A conversation of another format than chat completions. */
function foreign(turns: readonly Turn[], more: Partial<Conversation> = {}): Conversation {
  return { ...read({ model: 'm', messages: [] }), ...more, format: 'embeddings', turns }
}

function messagesOf(turns: readonly Turn[]): readonly JsonObject[] {
  return objectsOf(written(foreign(turns))['messages'])
}

describe('a chat request', () => {
  test('means the same after reading and writing it', () => {
    fc.assert(
      fc.property(request, (generated) => {
        const fields = objectOf(parseJsonBytes(encodeJson(generated)))
        const again = written(read(fields), fields['stream'] === true)
        expect(meaning(again)).toEqual(meaning(fields))
      }),
      { numRuns: 300 },
    )
  })
})

describe('a conversation of another format', () => {
  test('is written without members of dialects and of its own format', () => {
    const conversation = foreign(
      [
        user,
        {
          role: 'assistant',
          parts: [
            { kind: 'reasoning', text: 'Hm.', opaque: undefined },
            said('Let me look.'),
            { kind: 'call', id: 'c', name: 'f', input: { a: 1 }, opaque: undefined },
          ],
        },
        {
          role: 'tool',
          callId: 'c',
          name: 'f',
          parts: [said('1')],
          isError: false,
          cacheControl: { type: 'ephemeral' },
        },
      ],
      { own: { thinking: { type: 'enabled' } }, topK: 3, serviceTier: 'standard_only', user: 'u', maxTokens: 5 },
    )
    expect(written(conversation)).toEqual({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'Hm.',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '1' },
      ],
      max_completion_tokens: 5,
    })
  })

  test('has its texts as one string, for providers that take no lists', () => {
    const parts = [said('One'), said('Two')]
    expect(messagesOf([{ role: 'user', parts }])).toEqual([{ role: 'user', content: joinTexts(parts) }])
  })

  test('says in words that a tool failed', () => {
    const failed: Turn = {
      role: 'tool',
      callId: 'a',
      name: 'f',
      parts: [said('No file')],
      isError: true,
      cacheControl: undefined,
    }
    expect(messagesOf([failed])).toEqual([{ role: 'tool', tool_call_id: 'a', content: 'The tool failed:\nNo file' }])
  })

  test('has the images of results in a user message behind all results of the calls', () => {
    const picture: ContentPart = {
      kind: 'media',
      mediaType: 'image/png',
      base64: 'aGk=',
      filename: undefined,
      detail: undefined,
      cacheControl: undefined,
    }
    const result = (callId: string, ...parts: readonly ContentPart[]): Turn => {
      return { role: 'tool', callId, name: 'f', parts, isError: false, cacheControl: undefined }
    }
    expect(messagesOf([result('a', said('One'), picture), result('b', said('Two')), user])).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'One' },
      { role: 'tool', tool_call_id: 'b', content: 'Two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files of the result of a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
      { role: 'user', content: 'Hi' },
    ])
    expect(messagesOf([result('a', picture)]).map(({ role }) => role)).toEqual(['tool', 'user'])
  })

  test.each([
    ['without content', foreign([])],
    ["with a tool of another vendor's kind", foreign([user], { tools: read({ tools: [{ type: 'bash' }] }).tools })],
  ])('%s is not written', (_name, conversation) => {
    expect(() => written(conversation)).toThrow(UpstreamFailure)
  })
})
