import { describe, expect, test } from 'bun:test'
import { parseChatRequest } from '../../formats/chat/request.ts'
import { sessionOf, sessionOfBody } from './session-of.ts'

describe('the session of a request', () => {
  test.each([
    ['Claude Code', { 'x-claude-code-session-id': 'c-1', 'x-session-id': 'other' }, 'c-1'],
    [
      'opencode',
      { 'x-session-id': 'ses_f84c6ba38ffe6', 'x-session-affinity': 'ses_f84c6ba38ffe6' },
      'ses_f84c6ba38ffe6',
    ],
    ['Codex', { 'session-id': '0199a213-81c0-7800-8aa1-bbab2a035a53' }, '0199a213-81c0-7800-8aa1-bbab2a035a53'],
    ['pi', { session_id: 's', 'x-client-request-id': 'r' }, 's'],
    ['nobody', {}, undefined],
    ['an empty one, then a good one', { 'x-session-id': '', 'session-id': 's' }, 's'],
    ['a text with blanks', { 'x-session-id': 'two words' }, undefined],
    ['an umlaut', { 'x-session-id': 'ä' }, undefined],
    ['129 characters', { 'x-session-id': 'x'.repeat(129) }, undefined],
    ['128 characters', { 'x-session-id': 'x'.repeat(128) }, 'x'.repeat(128)],
  ])('is named by a header: %s', (_, headers, session) => {
    expect(sessionOf(new Headers(headers))).toBe(session)
  })

  test.each([
    ['"thread-7"', 'thread-7'],
    ['""', undefined],
    ['null', undefined],
    ['7', undefined],
    ['["a"]', undefined],
    ['"a\\u0020b"', undefined],
    ['"a b"', undefined],
    [`"${'x'.repeat(128)}"`, 'x'.repeat(128)],
    [`"${'x'.repeat(129)}"`, undefined],
  ])('is named by prompt_cache_key: %s', (value, session) => {
    const body = `{"model":"m","messages":[{"role":"user","content":"x"}],"prompt_cache_key":${value}}`
    expect(sessionOfBody(parseChatRequest(new TextEncoder().encode(body)))).toBe(session)
  })
})
