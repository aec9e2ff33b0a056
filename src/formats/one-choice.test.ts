import { expect, test } from 'bun:test'
import type { AnswerEvent } from './answer.ts'
import { oneChoice } from './held-ending.ts'

const call = (choice: number, number: number): AnswerEvent => {
  return { kind: 'call', choice, call: number, id: `${choice}-${number}`, name: 'f', opaque: undefined }
}
const input = (choice: number, number: number): AnswerEvent => {
  return { kind: 'arguments', choice, call: number, text: '{}' }
}
const numbersOf = (events: readonly AnswerEvent[]) =>
  events.flatMap((event) => ('choice' in event ? [[event.choice, 'call' in event ? event.call : undefined]] : []))

test('an answer in several choices becomes one, with numbers of its own for each call', () => {
  const read = oneChoice()
  const first: readonly AnswerEvent[] = [{ kind: 'text', choice: 0, text: 'Hi' }, call(0, 1), input(0, 1)]
  expect(read(first)).toBe(first)
  expect(numbersOf(read([call(1, 0), input(0, 1), input(1, 0), call(1, 1), call(0, 2)]))).toEqual([
    [0, 2],
    [0, 1],
    [0, 2],
    [0, 3],
    [0, 4],
  ])
  expect(numbersOf(read([{ kind: 'finish', choice: 1, reason: 'stop', raw: 'stop' }]))).toEqual([[0, undefined]])
})
