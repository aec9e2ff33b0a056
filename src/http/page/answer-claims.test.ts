import { expect, test } from 'bun:test'
import { AnswerClaims } from './answer-claims.ts'

const name = { owner: 'a', id: 'x' }

test('one process answers, until it gives the answer up or ends', () => {
  const claims = new AnswerClaims<string>()
  expect([claims.claim(name, 'one'), claims.claim(name, 'two'), claims.claim(name, 'one')]).toEqual([true, false, true])
  expect([claims.claim({ ...name, owner: 'b' }, 'two'), claims.claim({ ...name, id: 'y' }, 'two')]).toEqual([
    true,
    true,
  ])
  claims.release(name, 'two')
  expect(claims.claim(name, 'two')).toBe(false)
  claims.release(name, 'one')
  expect([claims.claim(name, 'two'), claims.claim(name, 'one')]).toEqual([true, false])
  claims.left('two')
  expect(claims.claim(name, 'one')).toBe(true)
})

test('the oldest claims are forgotten', () => {
  const claims = new AnswerClaims<string>()
  for (let count = 0; count < 20_000; count += 1) claims.claim({ owner: 'a', id: String(count) }, 'one')
  expect([0, 19_999].map((id) => claims.claim({ owner: 'a', id: String(id) }, 'two'))).toEqual([true, false])
})
