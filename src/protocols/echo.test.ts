import { describe, expect, test } from 'bun:test'
import type { Part } from '../formats/part.ts'
import type { Call } from '../service/service.ts'
import { echo } from './echo.ts'
import { chatRequest, deltas, jsonOf } from './fixtures/load.ts'

const call: Call = { signal: new AbortController().signal, trail: [] }
const ask = (fields: Readonly<Record<string, unknown>>) => echo(() => 1_700_000_000_999)(chatRequest(fields), call)

async function stream(fields: Readonly<Record<string, unknown>>): Promise<readonly Part[]> {
  const reply = await ask({ ...fields, stream: true })
  if (reply.kind !== 'stream') throw new Error('not a stream')
  const parts: Part[] = []
  for (let read = await reply.read(); read !== undefined; read = await reply.read()) {
    expect(read).toHaveLength(1)
    parts.push(...read)
  }
  return parts
}

const asking = (content: unknown) => ({
  messages: [
    { role: 'system', content: 'Be kind' },
    { role: 'user', content },
  ],
})

describe('the echo', () => {
  test("answers with the caller's last message, and usage in words", async () => {
    const reply = await ask(asking('Hello there, world'))
    if (reply.kind !== 'whole') throw new Error('not whole')
    const { id, ...answer } = jsonOf(reply.body)
    expect(id).toStartWith('chatcmpl-')
    expect(answer).toEqual({
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'asked-for',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there, world', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    })
    expect(reply.usage).toEqual({ promptTokens: 5, completionTokens: 3, totalTokens: 8 })
  })

  const contents: readonly (readonly [unknown, string])[] = [
    [
      [
        { type: 'text', text: 'What is' },
        { type: 'text', text: 'this?' },
      ],
      'What is this?',
    ],
    [
      [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
      'See [image_url]',
    ],
    ['', ''],
    ['  spaces  kept  ', '  spaces  kept  '],
  ]
  test.each(contents)('of %j is %j', async (content, expected) => {
    const reply = await ask(asking(content))
    if (reply.kind !== 'whole') throw new Error('not whole')
    expect(jsonOf(reply.body)).toMatchObject({ choices: [{ message: { content: expected } }] })
  })

  test.each(['Hello there, world', 'one', 'Grüße  an\n\nalle 🌍 ', '  first'])(
    'streams %j word by word, nothing lost',
    async (content) => {
      const parts = await stream(asking(content))
      expect(parts.map(({ text }) => text).join('')).toBe(content)
      expect(
        deltas(parts)
          .map((delta) => (typeof delta === 'object' && delta !== null && 'content' in delta ? delta.content : ''))
          .join(''),
      ).toBe(content)
      expect(parts.filter(({ text }) => text !== '').length).toBe(content.match(/\S+\s*|^\s+/g)?.length ?? 0)
      expect(parts.at(-1)?.finishReason).toBe('stop')
    },
  )

  test('streams usage when it was asked for', async () => {
    const last = (await stream({ ...asking('Hi'), stream_options: { include_usage: true } })).at(-1)
    expect(last === undefined ? undefined : jsonOf(last.data)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  })

  test('reports usage to the log, unasked', async () => {
    const parts = await stream(asking('Hi'))
    expect(parts.at(-1)?.usage).toEqual({ promptTokens: 3, completionTokens: 1, totalTokens: 4 })
    for (const { data } of parts) expect(jsonOf(data)).not.toHaveProperty('usage')
  })

  test('ends when it is cancelled', async () => {
    const reply = await ask({ ...asking('one two three'), stream: true })
    if (reply.kind !== 'stream') throw new Error('not a stream')
    await reply.read()
    reply.cancel()
    expect(await reply.read()).toBeUndefined()
  })
})
