import { describe, expect, test } from 'bun:test'
import type { AnswerEvent, FinishReason } from './answer.ts'
import { completeCalls } from './complete-calls.ts'
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

function finished(reason: FinishReason | 'other', choice = 0): AnswerEvent {
  return { kind: 'finish', choice, reason, raw: reason }
}

describe('the calls of a translated answer', () => {
  test.each([
    ['one piece', ['{"a":1}']],
    ['several pieces, brackets in strings', ['{"a":"', '}\\"{', '"', '}']],
    ['none', []],
    ['blanks', ['  ']],
    ['text that is no JSON, for a custom tool', ['*** Begin Patch {']],
  ])('with complete arguments (%s) pass unchanged', (_name, pieces) => {
    const events = [...called(0, ...pieces), ended(0), finished('tool_calls')]
    expect(events.flatMap((event) => completeCalls()([event]))).toEqual(events)
    expect(completeCalls()(events)).toEqual(events)
  })

  test.each(['tool_calls', 'stop', 'other'] as const)('with incomplete ones do not finish with %s', (reason) => {
    const check = completeCalls()
    check([...called(0, '{}'), ...called(1, '{"a":')])
    expect(() => check([ended(0), ended(1), finished(reason)])).toThrow(MalformedAnswer)
  })

  test.each(['length', 'content_filter'] as const)(
    'with incomplete ones have no end before the finish %s',
    (reason) => {
      const check = completeCalls()
      check([...called(0, '{}'), ...called(1, '{"a":')])
      expect(check([ended(0), ended(1)])).toEqual([ended(0)])
      expect(check([finished(reason)])).toEqual([finished(reason)])
    },
  )

  test('of another choice do not matter', () => {
    const check = completeCalls()
    check(called(0, '{"a":'))
    expect(check([finished('stop', 1)])).toEqual([finished('stop', 1)])
  })
})
