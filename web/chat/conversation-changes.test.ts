import { describe, expect, test } from 'bun:test'
import {
  adopt,
  canContinue,
  emptyConversation,
  isAnswering,
  messagesBefore,
  withMessage,
  withMessages,
} from './conversation-changes.ts'
import { answerMessage, userMessage } from './testing.ts'

const settings = { system: '', parameters: {} }
const empty = emptyConversation('c', settings, 5)

describe('withMessages', () => {
  test('derives the title from the first message', () => {
    expect(withMessages(empty, [userMessage('Hello there'), answerMessage()], 9)).toMatchObject({
      title: 'Hello there',
      updated: 9,
      created: 5,
    })
  })

  test('leaves a title that a person chose', () => {
    expect(withMessages({ ...empty, title: 'Mine', isTitled: true }, [userMessage('Hello there')], 9).title).toBe(
      'Mine',
    )
  })
})

describe('withMessage', () => {
  test('changes one message, and keeps the others as they are', () => {
    const [first, second] = [userMessage('a'), answerMessage()]
    const changed = withMessage({ ...empty, messages: [first, second] }, { ...second, text: 'b' })
    expect(changed.messages[0]).toBe(first)
    expect(changed.messages[1]).toMatchObject({ text: 'b' })
  })
})

describe('messagesBefore', () => {
  test('returns the messages before a message', () => {
    const messages = [userMessage('a'), answerMessage(), userMessage('b')]
    expect(messagesBefore(messages, messages[2]?.id ?? '')).toEqual(messages.slice(0, 2))
    expect(messagesBefore(messages, 'unknown')).toEqual(messages)
  })
})

describe('isAnswering', () => {
  test('is true while the last message is streaming', () => {
    expect(isAnswering({ ...empty, messages: [userMessage('a'), answerMessage({ status: 'streaming' })] })).toBe(true)
    expect(isAnswering({ ...empty, messages: [userMessage('a'), answerMessage()] })).toBe(false)
    expect(isAnswering(empty)).toBe(false)
  })
})

describe('canContinue', () => {
  test.each([
    ['interrupted', {}, true],
    ['stopped', {}, true],
    ['failed', {}, true],
    ['complete', {}, false],
    ['streaming', {}, false],
    ['complete', { finishReason: 'length' }, true],
    ['interrupted', { text: ' ' }, false],
  ] as const)('an answer that is %s %p: %p', (status, more, expected) => {
    expect(canContinue(answerMessage({ status, ...more }))).toBe(expected)
  })
})

describe('adopt', () => {
  const image = { id: 'i', name: '', dataUrl: 'data:,', width: 1, height: 1 }
  const question = userMessage('a', [image])
  const answer = answerMessage({ provenance: { requestId: 'r', trail: [] } })
  const shown = { ...empty, messages: [question, answer] }

  test('keeps the identity of equal messages', () => {
    const adopted = adopt(shown, { ...structuredClone(shown), title: 'other' })
    expect(adopted.title).toBe('other')
    expect(adopted.messages[0]).toBe(question)
    expect(adopted.messages[1]).toBe(answer)
  })

  test.each([
    ['another text', { text: 'b' }],
    ['another state', { status: 'interrupted' }],
    ['other thoughts', { reasoning: 'x' }],
    ['an error', { error: { kind: 'network', message: '' } }],
    ['another origin', { provenance: { requestId: 's', trail: [] } }],
    ['log probabilities', { logprobs: [] }],
  ] as const)('takes a message with %s', (_, more) => {
    expect(adopt(shown, { ...shown, messages: [question, { ...answer, ...more }] }).messages[1]).toMatchObject(more)
  })

  test('adopts another image, a new message, and a removed one', () => {
    const other = { ...question, images: [{ ...image, id: 'j' }] }
    expect(adopt(shown, { ...shown, messages: [other] }).messages).toEqual([other])
    const more = userMessage('more')
    expect(adopt(shown, { ...shown, messages: [question, answer, more] }).messages[2]).toBe(more)
  })
})
