import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { anyTarget } from '../../profiles/resolve-profile.ts'
import { chatRequest } from '../../protocols/fixtures/load.ts'
import { Changes } from '../../service/changes.ts'
import { objectOf, parseJsonBytes } from '../exact-json.ts'
import { fitChatRequest } from './fit.ts'
import { parseChatRequest } from './request.ts'

function fitted(fields: JsonObject, profile: Partial<TargetProfile>): JsonObject {
  const changes = new Changes()
  const request = fitChatRequest(chatRequest(fields), { ...anyTarget, ...profile }, changes)
  return { ...objectOf(parseJsonBytes(request.body)), dropped: changes.dropped, adjusted: changes.adjusted }
}

const says = (role: string, content: unknown = role) => ({ role, content })
const call = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const calls = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => call(id)),
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: id })

describe('messages', () => {
  const cases: readonly (readonly [string, Partial<TargetProfile>, readonly JsonObject[], readonly JsonObject[]])[] = [
    [
      'one system message at the beginning, later ones as marked user text',
      { system: 'first' },
      [says('system', 'A'), says('developer', 'B'), says('user'), says('system', 'C'), says('user')],
      [says('system', 'A\n\nB'), says('user'), says('user', '<system>\nC\n</system>'), says('user')],
    ],
    ['no system message', { system: 'none' }, [says('system', 'A'), says('user')], [says('user', 'A'), says('user')]],
    [
      'developer as system',
      { developer: 'system' },
      [says('developer'), says('user')],
      [says('system', 'developer'), says('user')],
    ],
    ['neighbours joined', { alternates: true }, [says('user', 'a'), says('user', 'b')], [says('user', 'a\n\nb')]],
    [
      'an answer between a result and the user',
      { userAfterTool: false },
      [says('user'), calls('a'), result('a'), says('user')],
      [says('user'), calls('a'), result('a'), says('assistant', 'OK.'), says('user')],
    ],
    [
      'a result for each call, directly behind it',
      { pairedCalls: true },
      [says('user'), calls('a', 'b'), says('user'), result('a'), result('z')],
      [
        says('user'),
        calls('a', 'b'),
        result('a'),
        { role: 'tool', tool_call_id: 'b', content: 'No result: the call was interrupted.' },
        says('user'),
        says('user', 'Result of a tool:\nz'),
      ],
    ],
    [
      'further results of a call as user text',
      { pairedCalls: true },
      [says('user'), calls('a'), result('a'), result('a')],
      [says('user'), calls('a'), result('a'), says('user', 'Result of a tool:\na')],
    ],
    ['the last system message as user', { needsUser: true }, [says('system')], [says('user', 'system')]],
    [
      'no empty answers',
      { emptyAnswers: 'drop' },
      [says('user'), says('assistant', ''), says('user')],
      [says('user'), says('user')],
    ],
    [
      'a prefix',
      { prefill: 'prefix' },
      [says('user'), says('assistant')],
      [says('user'), { ...says('assistant'), prefix: true }],
    ],
    [
      'a user message at the end',
      { prefill: 'refused' },
      [says('user'), says('assistant')],
      [says('user'), says('assistant'), says('user', 'Continue exactly where you stopped.')],
    ],
    ['text as one string', { textLists: false }, [says('user', [{ type: 'text', text: 'a' }])], [says('user', 'a')]],
    [
      'calls with a text',
      { callContent: 'text' },
      [says('user'), calls('a'), result('a')],
      [says('user'), { ...calls('a'), content: '' }, result('a')],
    ],
    [
      "Kimi's ids",
      { callIds: 'kimi' },
      [says('user'), calls('x'), result('x')],
      [says('user'), calls('functions.f:0'), { ...result('x'), tool_call_id: 'functions.f:0' }],
    ],
  ]
  test.each(cases)('%s', (_name, profile, messages, expected) => {
    expect(fitted({ messages }, profile)['messages']).toEqual(expected)
  })

  test('get ids of nine letters, the same on both sides, and each time', () => {
    const messages = [says('user'), calls('call_1', 'call_2'), result('call_1'), result('call_2')]
    const sent = JSON.stringify(fitted({ messages }, { callIds: 'letters9' })['messages'])
    const ids = [...sent.matchAll(/"(?:id|tool_call_id)":"([^"]*)"/g)].map(([, id]) => id)
    expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1]])
    expect(ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id ?? ''))).toBe(true)
    expect(JSON.stringify(fitted({ messages }, { callIds: 'letters9' })['messages'])).toBe(sent)
  })
})

describe('fields', () => {
  test.each<readonly [string, Partial<TargetProfile>, JsonObject, JsonObject]>([
    [
      'a refused one is left out',
      { sampling: { temperature: 'refused' } },
      { temperature: 0.2 },
      { dropped: ['temperature'] },
    ],
    [
      'a value beyond the range is moved',
      { sampling: { temperature: [0.01, 1] } },
      { temperature: 0 },
      { temperature: 0.01, adjusted: ['temperature'] },
    ],
    ['too many stops', { stops: 1 }, { stop: ['a', 'b'] }, { stop: ['a'], dropped: ['stop'] }],
    [
      'an effort as the nearest',
      { efforts: ['low', 'high'] },
      { reasoning_effort: 'max' },
      { reasoning_effort: 'high' },
    ],
    ['no effort at all', { efforts: [] }, { reasoning_effort: 'low' }, { dropped: ['reasoning_effort'] }],
    [
      'thinking off in its own form',
      { effortForm: 'enable_thinking' },
      { reasoning_effort: 'none' },
      { enable_thinking: false },
    ],
    ['an added field', { add: { reasoning_split: true } }, {}, { reasoning_split: true }],
    [
      'a choice only without thinking',
      { forcedTool: 'unthinking', effortForm: 'thinking' },
      { tools: [], tool_choice: 'required' },
      { thinking: { type: 'disabled' } },
    ],
    [
      'a choice not at all',
      { forcedTool: 'auto' },
      { tools: [], tool_choice: 'required' },
      { tool_choice: 'auto', dropped: ['tool_choice'] },
    ],
    [
      'JSON of any object as a schema',
      { answerFormat: 'schema' },
      { response_format: { type: 'json_object' } },
      { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } } },
    ],
  ])('%s', (_name, profile, fields, expected) => {
    expect(fitted(fields, profile)).toMatchObject(expected)
  })

  test('a named tool is declared alone and required', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name } }))
    const fields = { tools, tool_choice: { type: 'function', function: { name: 'b' } } }
    expect(fitted(fields, { forcedTool: 'required' })).toMatchObject({ tools: [tools[1]], tool_choice: 'required' })
  })

  test('a schema becomes an instruction where only objects are taken', () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }
    const sent = fitted({ messages: [says('user')], response_format }, { answerFormat: 'object' })
    expect(sent['response_format']).toEqual({ type: 'json_object' })
    expect(JSON.stringify(sent['messages'])).toContain('matches this JSON Schema')
  })
})

describe("the caller's bytes", () => {
  test('stay where the profile deviates in parts that the request lacks', () => {
    const request = chatRequest({ seed: 1 })
    expect(fitChatRequest(request, { ...anyTarget, system: 'first', stops: 0, callIds: 'letters9' }, undefined)).toBe(
      request,
    )
  })

  test('of messages that fit stay while others change', () => {
    const strange = '{"role":"user" , "content":"\\u00e9","x":12345678901234567890}'
    const body = `{"model":"m","messages":[{"role":"developer","content":"a"},${strange}]}`
    const request = parsed(body)
    const sent = fitChatRequest(request, { ...anyTarget, developer: 'system' }, undefined)
    expect(new TextDecoder().decode(sent.body)).toBe(body.replace('developer', 'system'))
  })

  test('are JSON after any changes', () => {
    const roles = fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer')
    const message = fc.record({
      role: roles,
      content: fc.constantFrom('', 'x', null),
      tool_call_id: fc.constantFrom('a', 'b'),
    })
    const profile = fc.record({
      system: fc.constantFrom('any' as const, 'first' as const, 'none' as const),
      alternates: fc.boolean(),
      userAfterTool: fc.boolean(),
      pairedCalls: fc.boolean(),
      prefill: fc.constantFrom('any' as const, 'prefix' as const, 'refused' as const),
    })
    fc.assert(
      fc.property(fc.array(message, { minLength: 1 }), profile, (messages, changed) => {
        const sent = fitted(
          {
            messages: messages
              .filter(({ role, content }) => content !== null || role === 'assistant' || role === 'tool')
              .concat([{ role: 'user', content: 'x', tool_call_id: 'a' }]),
          },
          changed,
        )
        expect(Array.isArray(sent['messages'])).toBe(true)
      }),
    )
  })
})

function parsed(body: string) {
  return parseChatRequest(new TextEncoder().encode(body))
}
