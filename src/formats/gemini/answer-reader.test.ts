import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fixture, fixtureEvents } from '../../protocols/fixtures/load.ts'
import { objectOf, parseJson, parseJsonBytes } from '../exact-json.ts'
import { answerContract } from '../testing.ts'
import { readGeminiAnswer } from './answer-reader.ts'
import { generateContent } from './upstream.ts'

const name = fc.constantFrom('find', 'look')
const text = fc.constantFrom('', 'Good ', 'morning 🌅')
const functionCall = fc.record(
  { id: text, name, args: fc.constantFrom({}, { city: 'Rome' }), willContinue: fc.constant(true) },
  { requiredKeys: ['name'] },
)
const part = fc.record(
  {
    text,
    thought: fc.boolean(),
    thoughtSignature: text,
    functionCall,
    inlineData: fc.record({ mimeType: fc.constantFrom('image/png', 'image/webp'), data: text }),
  },
  { requiredKeys: [] },
)
const candidate = fc.record(
  {
    content: fc.record({ parts: fc.array(part, { maxLength: 3 }) }),
    finishReason: fc.constantFrom('STOP', 'SAFETY', 'MAX_TOKENS', 'MALFORMED_FUNCTION_CALL'),
  },
  { requiredKeys: ['content'] },
)
const events = fc.record(
  {
    responseId: text,
    candidates: fc.array(candidate, { maxLength: 2 }),
    usageMetadata: fc.record({ promptTokenCount: fc.nat(), thoughtsTokenCount: fc.nat() }),
    promptFeedback: fc.constant({ blockReason: 'SAFETY' }),
  },
  { requiredKeys: [] },
)

const names = ['gemini-text', 'gemini-calls', 'gemini-blocked']

answerContract(generateContent, {
  streams: names.map((name) => fixtureEvents(`${name}.jsonl`).map((line) => objectOf(parseJson(line)))),
  wholes: [objectOf(parseJsonBytes(fixture('gemini-response.json')))],
  events,
})

test.each([5e-324, -1, '0', null])('a candidate whose index is %j is counted', (odd) => {
  const candidates = [odd, odd].map((index) => ({ index, content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }))
  const choices = readGeminiAnswer({ candidates }).flatMap((event) => (event.kind === 'text' ? [event.choice] : []))
  expect(choices).toEqual([0, 1])
})
