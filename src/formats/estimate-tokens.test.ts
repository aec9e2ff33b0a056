import { describe, expect, test } from 'bun:test'
import { parseChatRequest } from './chat/request.ts'
import { textPart } from './chat/testing.ts'
import { answerQuarters, estimatedUsage, promptTokensOf } from './estimate-tokens.ts'

const head = { id: 'c', created: 1, model: 'm' }
const quartersOf = (text: string): number => answerQuarters(textPart(head, text))

function promptTokens(content: unknown, more: object = {}): number {
  return promptTokensOf(
    parseChatRequest(
      new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })),
    ),
  )
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

describe('the estimate of an answer', () => {
  test.each([
    ['four letters', 4],
    ['', 0],
    ['天气', 6],
  ])('counts %p as %i quarters of a token', (text, quarters) => {
    expect(quartersOf(text === 'four letters' ? 'word' : text)).toBe(quarters)
  })

  test('counts content other than text by its bytes, at least one token', () => {
    const beyond = (bytes: number) =>
      answerQuarters({ ...textPart(head, ''), isBeyondText: true, data: new Uint8Array(bytes) })
    expect([beyond(150), beyond(1_000)]).toEqual([4, 800])
  })
})

describe('an estimated usage', () => {
  test("is marked, and keeps the provider's counts", () => {
    expect(estimatedUsage(undefined, 10, 21)).toEqual({
      promptTokens: 10,
      completionTokens: 6,
      totalTokens: 16,
      isEstimated: true,
    })
    expect(
      estimatedUsage(
        { promptTokens: 7, completionTokens: 1, totalTokens: 8, cachedTokens: 3, cacheWriteTokens: 2 },
        10,
        20,
      ),
    ).toEqual({
      promptTokens: 7,
      completionTokens: 5,
      totalTokens: 12,
      cachedTokens: 3,
      cacheWriteTokens: 2,
      isEstimated: true,
    })
    expect(estimatedUsage({ promptTokens: 7, completionTokens: 9, totalTokens: 16 }, 10, 20)).toMatchObject({
      completionTokens: 9,
    })
  })
})
