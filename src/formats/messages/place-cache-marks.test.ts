import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../base/json-value.ts'
import { anyTarget, withFields } from '../../profiles/resolve-profile.ts'
import { checkBody } from '../check-body.ts'
import { objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import { fitMessagesRequest } from './fit.ts'
import { messagesCheck } from './request.ts'

const profile = withFields(anyTarget, { promptCache: 'auto', cacheMinimum: 100 })
const mark = { cache_control: { type: 'ephemeral' } }
const long = 'word '.repeat(100)
const text = (said: string) => ({ type: 'text', text: said })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const hi = { messages: [user('hi')] }

/** The request as it is sent; undefined with the caller's bytes. */
function sent(body: JsonObject | string, by = profile): JsonObject | undefined {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body }))
  const request = checkBody(bytes, messagesCheck('messages', [], {}))
  const fitted = fitMessagesRequest(request, by, undefined)
  return fitted === request ? undefined : objectOf(parseJsonBytes(fitted.body))
}

describe('marks for a request without any', () => {
  test.each<[name: string, request: JsonObject, marked: JsonObject]>([
    ['the system', { system: long, ...hi }, { system: [{ ...text(long), ...mark }] }],
    [
      'its last block with text',
      { system: [text(long), text('')], ...hi },
      { system: [{ ...text(long), ...mark }, text('')] },
    ],
    [
      'the last tool that is not deferred, without a system',
      {
        tools: [
          { name: 'a', description: long },
          { name: 'b', defer_loading: true },
        ],
        messages: [assistant('hi')],
      },
      {
        tools: [
          { name: 'a', description: long, ...mark },
          { name: 'b', defer_loading: true },
        ],
      },
    ],
    [
      'the last user message of a conversation, not what is to be continued',
      { messages: [user(long), assistant('hi'), user('so'), assistant('I')] },
      { messages: [user(long), assistant('hi'), user([{ ...text('so'), ...mark }]), assistant('I')] },
    ],
    [
      'the user message before, behind a long turn',
      { messages: [user(long), assistant(Array(20).fill(text('a'))), user('so')] },
      {
        messages: [
          user([{ ...text(long), ...mark }]),
          assistant(Array(20).fill(text('a'))),
          user([{ ...text('so'), ...mark }]),
        ],
      },
    ],
  ])('are on %s', (_, request, marked) => {
    expect(sent(request)).toEqual({ model: 'm', ...request, ...marked })
  })

  test('last an hour where the owner says so', () => {
    const system = [{ ...text(long), cache_control: { type: 'ephemeral', ttl: '1h' } }]
    expect(sent({ system: long, ...hi }, withFields(profile, { promptCache: '1h' }))).toMatchObject({ system })
  })

  test.each<[name: string, request: JsonObject | string]>([
    ['one question', { messages: [user(long)] }],
    ['a short prompt', { system: 'Be brief.', ...hi }],
    [
      'a mark in escapes',
      `{"model":"m","system":"${long}","messages":[{"role":"user","content":[` +
        `{"type":"text","text":"a","cache_\\u0063ontrol":{"type":"ephemeral"}}]}]}`,
    ],
    [
      'a mark of the whole in escapes',
      `{"model":"m","cache\\u005fcontrol":{"type":"ephemeral"},"system":"${long}",` +
        `"messages":[{"role":"user","content":"hi"}]}`,
    ],
  ])('are not in %s', (_, request) => {
    expect(sent(request)).toBeUndefined()
  })

  test('are at most three, on no thinking and no empty text, and change nothing else', () => {
    const block = fc.oneof(
      fc.constantFrom('', ' ', 'a', long).map(text),
      fc.constant({ type: 'thinking', thinking: 'a', signature: 's' }),
      fc.constant({ type: 'tool_result', tool_use_id: 'a', content: [text('a')] }),
    )
    const content = fc.oneof(fc.string(), fc.array(block, { maxLength: 24 }))
    const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content })
    const optional = fc.record(
      {
        system: fc.oneof(fc.constant(long), fc.array(fc.constantFrom('', long).map(text))),
        tools: fc.array(fc.record({ name: fc.string() })),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), optional, (messages, more) => {
        const given = { model: 'm', ...more, messages }
        const written = sent(given) ?? given
        const marked = [...objectsOf(written.tools), ...blocksOf(written.system), ...blocksIn(written.messages)].filter(
          (each) => 'cache_control' in each,
        )
        expect(marked.length).toBeLessThanOrEqual(3)
        for (const { type, text: said } of marked) expect(type === 'thinking' || said === '').toBe(false)
        expect(withoutMarks(written)).toEqual(withoutMarks(given))
      }),
    )
  })
})

function blocksIn(messages: unknown): readonly JsonObject[] {
  return objectsOf(messages).flatMap(({ content }) => blocksOf(content))
}

function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === 'string' ? [text(content)] : objectsOf(content)
}

/** With strings as blocks. */
function withoutMarks({ system, messages, ...rest }: JsonObject): unknown {
  const all = objectsOf(messages).map(({ content, ...message }) => ({ ...message, content: blocksOf(content) }))
  const value = { ...rest, system: blocksOf(system), messages: all }
  return JSON.parse(JSON.stringify(value, (name, each: unknown) => (name === 'cache_control' ? undefined : each)))
}
