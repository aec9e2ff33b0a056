import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WireError } from '../../formats/error.ts'
import { listPage } from './list-page.ts'

const models = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }))

function page(query: string): string {
  const { models: found, hasMore } = listPage(models, new URLSearchParams(query))
  return `${found.map(({ name }) => name).join('')}${hasMore ? '…' : ''}`
}

describe('a page of a list', () => {
  test.each([
    ['', 'abcde'],
    ['limit=', 'abcde'],
    ['limit=5', 'abcde'],
    ['limit=1000&workspace=x', 'abcde'],
    ['limit=2', 'ab…'],
    ['limit=2&after_id=b', 'cd…'],
    ['limit=2&after_id=c', 'de'],
    ['after_id=e', ''],
    ['limit=2&before_id=e', 'cd…'],
    ['limit=2&before_id=c', 'ab'],
    ['before_id=a', ''],
  ])('%s › %s', (query, expected) => {
    expect(page(query)).toBe(expected)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=two', 'limit'],
    ['limit=1e3', 'limit'],
    ['after_id=none', 'after_id'],
    ['before_id=', 'before_id'],
    ['after_id=%00%0d%0a', 'after_id'],
  ])('%s › is refused', (query, param) => {
    expect(() => page(query)).toThrow(WireError)
    try {
      page(query)
    } catch (error) {
      expect(error).toMatchObject({ status: 400, code: 'invalid_value', param })
    }
  })

  test('and those that follow, or precede it, have every model once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.constantFrom('after_id', 'before_id'), (limit, cursor) => {
        const isForward = cursor === 'after_id'
        const seen = isForward ? ['a'] : ['e']
        for (let hasMore = true; hasMore;) {
          const at = isForward ? seen.at(-1) : seen[0]
          const next = listPage(models, new URLSearchParams(`limit=${limit}&${cursor}=${at}`))
          const names = next.models.map(({ name }) => name)
          expect(names.length).toBeLessThanOrEqual(limit)
          if (isForward) seen.push(...names)
          else seen.unshift(...names)
          hasMore = next.hasMore
        }
        expect(seen).toEqual(models.map(({ name }) => name))
      }),
    )
  })
})
