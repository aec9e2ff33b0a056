import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../base/json-value.ts'
import { encode } from '../bytes/text.ts'
import type { FormatName } from '../formats/ask.ts'
import { objectsOf } from '../formats/exact-json.ts'
import { formats } from '../formats/format-list.ts'
import { anthropic } from './anthropic.ts'
import { endpointAt, jsonOf } from './fixtures/load.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Protocol } from './protocol.ts'

const turnCount = 50
const endpoint = endpointAt('https://api.example.com/v1')

/** The messages of the first turns of one conversation: a question, a call, its result, and an answer each. */
const callers: readonly (readonly [FormatName, (turns: number) => JsonObject])[] = [
  [
    'chat',
    (turns) => ({
      messages: repeated(turns, (turn) => [
        { role: 'user', content: `question ${turn}` },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Hm.',
          tool_calls: [{ id: `c${turn}`, type: 'function', function: { name: 'f', arguments: `{"turn":${turn}}` } }],
        },
        { role: 'tool', tool_call_id: `c${turn}`, content: 'result' },
        { role: 'assistant', content: 'answer' },
      ]),
    }),
  ],
  [
    'messages',
    (turns) => ({
      max_tokens: 9,
      system: [
        { type: 'text', text: `x-anthropic-billing-header: version ${turns}` },
        { type: 'text', text: 'Be brief.' },
      ],
      messages: repeated(turns, (turn) => [
        { role: 'user', content: `question ${turn}` },
        { role: 'assistant', content: [{ type: 'tool_use', id: `c${turn}`, name: 'f', input: { turn } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${turn}`, content: 'result' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'answer' },
          ],
        },
      ]),
    }),
  ],
  [
    'responses',
    (turns) => ({
      instructions: 'Be brief.',
      input: repeated(turns, (turn) => [
        { role: 'user', content: `question ${turn}` },
        { type: 'function_call', call_id: `c${turn}`, name: 'f', arguments: `{"turn":${turn}}` },
        { type: 'function_call_output', call_id: `c${turn}`, output: 'result' },
        { role: 'assistant', content: 'answer' },
      ]),
    }),
  ],
  [
    'gemini',
    (turns) => ({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: repeated(turns, (turn) => [
        { role: 'user', parts: [{ text: `question ${turn}` }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            // Half of the calls have no id, as those of older models.
            { functionCall: { name: 'f', args: { turn }, ...(turn % 2 === 0 ? {} : { id: `c${turn}` }) } },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'result' } } }] },
        // Clients keep the pieces of a stream.
        { role: 'model', parts: [{ text: 'ans' }] },
        { role: 'model', parts: [{ text: 'wer' }] },
      ]),
    }),
  ],
]

function repeated(turns: number, turnOf: (turn: number) => readonly JsonObject[]): readonly JsonObject[] {
  return Array.from({ length: turns }, (_, turn) => turnOf(turn)).flat()
}

const upstreams: readonly (readonly [string, Protocol, string])[] = [
  ['chat completions', openai, 'messages'],
  ['Anthropic', anthropic, 'messages'],
  ['Gemini', gemini, 'contents'],
]

describe.each(upstreams)('the prompt at %s', (_upstream, { dialects }, member) => {
  test.each(callers)('of callers of %s begins with the same bytes in each turn, as caches need', (name, requestOf) => {
    const format = formats[name]
    const envelope = { path: format.path.replace('{model}', 'm'), headers: new Headers(), parameter: () => null }
    let before: readonly string[] = []
    let head = ''
    for (let turns = 1; turns <= turnCount; turns++) {
      const ask = format.check(encode(JSON.stringify({ model: 'm', ...requestOf(turns) })), envelope)
      const body = jsonOf(Buffer.concat([...(dialects[name]?.encode(ask, 'm', endpoint) ?? [])]))
      const written = objectsOf(body[member]).map((message) => JSON.stringify(message))
      expect(written.slice(0, before.length)).toEqual([...before])
      expect(written.length).toBeGreaterThan(before.length)
      const { [member]: _messages, ...rest } = body
      if (turns > 1 && dialects[name]?.isNative !== true) expect(JSON.stringify(rest)).toBe(head)
      head = JSON.stringify(rest)
      before = written
    }
  })
})
