import { expect } from 'bun:test'
import { eventsOf, type Language } from '../fakes/languages/language.ts'
import type { Heard } from './stage.ts'

/** Signs of a good end of an answer in a caller's format. */
export const politeEnds: Readonly<Record<Language['name'], RegExp>> = {
  chat: /\[DONE\]|"finish_reason":"/,
  messages: /message_delta|message_stop/,
  responses: /event: response\.(?:completed|incomplete)|\[DONE\]/,
  gemini: /"finishReason"|functionCall/,
}
/** The start and the end of a block or an item. Absent: a format has none. */
const marks: Readonly<Partial<Record<Language['name'], readonly [start: RegExp, end: RegExp]>>> = {
  messages: [/event: content_block_start/g, /event: content_block_stop/g],
  responses: [/event: response\.output_item\.added/g, /event: response\.output_item\.done/g],
}
/** The last events of a stream that failed. */
export const failedEvents: Readonly<Record<Language['name'], readonly object[]>> = {
  chat: [{ error: { message: expect.any(String), type: 'api_error', code: 'provider_error' } }],
  messages: [{ type: 'error', error: { type: 'api_error', message: expect.any(String) } }],
  responses: [
    { type: 'error', code: 'server_error', message: expect.any(String), error: { message: expect.any(String) } },
    { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
  ],
  gemini: [{ error: { code: 502, status: 'UNAVAILABLE', message: expect.any(String) } }],
}

/** Expects the caller's error after a cut, and no end of the last block or item unless it is whole. */
export function expectFailed(
  { caller, model }: { readonly caller: Language; readonly model: string },
  answer: Heard,
  isWhole = false,
): void {
  const { name } = caller
  expect([model, answer.status, answer.isComplete]).toEqual([model, 200, false])
  const last = failedEvents[name]
  expect(eventsOf(answer.body).slice(-last.length)).toMatchObject([...last])
  expect(answer.body).not.toMatch(politeEnds[name])
  const [starts, ends] = (marks[name] ?? []).map((mark) => answer.body.match(mark)?.length ?? 0)
  if (starts !== undefined) expect(ends).toBe(starts - (isWhole ? 0 : 1))
}
