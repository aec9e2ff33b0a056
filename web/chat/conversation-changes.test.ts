import { describe, expect, test } from 'bun:test'
import type { Conversation } from '../history/conversation.ts'
import { parseConversation } from '../history/parse-conversation.ts'
import {
  adopt,
  canContinue,
  emptyConversation,
  isAnswering,
  messagesBefore,
  withMessage,
  withTree,
} from './conversation-changes.ts'
import { forkOf } from './fork.ts'
import { answerMessage, userMessage } from './testing.ts'

const settings = { system: '', parameters: {} }
const empty = emptyConversation('c', settings, 5)

describe('withTree', () => {
  const [first, second] = [userMessage('Hello there'), userMessage('Good morning')]

  test('derives the title from the first message that is shown', () => {
    expect(withTree(empty, { messages: [first, answerMessage()] }).title).toBe('Hello there')
    expect(withTree(empty, { messages: [first, second], leaf: second.id }).title).toBe('Good morning')
  })

  test('leaves a title that a person chose', () => {
    expect(withTree({ ...empty, title: 'Mine', isTitled: true }, { messages: [first] }).title).toBe('Mine')
  })
})

describe('forkOf', () => {
  const [question, answer] = [userMessage('a'), answerMessage({ status: 'streaming' })]
  const other = { ...answerMessage(), parent: question.id }
  const told: Conversation = {
    ...empty,
    title: 'T',
    isPinned: true,
    settings: { system: 's', parameters: {}, model: 'm' },
    messages: [question, { ...answer, parent: question.id }, other, { ...userMessage('b'), parent: answer.id }],
    leaf: answer.id,
  }

  test('has the shown messages until one, without other versions, and the settings', () => {
    const forked = forkOf(told, answer.id, 'forked', 9)
    expect(forked).toEqual({
      ...told,
      id: 'forked',
      title: 'T (fork)',
      isTitled: true,
      isPinned: false,
      created: 9,
      updated: 9,
      messages: [question, { ...answer, status: 'interrupted' }],
      leaf: undefined,
    })
    expect(parseConversation(forked).kind).toBe('ok')
    expect(forkOf(forked, question.id, 'newer', 9)).toMatchObject({ title: 'T (fork)', messages: [{ text: 'a' }] })
  })
})

describe('withMessage', () => {
  test('changes one message, and keeps the others as they are', () => {
    const [first, second] = [userMessage('a'), answerMessage()]
    const changed = withMessage({ ...empty, messages: [first, second] }, { ...second, text: 'b' })
    expect(changed.messages[0]).toBe(first)
    expect(changed.messages[1]).toMatchObject({ text: 'b' })
  })

  test('leaves it at its place in the tree', () => {
    const [first, second] = [userMessage('a'), { ...answerMessage(), parent: 'x' }]
    const { messages } = withMessage({ ...empty, messages: [first, second] }, { ...second, parent: 'y', text: 'b' })
    expect(messages[1]).toMatchObject({ text: 'b', parent: 'x' })
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
  test('is true while an answer of any version is streaming', () => {
    const [question, answer] = [userMessage('a'), answerMessage({ status: 'streaming' })]
    expect(isAnswering({ ...empty, messages: [question, answer] })).toBe(true)
    expect(isAnswering({ ...empty, messages: [question, answer, userMessage('b')], leaf: question.id })).toBe(true)
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
    ['another parent', { parent: 'x' }],
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
