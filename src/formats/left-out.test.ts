import { describe, expect, test } from 'bun:test'
import { targetWith } from '../profiles/testing.ts'
import { Changes } from '../service/changes.ts'
import { readChatRequest } from './chat/read-conversation.ts'
import { encodeJson } from './exact-json.ts'
import { readGeminiTools } from './gemini/read-tools.ts'
import { messages } from './messages/upstream.ts'
import { readResponsesTools } from './responses/read-tools.ts'
import { toolNames } from './responses/tool-names.ts'

describe('what a writer leaves out', () => {
  test.each([
    [{ seed: 1, presence_penalty: 1, frequency_penalty: 1, logprobs: true, logit_bias: {} }, 'claude-sonnet-4-5'],
    [{ temperature: 0.5, top_p: 0.9 }, 'claude-sonnet-4-5'],
    [{ temperature: 0.5, top_p: 0.9, top_k: 4, reasoning_effort: 'high', max_tokens: 30_000 }, 'claude-sonnet-4-5'],
  ])('is named: %o', (fields, model) => {
    const changes = new Changes()
    const said = [{ role: 'user', content: 'Hi' }]
    const conversation = readChatRequest(encodeJson({ model, messages: said, ...fields }), [])
    const body = Buffer.concat(messages.write(conversation, { ...targetWith(), model, isStream: false }, changes))
    const sent = Object.keys(JSON.parse(body.toString()))
    const kept = new Set([...sent, 'reasoning_effort'])
    expect([...changes.dropped].toSorted()).toEqual(
      Object.keys(fields)
        .filter((name) => !kept.has(name))
        .toSorted(),
    )
    expect(changes.dropped.length).toBeGreaterThan(0)
  })
})

describe('a request whose only tools cannot be sent', () => {
  test('is not sent', () => {
    const search = { tool: { type: 'web_search' }, namespace: undefined }
    expect(() => readResponsesTools([search], toolNames([]), {})).toThrow(/no tool but 'web_search'/)
    expect(() => readGeminiTools([{ googleSearch: {} }], {})).toThrow(/no tool but 'googleSearch'/)
  })

  test('is sent with another tool', () => {
    const search = { tool: { type: 'web_search' }, namespace: undefined }
    const other = { tool: { type: 'function', name: 'f' }, namespace: undefined }
    expect(readResponsesTools([search, other], toolNames([]), {}).functions).toHaveLength(1)
    expect(
      readGeminiTools([{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }], {}).functions,
    ).toHaveLength(1)
  })
})
