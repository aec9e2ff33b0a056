import { describe, expect, test } from 'bun:test'
import { answerBackup } from './answer-backup.ts'
import { emptyConversation, lastAnswer } from './conversation-changes.ts'
import { answerMessage, userMessage } from './testing.ts'

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const stored = new Map<string, string>()
  return {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  }
}

const stored = answerMessage({ text: 'Half', reasoning: 'Hm', status: 'interrupted' })
const conversation = {
  ...emptyConversation('c', { system: '', parameters: {} }, 0),
  messages: [userMessage('a'), stored],
}

describe('answerBackup', () => {
  test('restores the last words, once', () => {
    const { put, take } = answerBackup(storage())
    put('c', { ...stored, text: 'Half of it', reasoning: 'Hmm' })
    expect(lastAnswer(take(conversation))).toMatchObject({
      text: 'Half of it',
      reasoning: 'Hmm',
      status: 'interrupted',
    })
    expect(take(conversation)).toBe(conversation)
  })

  test.each([
    ['of another conversation', 'd', stored.id, 'Half of it', 'interrupted'],
    ['of another answer', 'c', 'x', 'Half of it', 'interrupted'],
    ['of another attempt', 'c', stored.id, 'Other', 'interrupted'],
    ['of an answer that is complete', 'c', stored.id, 'Half of it', 'complete'],
  ] as const)('ignores a backup %s', (_, id, messageId, text, status) => {
    const { put, take } = answerBackup(storage())
    put(id, { ...stored, id: messageId, text })
    const now = { ...conversation, messages: [userMessage('a'), { ...stored, status }] }
    expect(lastAnswer(take(now))).toMatchObject({ text: 'Half', status })
  })

  test.each(['{"id":', 'null', '{"id":1}'])('ignores invalid content: %s', (text) => {
    const own = storage()
    own.setItem('svc.rescued.c', text)
    expect(answerBackup(own).take(conversation)).toBe(conversation)
  })

  test('works without storage, or with a full one', () => {
    expect(answerBackup(undefined).take(conversation)).toBe(conversation)
    const full = {
      ...storage(),
      setItem: () => {
        throw new Error('full')
      },
    }
    expect(() => answerBackup(full).put('c', stored)).not.toThrow()
  })
})
