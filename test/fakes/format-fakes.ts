import { parseJson, pick } from '../client.ts'
import { provider, type ProviderEntry } from '../harness.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fault-upstream.ts'
import { status } from './faults/status.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead, usageChunk } from './replies.ts'

/** The behaviour of an upstream, in its own format. */
export interface FormatFake {
  readonly protocol: 'openai' | 'anthropic' | 'gemini'
  /** Answers with text. */
  readonly says: (text: string) => Script
  /** Answers with calls of `weather`, one for each city. */
  readonly calls: (...cities: readonly string[]) => Script
  /** Sends text, and loses the connection. */
  readonly isCutAfter: (text: string) => Script
  /** Sends a half of a call, and loses the connection. */
  readonly isCutInCall: Script
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

export function cutAfter(events: readonly string[]): Script {
  return async ({ write, reset, pause }) => {
    await write(streamHead)
    for (const each of events) await write(framed(each))
    await pause(50)
    reset()
  }
}

const chatCall = (index: number, city: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
})

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
  calls: (...cities) =>
    answers(
      completion(null, {
        message: { tool_calls: cities.map((city, index) => chatCall(index, city)) },
        choice: { finish_reason: 'tool_calls' },
      }),
      [
        event(chunk({ role: 'assistant', content: null })),
        // All calls begin first, then their arguments alternate.
        ...cities.map((city, index) =>
          event(
            chunk({ tool_calls: [{ ...chatCall(index, city), function: { name: 'weather', arguments: '{"ci' } }] }),
          ),
        ),
        ...cities.map((city, index) =>
          event(chunk({ tool_calls: [{ index, function: { arguments: `ty":${JSON.stringify(city)}}` } }] })),
        ),
        event(chunk({}, 'stop')),
        event(usageChunk()),
        done,
      ],
    ),
  isCutAfter: (text) => cutAfter([event(chunk({ role: 'assistant', content: text }))]),
  isCutInCall: cutAfter([
    event(chunk({ tool_calls: [{ ...chatCall(0, ''), function: { name: 'weather', arguments: '{"ci' } }] })),
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
  calls(...cities) {
    const parts = cities.map((city) => ({ functionCall: { name: 'weather', args: { city } } }))
    return answers(geminiAnswer(parts, 'STOP'), [event(geminiAnswer(parts, 'STOP'))])
  },
  isCutAfter: (text) => cutAfter([event(geminiAnswer([{ text }]))]),
  isCutInCall: cutAfter([event(geminiAnswer([{ functionCall: { name: 'weather', args: {} } }]))]),
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
  calls: (...cities) =>
    answers(
      {
        ...messageHead,
        content: cities.map((city, index) => ({
          type: 'tool_use',
          id: `call_${index}`,
          name: 'weather',
          input: { city },
        })),
        stop_reason: 'tool_use',
        usage: messageUsage,
      },
      [
        started,
        ...cities.flatMap((city, index) => [...callEvents(index, JSON.stringify({ city })), stopped(index)]),
        ...ended('tool_use'),
      ],
    ),
  isCutAfter: (text) => cutAfter([started, ...textEvents(text)]),
  isCutInCall: cutAfter([started, ...callEvents(0, '{"ci')]),
}

/** Upstreams of every protocol. */
export const formatFakes: readonly (readonly [name: string, fake: FormatFake])[] = [
  ['chat completions', chatOnly],
  ['Gemini', gemini],
  ['Messages', anthropic],
]

/** One upstream of each format behind a failing one. */
export interface BehindFailing {
  /** Answers 500. It serves all models. */
  readonly first: FaultUpstream
  /** Each serves the model `m` and its index. */
  readonly others: readonly FaultUpstream[]
  readonly providers: readonly ProviderEntry[]
}

/** Starts an upstream that fails, and behind it one of each format, which says a text. */
export function behindFailing({ protocol }: FormatFake, text: string): BehindFailing {
  const first = faultUpstream(status(500))
  const others = formatFakes.map(([, fake]) => faultUpstream(fake.says(text)))
  const models = formatFakes.map((_, index) => `m${index}`)
  return {
    first,
    others,
    providers: [
      provider('first', first.url, models, { protocol }),
      ...formatFakes.map(([, fake], index) =>
        provider(`p${index}`, others[index]?.url ?? '', [`m${index}`], { protocol: fake.protocol }),
      ),
    ],
  }
}
