import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { JsonCursor } from '../../bytes/json-cursor.ts'
import { sliceBytes } from '../../bytes/pace.ts'
import { encode } from '../../bytes/text.ts'
import { WireError } from '../error.ts'
import { encodeJson } from '../exact-json.ts'
import { envelopeAt } from '../format-testing.ts'
import { messagesOfCallers } from './format.ts'
import { messagesCheck } from './request.ts'

const least = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }

/** `param` and code of the refusal of a request; undefined if it is admitted. */
function refusal(body: JsonObject): string | undefined {
  try {
    messagesOfCallers.check(encodeJson(body), envelopeAt('/v1/messages'))
    return undefined
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    return `${error.param} ${error.code}`
  }
}

function asked(...blocks: readonly JsonObject[]): JsonObject {
  return { messages: [{ role: 'user', content: blocks }] }
}

const block = 'messages[0].content[0]'
const base64 = { type: 'base64', media_type: 'image/png', data: 'aGk=' }

describe('a request', () => {
  test.each<readonly [JsonObject]>([
    [{}],
    [{ max_tokens: 0 }],
    [{ max_tokens: Number.MAX_SAFE_INTEGER }],
    [{ system: 'x' }],
    [{ system: [] }],
    [{ system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
    [
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'system', content: 'y' },
          { role: 'assistant', content: '' },
        ],
      },
    ],
    [asked({ text: 'type comes last', type: 'text' })],
    [asked({ type: 'image', source: base64 })],
    [asked({ type: 'image', source: { type: 'url', url: 'https://x' } })],
    [asked({ type: 'tool_result', tool_use_id: 'a' })],
    [asked({ type: 'tool_result', tool_use_id: 'a', content: null, is_error: null })],
    [asked({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: base64 }] })],
    [asked({ type: 'tool_use', id: 'a', name: 'f', input: {} })],
    [asked({ type: 'thinking', thinking: '' })],
    [asked({ type: 'redacted_thinking', data: 'x' })],
    [asked({ type: 'from_the_future', text: 5 })],
    [{ temperature: 0 }],
    [{ temperature: 1 }],
    [{ top_p: 0 }],
    [{ top_p: 1 }],
    [{ top_k: 0 }],
    [{ stop_sequences: [] }],
    [{ stop_sequences: ['x'] }],
    [{ metadata: { user_id: null } }],
    [
      {
        tools: [
          { name: 'f', input_schema: {} },
          { type: 'web_search_20250305', name: 'web_search' },
        ],
      },
    ],
    [{ tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } }],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }],
    [{ thinking: { type: 'from_the_future' } }],
    [{ output_config: { effort: 'max', format: { type: 'json_schema', schema: {} } } }],
    [{ service_tier: 'standard_only' }],
    [{ stream: null, system: null, tools: null, thinking: null }],
    [{ unknown: [{}] }],
  ])('with %j is admitted', (fields) => {
    expect(refusal({ ...least, ...fields })).toBeUndefined()
  })

  test.each<readonly [JsonObject, string]>([
    [{ model: undefined }, 'model missing_required_parameter'],
    [{ model: '' }, 'model invalid_value'],
    [{ max_tokens: undefined }, 'max_tokens missing_required_parameter'],
    [{ max_tokens: null }, 'max_tokens invalid_type'],
    [{ max_tokens: -1 }, 'max_tokens invalid_value'],
    [{ max_tokens: 1.5 }, 'max_tokens invalid_type'],
    [{ messages: undefined }, 'messages missing_required_parameter'],
    [{ messages: [] }, 'messages invalid_value'],
    [{ messages: 'x' }, 'messages invalid_type'],
    [{ messages: [null] }, 'messages[0] invalid_type'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role missing_required_parameter'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role invalid_value'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content missing_required_parameter'],
    [{ messages: [{ role: 'user', content: null }] }, 'messages[0].content invalid_type'],
    [{ messages: [{ role: 'user', content: {} }] }, 'messages[0].content invalid_type'],
    [asked({ text: 'x' }), `${block}.type missing_required_parameter`],
    [asked({ type: 5 }), `${block}.type invalid_type`],
    [asked({ type: 'text' }), `${block}.text missing_required_parameter`],
    [asked({ text: 5, type: 'text' }), `${block}.text invalid_type`],
    [asked({ type: 'image' }), `${block}.source missing_required_parameter`],
    [
      asked({ type: 'image', source: { type: 'base64', data: 'x' } }),
      `${block}.source.media_type missing_required_parameter`,
    ],
    [asked({ type: 'tool_use', id: 'a', name: 'f', input: '{}' }), `${block}.input invalid_type`],
    [asked({ type: 'tool_result' }), `${block}.tool_use_id missing_required_parameter`],
    [
      asked({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text' }] }),
      `${block}.content[0].text missing_required_parameter`,
    ],
    [asked({ type: 'tool_result', tool_use_id: 'a', is_error: 'yes' }), `${block}.is_error invalid_type`],
    [{ system: 5 }, 'system invalid_type'],
    [{ system: [{ type: 'image' }] }, 'system[0].type invalid_value'],
    [{ temperature: 1.1 }, 'temperature invalid_value'],
    [{ temperature: -0.1 }, 'temperature invalid_value'],
    [{ top_p: 1.1 }, 'top_p invalid_value'],
    [{ top_k: -1 }, 'top_k invalid_value'],
    [{ top_k: 0.5 }, 'top_k invalid_type'],
    [{ stop_sequences: 'x' }, 'stop_sequences invalid_type'],
    [{ stop_sequences: [5] }, 'stop_sequences[0] invalid_type'],
    [{ metadata: { user_id: 5 } }, 'metadata.user_id invalid_type'],
    [{ tools: [{ input_schema: 'x' }] }, 'tools[0].input_schema invalid_type'],
    [{ tool_choice: { type: 'some' } }, 'tool_choice.type invalid_value'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name missing_required_parameter'],
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens missing_required_parameter'],
    [{ thinking: { type: 'enabled', budget_tokens: 1_023 } }, 'thinking.budget_tokens invalid_value'],
    [{ output_config: { effort: 'most' } }, 'output_config.effort invalid_value'],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema missing_required_parameter'],
    [{ service_tier: 'priority' }, 'service_tier invalid_value'],
    [{ cache_control: {} }, 'cache_control.type missing_required_parameter'],
    [{ stream: 'yes' }, 'stream invalid_type'],
  ])('with %j is refused', (fields, expected) => {
    expect(refusal({ ...least, ...fields })).toBe(expected)
  })
})

test.each([
  ['"type":"text","text":"x","type":"text"', undefined],
  ['"type":"text","text":"x","type":"tool_result"', `'${block}.type' must be one of text; found 'tool_result'.`],
  ['"type":"text","text":"x","\\u0074ype":"image"', `'${block}.type' must be one of text; found 'image'.`],
  ['"type":"text","text":"x","type":null', `'${block}.type' must be a string; found null.`],
  ['"type":"text","text":"x","type":5', `'${block}.type' must be a string; found a number.`],
])('a block with %s › has one type', (members, refused) => {
  const body = encode(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{${members}}]}]}`)
  const check = () => messagesOfCallers.check(body, envelopeAt('/v1/messages'))
  if (refused === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(refused)
})

describe('what only Anthropic gets', () => {
  test('is named', () => {
    const tools = [
      { name: 'f', description: '"type":"web_fetch_1"' },
      { type: 'web_search_20250305', name: 'w' },
    ]
    const body = encodeJson({ ...least, metadata: {}, context_management: { edits: [] }, tools })
    const ask = messagesOfCallers.check(body, envelopeAt('/v1/messages'))
    expect(ask.untranslated).toEqual(['context_management', 'metadata', 'tools.web_search'])
  })
})

test('a block whose type comes last is checked in slices, though it is walked twice', () => {
  const block = `{"x":[${'1,'.repeat(512 * 1024)}1],"text":"","type":"text"}`
  const body = encode(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[${block}]}]}`)
  const pace = { limit: sliceBytes }
  const walk = messagesCheck('messages', ['messages'], undefined)(new JsonCursor(body), pace)
  let slices = 0
  for (let step = walk.next(); step.done !== true; step = walk.next()) {
    slices++
    step.value.limit += sliceBytes
  }
  expect(slices).toBeGreaterThan((2 * body.length) / sliceBytes - 4)
})
