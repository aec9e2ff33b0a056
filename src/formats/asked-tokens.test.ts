import { describe, expect, test } from 'bun:test'
import type { FormatName } from './ask.ts'
import { askedTokens } from './asked-tokens.ts'
import { formats } from './format-list.ts'

function asked(name: FormatName, body: object, path: string = formats[name].path) {
  const envelope = { path, headers: new Headers(), parameter: () => null }
  return askedTokens(formats[name].check(new TextEncoder().encode(JSON.stringify(body)), envelope))
}

const messages = [{ role: 'user', content: 'x'.repeat(400) }]
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }]
const gemini = '/v1beta/models/m:generateContent'

describe('the tokens of an answer', () => {
  test.each([
    ['chat', { model: 'm', messages }, 1_024],
    ['chat', { model: 'm', messages, max_tokens: 7 }, 7],
    ['chat', { model: 'm', messages, max_tokens: 7, max_completion_tokens: 5, n: 3 }, 21],
    ['chat', { model: 'm', messages, max_tokens: null, n: null }, 1_024],
    ['chat', { model: 'm', messages, max_tokens: 1e9, n: 1e9 }, 131_072],
    ['messages', { model: 'm', messages, max_tokens: 9 }, 9],
    ['responses', { model: 'm', input: 'hello', max_output_tokens: 20 }, 20],
    ['gemini', { contents, generationConfig: { maxOutputTokens: 30, candidateCount: 2 } }, 60],
    ['gemini', { contents }, 1_024],
    ['completions', { model: 'm', prompt: 'hello', max_tokens: 4, n: 2 }, 8],
    ['embeddings', { model: 'm', input: 'hello' }, 0],
  ] as const)('%s %j: %d', (name, body, answer) => {
    expect(asked(name, body, name === 'gemini' ? gemini : undefined).answer).toBe(answer)
  })
})

test('the tokens of a prompt follow from its length', () => {
  expect(asked('chat', { model: 'm', messages }).prompt).toBeGreaterThan(100)
  expect(asked('completions', { model: 'm', prompt: 'x'.repeat(400) }).prompt).toBeGreaterThan(99)
  expect(asked('embeddings', { model: 'm', input: 'x'.repeat(400) }).prompt).toBeGreaterThan(99)
})
