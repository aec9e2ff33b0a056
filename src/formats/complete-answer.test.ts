import { describe, expect, test } from 'bun:test'
import type { AnswerEvent, FinishReason } from './answer.ts'
import { completeAnswer } from './complete-answer.ts'
import { MalformedAnswer } from './malformed-answer.ts'

function called(call: number, ...pieces: readonly string[]): readonly AnswerEvent[] {
  return [
    { kind: 'call', choice: 0, call, id: `call_${call}`, name: 'f', opaque: undefined },
    ...pieces.map((text): AnswerEvent => ({ kind: 'arguments', choice: 0, call, text })),
  ]
}

function ended(call: number): AnswerEvent {
  return { kind: 'callEnd', choice: 0, call }
}

function finished(reason: FinishReason, choice = 0, raw: string = reason): AnswerEvent {
  return { kind: 'finish', choice, reason, raw }
}

describe('the calls of a translated answer', () => {
  test('are 2,000 at most', () => {
    const calls = Array.from({ length: 2_000 }, (_, call) => call)
    const check = completeAnswer()
    for (const call of calls) check(called(call, '{}'))
    expect(check([...calls.map(ended), finished('tool_calls')])).toHaveLength(2_001)
    expect(() => check(called(2_000))).toThrow(/more than 2000 tool calls/)
  })

  test.each([
    ['one piece', ['{"a":1}']],
    ['several pieces, brackets in strings', ['{"a":"', '}\\"{', '"', '}']],
    ['text that is no JSON, for a custom tool', ['*** Begin Patch {']],
  ])('with complete arguments (%s) pass unchanged', (_name, pieces) => {
    const events = [...called(0, ...pieces), ended(0), finished('tool_calls')]
    const check = completeAnswer()
    expect(events.flatMap((event) => check([event]))).toEqual(events)
    expect(completeAnswer()(events)).toEqual(events)
  })

  test.each([
    ['none', []],
    ['blanks', ['  ']],
    ['null', ['null']],
    ['null in pieces', ['nu', 'll']],
    ['null in a JSON string', ['"null"']],
    ['an empty list', ['[]']],
  ])('with arguments that say nothing (%s) get an empty object', (_name, pieces) => {
    expect(completeAnswer()([...called(0, ...pieces), ended(0)])).toEqual([...called(0, '{}'), ended(0)])
  })

  test('without arguments have no end where the answer was cut', () => {
    for (const pieces of [[], ['nul']])
      expect(completeAnswer()([...called(0, ...pieces), ended(0), finished('length')])).toEqual([
        ...called(0),
        finished('length'),
      ])
  })

  test('with an object in a JSON string get the object', () => {
    const text = JSON.stringify('{"a":1}')
    const check = completeAnswer()
    const events = [...called(0, text.slice(0, 4), text.slice(4)), ended(0)].flatMap((event) => check([event]))
    expect(events).toEqual([...called(0, '{"a":1}'), ended(0)])
  })

  test('that have the same id get ids of their own', () => {
    const [one, other] = completeAnswer()([...called(0), { ...called(0)[0], call: 1 }] as AnswerEvent[])
    expect(one).toEqual(called(0)[0])
    expect(other).toEqual({ ...one, call: 1, id: expect.stringMatching(/^call_[0-9a-f]{32}$/) } as AnswerEvent)
  })

  test.each(['tool_calls', 'stop', 'other'] as const)('with incomplete ones do not finish with %s', (reason) => {
    const check = completeAnswer()
    check([...called(0, '{}'), ...called(1, '{"a":')])
    expect(() => check([ended(0), ended(1), finished(reason)])).toThrow(MalformedAnswer)
  })

  test.each(['length', 'content_filter'] as const)(
    'with incomplete ones have no end before the finish %s',
    (reason) => {
      const check = completeAnswer()
      check([...called(0, '{}'), ...called(1, '{"a":')])
      expect(check([ended(0), ended(1)])).toEqual([ended(0)])
      expect(check([finished(reason)])).toEqual([finished(reason)])
    },
  )

  test.each([
    ['a second object', ['{}', '{"a":1}']],
    ['the same object again', ['{"a":1}{"a":1}']],
    ['text', ['{"a":"}"} ', ' then']],
  ])('have nothing behind the end of their arguments but blanks: %s', (_name, pieces) => {
    expect(() => completeAnswer()(called(0, ...pieces))).toThrow(MalformedAnswer)
    expect(completeAnswer()(called(0, '{}', ' \n'))).toHaveLength(3)
  })

  test('are there if the answer finishes with them and has no text', () => {
    const thought: AnswerEvent = { kind: 'reasoning', choice: 0, text: 'I call it.' }
    expect(() => completeAnswer()([thought, finished('tool_calls')])).toThrow(MalformedAnswer)
    const said: AnswerEvent = { kind: 'text', choice: 0, text: 'No.' }
    const check = completeAnswer()
    expect([...check([said]), ...check([finished('tool_calls')])]).toHaveLength(2)
  })

  test.each([
    ['error', true],
    ['overloaded_error', true],
    ['Network error', true],
    ['aborted', true],
    ['cancelled', true],
    ['recitation', false],
    ['terror', false],
  ])('whose finish is %s have failed: %j', (raw, hasFailed) => {
    const check = () => completeAnswer()([finished('other', 0, raw)])
    if (hasFailed) expect(check).toThrow(MalformedAnswer)
    else expect(check()).toHaveLength(1)
  })

  test('of another choice do not matter', () => {
    const check = completeAnswer()
    check(called(0, '{"a":'))
    expect(check([finished('stop', 1)])).toEqual([finished('stop', 1)])
  })
})
