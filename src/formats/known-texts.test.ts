import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encode } from '../bytes/text.ts'
import { generateContent } from './gemini/upstream.ts'
import { knownTexts } from './known-texts.ts'
import { messages } from './messages/upstream.ts'

const text = fc.oneof(
  fc.constantFrom('a', ' b', 'é', 'c"d', '\n', '', 'text', '12', 'STOP'),
  fc.string({ maxLength: 5 }),
)
const count = fc.nat({ max: 30 })
const geminiEvents = fc
  .tuple(text, count, count, fc.constantFrom(undefined, 'STOP'), fc.boolean())
  .map(([said, prompt, answer, finishReason, thought]) => ({
    candidates: [{ content: { parts: [{ text: said, ...(thought ? { thought } : {}) }] }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: answer, totalTokenCount: prompt + answer },
    responseId: 'r1',
  }))
const messagesEvents = fc.oneof(
  fc.tuple(text, count).map(([said, index]) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text: said },
  })),
  count.map((input_tokens) => ({ type: 'message_delta', delta: {}, usage: { input_tokens, output_tokens: 1 } })),
)

/** The parts that are read from a stream of these events; `before` precedes each, so that none is like another. */
function eventsOf(format: typeof messages, events: readonly object[], before: (index: number) => string): unknown {
  const reader = format.answerReader()
  const read = events.map((event, index) =>
    reader.read({ event: '', data: encode(before(index) + JSON.stringify(event)) }),
  )
  return [...read, reader.end()]
}

describe('events that are like earlier ones', () => {
  test.each([
    ['Gemini', generateContent, geminiEvents],
    ['Messages', messages, messagesEvents],
  ] as const)('of %s are read as if they were parsed', (_, format, event) => {
    fc.assert(
      fc.property(fc.array<object>(event, { maxLength: 12 }), (events) => {
        const parsed = eventsOf(format, events, (index) => ' '.repeat(index + 1))
        expect(eventsOf(format, events, () => '')).toEqual(parsed)
      }),
      { numRuns: 300 },
    )
  })

  test('are those with another text and other numbers', () => {
    const texts = knownTexts()
    const event = (said: string, number: number) => encode(JSON.stringify({ n: number, text: said, of: 'x' }))
    texts.keep('e', event('Hi', 1), [{ kind: 'text', choice: 0, text: 'Hi' }])
    expect(texts.read('e', event(' you', 23))).toEqual({ kind: 'text', choice: 0, text: ' you' })
    for (const other of [event('', 1), event('é', 1), encode('{"n":1,"text":"a","of":"y"}'), encode('{}')])
      expect(texts.read('e', other)).toBeUndefined()
    expect(texts.read('f', event('a', 1))).toBeUndefined()
  })

  test('are not those with a text that is there twice, or with more content', () => {
    const data = encode('{"text":"x","of":"x"}')
    const texts = knownTexts()
    texts.keep('', data, [{ kind: 'text', choice: 0, text: 'x' }])
    texts.keep('', encode('{"text":"y"}'), [{ kind: 'text', choice: 0, text: 'y' }, { kind: 'finish' }])
    texts.keep('', encode('{"text":"y"}'), 'done')
    for (const each of [data, encode('{"text":"y"}')]) expect(texts.read('', each)).toBeUndefined()
  })
})
