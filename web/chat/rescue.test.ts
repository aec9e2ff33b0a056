import { describe, expect, test } from 'bun:test'
import { emptyConversation, lastAnswer } from './conversation-changes.ts'
import { rescue } from './rescue.ts'
import { answerMessage, userMessage } from './testing.ts'

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

const kept = answerMessage({ text: 'Half', reasoning: 'Hm', status: 'interrupted' })
const conversation = {
  ...emptyConversation('c', { system: '', parameters: {} }, 0),
  messages: [userMessage('a'), kept],
}

describe('rescue', () => {
  test('gives the last words back, once', () => {
    const { put, take } = rescue(storage())
    put('c', { ...kept, text: 'Half of it', reasoning: 'Hmm' })
    expect(lastAnswer(take(conversation))).toMatchObject({
      text: 'Half of it',
      reasoning: 'Hmm',
      status: 'interrupted',
    })
    expect(take(conversation)).toBe(conversation)
  })

  test.each([
    ['of another conversation', 'd', kept.id, 'Half of it', 'interrupted'],
    ['of another answer', 'c', 'x', 'Half of it', 'interrupted'],
    ['of another attempt', 'c', kept.id, 'Other', 'interrupted'],
    ['of an answer that went on', 'c', kept.id, 'Half of it', 'complete'],
  ] as const)('leaves what is %s', (_, id, messageId, text, status) => {
    const { put, take } = rescue(storage())
    put(id, { ...kept, id: messageId, text })
    const now = { ...conversation, messages: [userMessage('a'), { ...kept, status }] }
    expect(lastAnswer(take(now))).toMatchObject({ text: 'Half', status })
  })

  test.each(['{"id":', 'null', '{"id":1}'])('leaves what is none: %s', (text) => {
    const own = storage()
    own.setItem('svc.rescued.c', text)
    expect(rescue(own).take(conversation)).toBe(conversation)
  })

  test('does without a storage, or with one that is full', () => {
    expect(rescue(undefined).take(conversation)).toBe(conversation)
    const full = {
      ...storage(),
      setItem: () => {
        throw new Error('full')
      },
    }
    expect(() => rescue(full).put('c', kept)).not.toThrow()
  })
})
