import { expect, test } from 'bun:test'
import type { AnswerEvent, FinishReason } from './answer.ts'
import { HeldEnding } from './held-ending.ts'

const text = (choice = 0): AnswerEvent => ({ kind: 'text', choice, text: 'Hi' })
const finish = (reason: FinishReason, choice = 0): AnswerEvent => ({ kind: 'finish', choice, reason, raw: reason })
const usage: AnswerEvent = { kind: 'usage', counts: { prompt: 1, completion: 2 }, own: undefined }
const call: AnswerEvent = { kind: 'call', choice: 0, call: 0, id: 'a', name: 'f', opaque: undefined }
const args: AnswerEvent = { kind: 'arguments', choice: 0, call: 0, text: '{}' }
const callEnd: AnswerEvent = { kind: 'callEnd', choice: 0, call: 0 }

test('content behind a finish is passed on, and the last finish comes at the end', () => {
  const ending = new HeldEnding()
  expect(ending.hold([text(), finish('stop')])).toEqual([text()])
  expect(ending.hold([usage])).toEqual([])
  expect(ending.hold([call, args, callEnd, finish('tool_calls')])).toEqual([call, args])
  expect(ending.hold([text(), usage])).toEqual([text()])
  expect(ending.release()).toEqual([callEnd, finish('tool_calls'), usage])
})

test('a call that ends without a finish is passed on whole, and so is usage', () => {
  const events = [call, args, callEnd, usage]
  expect(new HeldEnding().hold(events)).toBe(events)
})

test('an answer is whole when every choice that has begun has its finish', () => {
  const ending = new HeldEnding()
  expect(ending.isWhole).toBe(false)
  ending.hold([text(), text(1), finish('stop')])
  expect(ending.isWhole).toBe(false)
  ending.hold([finish('length', 1)])
  expect(ending.isWhole).toBe(true)
  ending.hold([text()])
  expect(ending.isWhole).toBe(true)
})
