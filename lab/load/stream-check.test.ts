import { describe, expect, test } from 'bun:test'
import { streamCheck, type TokenFaults } from './stream-check.ts'
import {
  doneEvent,
  errorEventStart,
  finishEvent,
  orderBody,
  readOrder,
  readToken,
  roleEvent,
  tokenEvent,
} from './token-format.ts'

const tokens = [0, 1, 2].map((number) => tokenEvent('s-1', number, 1_700_000_000_000_000 + number))
const whole = [roleEvent, ...tokens, finishEvent, doneEvent]

function checked(events: readonly string[]): TokenFaults & { readonly isComplete: boolean } {
  const faults: TokenFaults = { seen: 0, lost: 0, garbled: 0, duplicated: 0 }
  const check = streamCheck('s-1', 3, faults)
  for (const event of events) check.take(event)
  return { isComplete: check.end(), ...faults }
}

const fine = { isComplete: true, seen: 3, lost: 0, garbled: 0, duplicated: 0 }
const [first = '', second = '', third = ''] = tokens

describe('a stream under check', () => {
  test('is complete with every token, the finish and the end', () => {
    expect(checked(whole)).toEqual(fine)
    expect(checked([': keep-alive', ...whole])).toEqual(fine)
  })

  test.each([
    ['lacks a token', [roleEvent, first, third, finishEvent, doneEvent], { lost: 1, seen: 2 }],
    ['breaks off', [roleEvent, first], { lost: 2, seen: 1 }],
    ['ends with an error', [roleEvent, first, `${errorEventStart}{}}`], { lost: 2, seen: 1 }],
    ['never finishes', [roleEvent, ...tokens, doneEvent], { garbled: 1 }],
    ['is not done', [roleEvent, ...tokens, finishEvent], {}],
    ['says a token twice', [roleEvent, first, first, second, third, finishEvent, doneEvent], { duplicated: 1 }],
    [
      'has two tokens in the wrong order',
      [roleEvent, second, first, third, finishEvent, doneEvent],
      { lost: 1, seen: 2, duplicated: 1 },
    ],
    [
      'has a byte that was never sent',
      [roleEvent, first, second.replace('index', 'indem'), third, finishEvent, doneEvent],
      { garbled: 1, lost: 1, seen: 2 },
    ],
    [
      'has a token of another stream',
      [roleEvent, first, second.replace('s-1', 's-2'), third, finishEvent, doneEvent],
      { garbled: 1, lost: 1, seen: 2 },
    ],
    ['has a token too many', [roleEvent, ...tokens, tokenEvent('s-1', 3, 1), finishEvent, doneEvent], { garbled: 1 }],
    ['goes on after its end', [...whole, doneEvent], { garbled: 1 }],
  ])('that %s is not', (_, events, found) => {
    expect(checked(events)).toEqual({ ...fine, isComplete: false, ...found })
  })
})

test('an order and a token are read as they were written', () => {
  const order = { name: 'a-1', stream: true, tokens: 7, paceMs: 20, holdMs: 3 }
  expect(readOrder(orderBody(order))).toEqual(order)
  expect(readToken(second)).toEqual({ name: 's-1', number: 1, sentUs: 1_700_000_000_000_001 })
})
