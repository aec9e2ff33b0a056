import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatLanguage } from '../fakes/languages/chat.ts'
import { geminiLanguage } from '../fakes/languages/gemini.ts'
import type { Language } from '../fakes/languages/language.ts'
import { chunk, done, event, framed, lastChunk, streamHead } from '../fakes/replies.ts'
import { startService, type ServiceUnderTest } from '../harness.ts'
import { ask, languages, stage, type Stage } from './stage.ts'

/**
 * Servers that send a finish reason with every event, or before the content (su-kaka/gcli2api#403,
 * songquanpeng/one-api#1408, Chevey339/kelivo#1003).
 */

const call = { index: 0, id: 'call_0', type: 'function', function: { name: 'find', arguments: '{"a":' } }
const rest = { index: 0, function: { arguments: '1}' } }
const candidate = (parts: readonly object[], finishReason?: string) =>
  event({
    candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
    responseId: 'r',
    modelVersion: 'm',
  })

const chatEvents = [chunk({ role: 'assistant', content: 'One ' }, 'stop'), chunk({ content: 'two.' }, 'stop')]
/** The last finish reason, in the words of each format. */
const length: Readonly<Record<string, string>> = {
  messages: 'max_tokens',
  responses: 'response.incomplete',
  gemini: 'MAX_TOKENS',
}
const providers: readonly {
  readonly id: string
  readonly language: Language
  readonly events: readonly string[]
  readonly finish?: typeof length
}[] = [
  {
    id: 'every-event',
    finish: length,
    language: chatLanguage,
    events: [...chatEvents.map(event), event(chunk({}, 'length')), done],
  },
  { id: 'no-marker', finish: length, language: chatLanguage, events: [...chatEvents, chunk({}, 'length')].map(event) },
  {
    id: 'pieces-of-a-call',
    language: chatLanguage,
    events: [
      ...[chunk({ content: 'One two.' }, 'stop'), chunk({ tool_calls: [call] }, 'stop')].map(event),
      ...[event(chunk({ tool_calls: [rest] }, 'tool_calls')), done],
    ],
  },
  {
    id: 'before-the-text',
    language: geminiLanguage,
    events: [
      candidate([], 'STOP'),
      candidate([{ text: 'One ' }]),
      candidate([{ text: 'two.' }]),
      candidate([], 'STOP'),
    ],
  },
]

let service: ServiceUnderTest
let upstream: Stage

beforeAll(async () => {
  upstream = stage()
  const whole = ({ events }: { readonly events: readonly string[] }) =>
    Buffer.concat([Buffer.from(streamHead), ...events.map(framed), lastChunk])
  const lost = ({ events }: { readonly events: readonly string[] }) =>
    Buffer.concat([Buffer.from(streamHead), ...events.slice(0, 2).map(framed)])
  service = await startService({
    providers: providers.flatMap((provider) => [
      upstream.add({
        ...{ id: provider.id, model: provider.id, language: provider.language },
        spoken: () => (exchange) => exchange.write(whole(provider)),
      }),
      upstream.add({
        ...{ id: `lost-${provider.id}`, model: `lost-${provider.id}`, language: provider.language },
        spoken: () => async (exchange) => {
          await exchange.write(lost(provider))
          exchange.reset()
        },
      }),
    ]),
  })
})
afterAll(async () => {
  upstream.stop()
  await service[Symbol.asyncDispose]()
})

describe.each(providers)('a stream of $id', ({ id, language, finish }) => {
  test.each(languages.filter((caller) => caller !== language))('reaches callers of $name whole', async (caller) => {
    const heard = await ask(service.url, caller, { model: id, stream: true })
    expect([heard.text, heard.error]).toEqual(['One two.', undefined])
    expect(heard.body).toContain(finish?.[caller.name] ?? 'One')
    expect(heard.calls.map(({ name, input }) => [name, input])).toEqual(
      id === 'pieces-of-a-call' ? [['find', { a: 1 }]] : [],
    )
  })

  test('reaches callers of the same format whole', async () => {
    const heard = await ask(service.url, language, { model: id, stream: true })
    expect([heard.text, heard.error]).toEqual(['One two.', undefined])
  })

  test.each(languages)('that is lost behind such a finish is a cut for callers of $name', async (caller) => {
    const heard = await ask(service.url, caller, { model: `lost-${id}`, stream: true })
    expect(heard.error).toBeDefined()
  })
})
