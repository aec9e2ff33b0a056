import { describe, expect, test } from 'bun:test'
import { chat } from './chat/format.ts'
import { parseChatRequest } from './chat/request.ts'
import { textPart } from './chat/testing.ts'
import { answerBytes, usualTokens, wholeAnswerBytes } from './size.ts'

const head = { id: 'c', created: 1, model: 'm' }
const bytesOf = (text: string): number => answerBytes(textPart(head, text))

function promptTokens(content: unknown, more: object = {}): number {
  const body = new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }))
  return usualTokens(chat.demand(parseChatRequest(body)).prompt)
}

describe('the estimate of a prompt', () => {
  test('is a quarter of the bytes of messages and tools', () => {
    expect(promptTokens('x'.repeat(400))).toBeWithin(100, 115)
    expect(
      promptTokens('x'.repeat(400), {
        tools: [{ type: 'function', function: { name: 'f', description: 'y'.repeat(400) } }],
      }),
    ).toBeWithin(200, 230)
    expect(promptTokens('x', { metadata: { note: 'z'.repeat(4_000) } })).toBeLessThan(20)
  })

  test.each([20_000, 2_000_000])('counts a picture of %i bytes as 800 tokens', (bytes) => {
    const part = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } }
    expect(promptTokens([{ type: 'text', text: 'x'.repeat(400) }, part])).toBeWithin(900, 950)
    expect(promptTokens([part, part])).toBeWithin(1_600, 1_650)
  })
})

test('a prompt with pictures at an address, or in base64 of other formats, counts their number', () => {
  const url = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }
  const base64 = { type: 'image', source: { type: 'base64', data: 'A'.repeat(4_000) } }
  expect(promptTokens([url])).toBeWithin(800, 840)
  expect(promptTokens([base64])).toBeWithin(800, 840)
})

test('a whole answer counts without its frame, as a token at least, and as nothing without content', () => {
  const bytesOf = (bytes: number, isBlank = false, isPromptOnly?: true) =>
    wholeAnswerBytes(
      { ...(isPromptOnly && { isPromptOnly }) },
      { kind: 'whole', body: new Uint8Array(bytes), usage: undefined, isEmpty: false, isBlank },
    )
  expect([bytesOf(1_400), bytesOf(50), bytesOf(1_400, true), bytesOf(1_400, false, true)]).toEqual([1_000, 4, 0, 0])
})

describe('the estimate of an answer', () => {
  test.each([
    ['four letters', 4],
    ['', 0],
    ['天气', 6],
  ])('counts %p as %i bytes', (text, bytes) => {
    expect(bytesOf(text === 'four letters' ? 'word' : text)).toBe(bytes)
  })

  test('counts content other than text by its bytes, at least one token', () => {
    const beyond = (bytes: number) =>
      answerBytes({ ...textPart(head, ''), isBeyondText: true, data: new Uint8Array(bytes) })
    expect([beyond(150), beyond(1_000)]).toEqual([4, 800])
  })
})
