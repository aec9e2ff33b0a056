import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import { targetWith } from '../../profiles/testing.ts'
import { encodeJson, objectOf, parseJsonBytes } from '../exact-json.ts'
import { messagesOfCallers } from './format.ts'
import type { MessagesRequest } from './request.ts'
import { messagesWithoutReasoning } from './without-reasoning.ts'

const target = targetWith()
const user = { role: 'user', content: 'hi' }
const text = { type: 'text', text: 'So.' }
const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: '1' }] }
const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
const hidden = { type: 'redacted_thinking', data: 'EqQC' }
const foreign = [
  { type: 'thinking', thinking: 'Hm.' },
  { type: 'thinking', thinking: 'Hm.', signature: '' },
  { type: 'thinking', thinking: 'Hm.', signature: null },
  { type: 'thinking', thinking: 'Hm.', signature: 'svc1:x' },
  { type: 'redacted_thinking', data: 'svc1:x' },
]

function checked(fields: JsonObject): MessagesRequest {
  const body = encodeJson({ model: 'm', max_tokens: 9_000, ...fields })
  const envelope = { path: '/v1/messages', headers: new Headers(), parameter: () => null }
  const ask = messagesOfCallers.check(body, envelope)
  // What this format checks is a request of this format.
  return ask as MessagesRequest
}

function said(...content: readonly JsonObject[]): JsonObject {
  return { role: 'assistant', content }
}

/** The request as a provider of Messages gets it. */
function sent(fields: JsonObject): JsonObject {
  return objectOf(parseJsonBytes(Buffer.concat(messagesOfCallers.passThrough.write(checked(fields), 'm', target))))
}

describe('a request that passes through', () => {
  test('loses thinking of providers of other formats, which Anthropic refuses, and keeps its own', () => {
    const messages = [user, said(...foreign, signed, text, ...foreign, hidden, call, ...foreign), result]
    expect(sent({ messages })['messages']).toEqual([user, said(signed, text, hidden, call), result])
  })

  test('keeps its bytes without such thinking', () => {
    const ask = checked({ messages: [user, said(signed, text, hidden, call), result] })
    expect(messagesOfCallers.passThrough.write(ask, 'm', target)).toEqual([ask.body])
  })

  test('has no message without content', () => {
    expect(sent({ messages: [user, said(...foreign), user] })['messages']).toMatchObject([
      user,
      { role: 'assistant', content: [{ type: 'text' }] },
      user,
    ])
  })

  const budget = { type: 'enabled', budget_tokens: 2_000 }
  const clearing = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }

  test.each<readonly [string, JsonObject, readonly JsonObject[], boolean]>([
    ['tool use that began elsewhere', budget, [user, said(...foreign, call), result], true],
    ['tool use that began there', budget, [user, said(...foreign, signed, call), result], false],
    ['an ended tool use', budget, [user, said(...foreign, call), result, said(text), user], false],
    ['tool use without a budget', { type: 'adaptive' }, [user, said(...foreign, call), result], false],
  ])('during %s thinks only where that is accepted', (_name, thinking, messages, isDisabled) => {
    const body = sent({ thinking, messages, context_management: clearing })
    expect(body['thinking']).toEqual(isDisabled ? { type: 'disabled' } : thinking)
    expect(body['context_management']).toEqual(isDisabled ? null : clearing)
  })
})

describe('a request that a provider refused for its reasoning', () => {
  test('loses all of it', () => {
    const bare = messagesWithoutReasoning(checked({ messages: [user, said(signed, hidden, text), user] }), 'all')
    expect(bare && objectOf(parseJsonBytes(bare.body))['messages']).toEqual([user, said(text), user])
  })

  test('thinks no longer during tool use that began without thinking', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 }
    const bare = messagesWithoutReasoning(checked({ thinking, messages: [user, said(text, call), result] }), 'all')
    expect(bare && objectOf(parseJsonBytes(bare.body))['thinking']).toEqual({ type: 'disabled' })
  })

  test('is not changed without reasoning', () => {
    expect(messagesWithoutReasoning(checked({ messages: [user, said(text), user] }), 'all')).toBeUndefined()
  })
})
