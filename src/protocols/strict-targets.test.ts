import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../base/json-value.ts'
import type { Ask } from '../formats/ask.ts'
import { parseChatRequest } from '../formats/chat/request.ts'
import { checkBody } from '../formats/check-body.ts'
import { messagesCheck } from '../formats/messages/request.ts'
import { requestReader } from '../formats/responses/request.ts'
import { profileAt } from '../profiles/resolve-profile.ts'
import { refusedBy } from '../profiles/strict-target-testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { endpointAt, jsonOf } from './fixtures/load.ts'
import { openai } from './openai.ts'
import { wireFacts } from './wire-corpus-testing.ts'

/** Requests of any caller reach each known target in a form that the strictest one of its kind takes. */

const text = fc.constantFrom('', 'Hi.', 'Use JSON.', 'Go on.')
const id = fc.constantFrom('call_1', 'call_2', 'toolu_01ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdef', 'functions.f:0')
const name = fc.constantFrom('f', 'g')
const schema = fc.constantFrom<JsonObject>(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
)
const effort = fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const call = fc.record({ id, name }).map((each) => ({
  id: each.id,
  type: 'function',
  function: { name: each.name, arguments: '{}' },
}))
const chatMessage = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content: text }),
  text.map((each) => ({ role: 'user', content: [{ type: 'text', text: each }] })),
  fc
    .tuple(fc.constantFrom(null, '', 'Let me see.'), fc.array(call, { maxLength: 2 }))
    .map(([content, tool_calls]) => ({ role: 'assistant', content, tool_calls })),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content: text }),
)
const sampling = {
  temperature: optional(fc.constantFrom(0, 0.5, 1, 2)),
  top_p: optional(fc.constantFrom(0, 0.9, 1)),
}
const chatRequests = fc.record({
  messages: fc.array(chatMessage, { minLength: 1, maxLength: 8 }),
  ...sampling,
  presence_penalty: optional(fc.constantFrom(-1, 0, 1)),
  frequency_penalty: optional(fc.constantFrom(-1, 0, 1)),
  n: optional(fc.constant(1)),
  seed: optional(fc.nat()),
  stop: optional(fc.constantFrom<string | string[]>('END', ['A', 'B', 'C', 'D', 'E', 'F'])),
  store: optional(fc.boolean()),
  max_tokens: optional(fc.constant(9)),
  max_completion_tokens: optional(fc.constant(9)),
  logprobs: optional(fc.boolean()),
  reasoning_effort: optional(effort),
  tools: optional(
    fc
      .record({ name: fc.constant('f'), parameters: schema, strict: fc.boolean() })
      .map((each) => [{ type: 'function', function: each }]),
  ),
  tool_choice: optional(fc.constantFrom<unknown>('auto', 'required', { type: 'function', function: { name: 'f' } })),
  response_format: optional(
    fc.oneof(
      fc.constant({ type: 'json_object' }),
      fc.record({ schema, strict: fc.boolean() }).map((each) => ({
        type: 'json_schema',
        json_schema: { name: 'a', ...each },
      })),
    ),
  ),
})

const block = fc.oneof(
  text.map((each) => ({ type: 'text', text: each })),
  fc.record({ id, name }).map((each) => ({ type: 'tool_use', ...each, input: {} })),
  id.map((each) => ({ type: 'tool_result', tool_use_id: each, content: 'Done.' })),
  fc.constant({ type: 'thinking', thinking: 'Hm.', signature: 's' }),
)
const messagesRequests = fc.record({
  max_tokens: fc.constant(9_000),
  system: optional(text),
  messages: fc.array(
    fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(block, { minLength: 1, maxLength: 3 }) }),
    { minLength: 1, maxLength: 6 },
  ),
  temperature: optional(fc.constantFrom(0, 0.5, 1)),
  stop_sequences: optional(fc.constant(['END'])),
  output_config: optional(fc.constantFrom('low', 'high', 'max').map((each) => ({ effort: each }))),
  tools: optional(fc.constant([{ name: 'f', input_schema: { type: 'object', properties: {} } }])),
  tool_choice: optional(fc.constantFrom({ type: 'any' }, { type: 'tool', name: 'f' })),
})

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content: text }),
  fc.record({ type: fc.constant('function_call'), call_id: id, name, arguments: fc.constant('{}') }),
  fc.record({ type: fc.constant('function_call_output'), call_id: id, output: text }),
)
const responsesRequests = fc.record({
  instructions: optional(text),
  input: fc.array(item, { minLength: 1, maxLength: 8 }),
  ...sampling,
  reasoning: optional(effort.map((each) => ({ effort: each }))),
  tools: optional(fc.constant([{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }])),
  tool_choice: optional(fc.constantFrom<unknown>('required', { type: 'function', name: 'f' })),
  text: optional(fc.constant({ format: { type: 'json_object' } })),
})

type Check = (body: Uint8Array) => Ask

const callers: readonly (readonly [string, fc.Arbitrary<JsonObject>, Check])[] = [
  ['chat', chatRequests, parseChatRequest],
  ['messages', messagesRequests, (body) => checkBody(body, messagesCheck('messages', [], undefined))],
  ['responses', responsesRequests, (body) => checkBody(body, requestReader('responses'))],
]

const targets = Map.groupBy(
  wireFacts().flatMap(({ target }) => (target.protocol === 'openai' ? [target] : [])),
  ({ brand = 'any', model }) => `${brand} ${model}`,
)

/** The request as its target receives it; undefined if it is not sent. */
function sentTo(target: Parameters<typeof profileAt>[0], ask: Ask): JsonObject | undefined {
  const endpoint = endpointAt('http://127.0.0.1:9/v1', { profile: profileAt(target) })
  try {
    return jsonOf(Buffer.concat([...(openai.dialects[ask.format]?.encode(ask, target.model, endpoint) ?? [])]))
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}

describe.each(callers)('a request of %s', (_, requests, check) => {
  test.each([...targets].flatMap(([name, [target]]) => (target === undefined ? [] : [[name, target] as const])))(
    'is taken by %s',
    (_, target) => {
      const profile = profileAt(target)
      fc.assert(
        fc.property(requests, ({ tool_choice, ...fields }) => {
          const choice = fields['tools'] === undefined ? {} : { tool_choice }
          const ask = check(Buffer.from(JSON.stringify({ model: 'm', ...fields, ...choice })))
          const sent = sentTo(target, ask)
          if (sent !== undefined) expect(refusedBy(profile, sent)).toBeUndefined()
        }),
        { numRuns: 60 },
      )
    },
  )
})
