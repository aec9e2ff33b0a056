import { expect, test } from 'bun:test'
import { ReusedHeaders } from './reply-headers.ts'

function written(to: ReusedHeaders, ...values: readonly (string | undefined)[]): Response {
  to.begin()
  for (const value of values) to.next(value)
  return new Response('', { headers: to.headers })
}

test('each response keeps the values that were written for it', () => {
  const headers = new ReusedHeaders(['content-type', 'x-a', 'x-b'])
  const first = written(headers, 'text/plain', '1', '2')
  const second = written(headers, 'text/plain', '3', '2')
  const third = written(headers, 'text/html', '3', '1')
  const all = [first, second, third].map((response) =>
    ['content-type', 'x-a', 'x-b'].map((n) => response.headers.get(n)),
  )
  expect(all).toEqual([
    ['text/plain', '1', '2'],
    ['text/plain', '3', '2'],
    ['text/html', '3', '1'],
  ])
})

test('an answer without a value does not have the header, and the next one may', () => {
  const headers = new ReusedHeaders(['x-a', 'x-b'])
  const all = [
    ['1', '2'],
    ['1', undefined],
    ['1', '2'],
  ].map((values) => written(headers, ...values).headers.get('x-b'))
  expect(all).toEqual(['2', null, '2'])
})

test('a value that is not allowed is refused, and leaves nothing of its answer in the next one', () => {
  const headers = new ReusedHeaders(['x-a', 'x-b'])
  expect(() => written(headers, '1', 'two\nlines')).toThrow()
  expect(written(headers, '2', '3').headers.toJSON()).toMatchObject({ 'x-a': '2', 'x-b': '3' })
})
