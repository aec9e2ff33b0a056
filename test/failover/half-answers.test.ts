import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseJson, pick } from '../client.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { isStream } from '../fakes/good.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead } from '../fakes/replies.ts'
import { startRigs, type Rigs, type Row } from '../rig.ts'

/** Answers of chat completions that look like successes, and that another format must not make into one. */
const halfAnswers: readonly (readonly [words: string, message: object, finish: string, text: string])[] = [
  ['whose finish is an error', {}, 'error', 'Half'],
  ['whose finish is an overload', {}, 'overloaded_error', ''],
  [
    'with a call without a name',
    { tool_calls: [callOf({ function: { name: '', arguments: '{}' } })] },
    'tool_calls',
    '',
  ],
  [
    'with a call of a custom tool',
    { tool_calls: [callOf({ type: 'custom', custom: { name: 'f', input: 'x' } })] },
    'stop',
    '',
  ],
  [
    'with text behind the arguments of a call',
    { tool_calls: [callOf({ function: { name: 'f', arguments: '{}{"a":1}' } })] },
    'stop',
    '',
  ],
  ['whose finish names a call that is missing', {}, 'tool_calls', ''],
]

function callOf(members: object): object {
  return { index: 0, id: 'call_0', type: 'function', ...members }
}

function answers(message: object, finish: string, text: string): Script {
  return (exchange) =>
    isStream(exchange)
      ? exchange.write(
          Buffer.concat([
            Buffer.from(streamHead),
            ...[
              event(chunk({ role: 'assistant', content: text })),
              event(chunk(message)),
              event(chunk({}, finish)),
              done,
            ].map(framed),
            lastChunk,
          ]),
        )
      : exchange.write(reply(200, JSON.stringify(completion(text, { message, choice: { finish_reason: finish } }))))
}

/** Callers of formats other than that of the providers. */
const callers = [
  {
    name: 'Messages',
    path: () => '/v1/messages',
    body: { max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
    textOf: (json: unknown) => pick(json, 'content', 0, 'text'),
    hasEnded: (text: string) => /message_delta|message_stop|content_block_stop/.test(text),
  },
  {
    name: 'Responses',
    path: () => '/v1/responses',
    body: { input: 'hi' },
    textOf: (json: unknown) => pick(json, 'output', 0, 'content', 0, 'text'),
    hasEnded: (text: string) => /response\.completed|response\.incomplete|(?:item|arguments)\.done/.test(text),
  },
  {
    name: 'Gemini',
    path: (model: string, stream: boolean) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    textOf: (json: unknown) => pick(json, 'candidates', 0, 'content', 'parts', 0, 'text'),
    hasEnded: (text: string) => /finishReason|functionCall/.test(text),
  },
]

describe.each(callers)('for callers of $name, an answer', ({ name, path, body, textOf, hasEnded }) => {
  let rigs: Rigs
  beforeAll(async () => {
    rigs = await startRigs(
      halfAnswers.flatMap(([, message, finish, text]) => [
        [answers(message, finish, text), answers({}, 'stop', 'Whole.')],
        [answers(message, finish, text)],
      ]),
    )
  })
  afterAll(() => rigs[Symbol.asyncDispose]())

  async function ask({ service, model }: Row, stream: boolean) {
    const response = await fetch(`${service.url}${path(model, stream)}`, {
      method: 'POST',
      body: JSON.stringify(name === 'Gemini' ? body : { model, stream, ...body }),
    })
    return { status: response.status, text: await response.text() }
  }

  for (const [index, [words]] of halfAnswers.entries()) {
    test(`${words} › moves on`, async () => {
      const row = rigs.row(2 * index)
      const { status, text } = await ask(row, false)
      expect([status, textOf(parseJson(text))]).toEqual([200, 'Whole.'])
      expect(row.hits()).toEqual([1, 1])
    })

    test(`${words} › is no complete stream`, async () => {
      const row = rigs.row(2 * index + 1)
      const { text } = await ask(row, true)
      expect([/"error"/.test(text), hasEnded(text)]).toEqual([true, false])
    })
  }
})
