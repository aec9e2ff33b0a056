import { parseJson, pick } from '../client.ts'
import type { Script } from './fault-upstream.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, usageChunk } from './replies.ts'

/** The behaviour of an upstream, in its own format. */
export interface FormatFake {
  readonly protocol: 'openai' | 'anthropic' | 'gemini'
  /** Answers with text. */
  readonly says: (text: string) => Script
}

/** A message stream's event. */
export function named(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\n${event(data)}`
}

function wantsStream(body: Uint8Array, path: string): boolean {
  return path.includes('stream') || pick(parseJson(new TextDecoder().decode(body)), 'stream') === true
}

/** Answers with JSON or as a stream, as it was asked for. */
export function answers(whole: object, events: readonly string[]): Script {
  return async ({ hit, write }) => {
    if (!wantsStream(hit.body, hit.path)) return write(reply(200, JSON.stringify(whole)))
    await write(streamHead)
    for (const each of events) await write(framed(each))
    await write(lastChunk)
  }
}

export const chatOnly: FormatFake = {
  protocol: 'openai',
  says: (text) =>
    answers(completion(text), [
      event(chunk({ role: 'assistant', content: '' })),
      ...(text.match(/.{1,3}/gs) ?? []).map((piece) => event(chunk({ content: piece }))),
      event(chunk({}, 'stop')),
      event(usageChunk()),
      done,
    ]),
}

const geminiUsage = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 }
const geminiAnswer = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  usageMetadata: geminiUsage,
  modelVersion: 'gemini',
  responseId: 'r',
})

export const gemini: FormatFake = {
  protocol: 'gemini',
  says: (text) =>
    answers(geminiAnswer([{ text }], 'STOP'), [
      ...(text.match(/.{1,3}/gs) ?? []).map((piece) => event(geminiAnswer([{ text: piece }]))),
      event(geminiAnswer([], 'STOP')),
    ]),
}

export const messageHead = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  stop_reason: null,
  stop_sequence: null,
}
export const messageUsage = { input_tokens: 3, output_tokens: 5 }
export const started = named({
  type: 'message_start',
  message: { ...messageHead, content: [], usage: { input_tokens: 3, output_tokens: 1 } },
})
export const ended = (stop_reason: string) => [
  named({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
  named({ type: 'message_stop' }),
]
export const textEvents = (text: string) => [
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...(text.match(/.{1,3}/gs) ?? []).map((piece) =>
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }),
  ),
]
export const callEvents = (index: number, json: string) => [
  named({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `call_${index}`, name: 'weather', input: {} },
  }),
  named({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } }),
]
export const stopped = (index: number) => named({ type: 'content_block_stop', index })

export const anthropic: FormatFake = {
  protocol: 'anthropic',
  says: (text) =>
    answers({ ...messageHead, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: messageUsage }, [
      started,
      ...textEvents(text),
      named({ type: 'ping' }),
      stopped(0),
      ...ended('end_turn'),
    ]),
}
