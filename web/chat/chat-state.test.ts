import { describe, expect, test } from 'bun:test'
import { withAdded } from '../history/tree.ts'
import { initialState, isHidden, lostAnswer, parentOf, retryOf, steps, type ChatState } from './chat-state.ts'
import { resumed } from './conversation-changes.ts'
import { answerMessage, userMessage } from './testing.ts'

const question = userMessage('first question')
const answer = answerMessage({ provenance: { requestId: 'r', trail: [] } })

/** The state of a conversation with a question and its answer. */
function answeredState(): ChatState {
  const begun = initialState('c', { system: 's', parameters: {} }, 1)
  return { ...begun, conversation: { ...begun.conversation, messages: [question, answer] } }
}

const textsOf = ({ conversation }: ChatState): readonly string[] => conversation.messages.map(({ text }) => text)

describe('chat state', () => {
  test('of a stored conversation is loading, and of a new one ready', () => {
    expect(initialState('c', undefined, 1)).toMatchObject({ phase: 'loading', conversation: { id: 'c', created: 1 } })
    expect(initialState('c', { system: 's', parameters: {} }, 1).phase).toBe('ready')
  })

  test('has the failure of the last write, until one succeeds', () => {
    const failure = new Error('full')
    const failed = steps.saved(failure)(answeredState())
    expect(failed.failure).toBe(failure)
    expect(steps.saved(failure)(failed)).toBe(failed)
    expect('failure' in steps.saved(undefined)(failed)).toBe(false)
  })

  test('keeps the conversation through the phases', () => {
    const state = answeredState()
    const missing = steps.missing(state)
    expect(missing).toEqual({ ...state, phase: 'missing' })
    expect(steps.restored(missing)).toEqual(state)
    expect(steps.unreadable(new Error('damaged'))(state)).toMatchObject({
      phase: 'unreadable',
      failure: Error('damaged'),
    })
  })

  test('with a new request has its model and title, and no deletion to undo', () => {
    const removed = steps.removed(question.id, 2)(answeredState())
    const [asked, started] = [userMessage('another'), resumed(answerMessage({ text: '' }), 'live')]
    const state = steps.asked(
      withAdded({ messages: [], leaf: undefined }, undefined, [asked, started]),
      started,
      'm',
      3,
    )(removed)
    expect(state).toMatchObject({ isAnsweredElsewhere: false, conversation: { title: 'another', updated: 3 } })
    expect(state.conversation.settings).toEqual({ system: 's', parameters: {}, model: 'm' })
    expect(state.conversation.messages[1]).toMatchObject({ status: 'streaming', live: { id: 'live' } })
    expect('undeleted' in state).toBe(false)
  })

  test('without a message has it again after undo, which may be dismissed', () => {
    const removed = steps.removed(answer.id, 2)(answeredState())
    expect(textsOf(removed)).toEqual(['first question'])
    const undone = steps.undone(3)(removed)
    expect(textsOf(undone)).toEqual(['first question', 'answer'])
    expect(undone.conversation.updated).toBe(3)
    expect(steps.undone(4)(undone)).toBe(undone)
    expect(steps.undone(4)(steps.undoDismissed(removed)).conversation).toBe(removed.conversation)
  })

  test('takes the record of the shown request alone', () => {
    const state = answeredState()
    const record = { time: 0, id: 'r', model: 'm', api: 'chat', stream: true, status: 200, trail: [], totalMs: 9 }
    expect(steps.recorded(answer.id, record)(state).conversation.messages[1]).toMatchObject({
      provenance: { requestId: 'r', totalMs: 9 },
    })
    expect(steps.recorded(answer.id, { ...record, id: 'other' })(state)).toBe(state)
    expect(steps.recorded(question.id, record)(state)).toBe(state)
  })

  test('of an answer that is gone has nothing to take up', () => {
    const begun = steps.changed({ ...answer, status: 'interrupted', live: { id: 'l', text: 0, reasoning: 0 } })(
      answeredState(),
    )
    expect(lostAnswer(begun.conversation)?.id).toBe(answer.id)
    expect(lostAnswer(steps.gone(answer.id)(begun).conversation)).toBeUndefined()
  })

  test('keeps other identities when one message changes', () => {
    const state = steps.answered({ ...answer, text: 'longer' }, 5)(answeredState())
    expect(textsOf(state)).toEqual(['first question', 'longer'])
    expect(state.conversation.messages[0]).toBe(question)
    expect(state.conversation.updated).toBe(5)
  })

  test('has a title that was made until it is chosen, and one of the first question before', () => {
    const retitled = steps.retitled(answeredState())
    expect(retitled.conversation).toMatchObject({ title: 'first question', isTitled: false })
    expect(steps.retitled(retitled)).toBe(retitled)
    expect(steps.titled('short')(retitled).conversation).toMatchObject({ title: 'short', isTitled: true })
  })
})

describe('a retry', () => {
  const { conversation } = answeredState()

  test('adds a version after the question', () => {
    expect(retryOf(conversation)).toEqual({ tree: conversation, parent: question.id })
    expect(retryOf(conversation, answer.id)).toEqual({ tree: conversation, parent: question.id })
  })

  test('follows a question without an answer', () => {
    expect(retryOf({ ...conversation, messages: [question] }).parent).toBe(question.id)
  })

  test('replaces an answer without content', () => {
    const { tree, parent } = retryOf({ ...conversation, messages: [question, answerMessage({ text: '' })] })
    expect(tree.messages).toEqual([question])
    expect(parent).toBe(question.id)
  })

  test('hides the version before it', () => {
    const { tree, parent } = retryOf(conversation)
    const versions = { ...conversation, ...withAdded(tree, parent, [answerMessage()]) }
    expect(isHidden(versions, answer.id)).toBe(true)
    expect(isHidden(versions, question.id)).toBe(false)
    expect(isHidden(versions, 'unknown')).toBe(false)
    expect(parentOf(versions, question.id)).toBeUndefined()
  })
})
