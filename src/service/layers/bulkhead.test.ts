import { describe, expect, test } from 'bun:test'
import { callOf, failureOf, rejection } from '../testing.ts'
import { bulkhead } from './bulkhead.ts'

function subject(most: number) {
  const ends: ((failure: unknown) => void)[] = []
  const limit = bulkhead<string, string>(most, (_reply, listener) => void ends.push(listener))
  return { limit, ends }
}

describe('a bulkhead', () => {
  test('is full at its concurrency limit', async () => {
    const { limit } = subject(2)
    const service = limit.layer(async () => 'hello')
    expect(limit.isFull).toBe(false)
    await service('', callOf())
    expect(limit.isFull).toBe(false)
    await service('', callOf())
    expect(limit.isFull).toBe(true)
  })

  test('counts from the start of a request, not from its answer', () => {
    const { limit } = subject(1)
    void limit.layer(() => new Promise<string>(() => undefined))('', callOf())
    expect(limit.isFull).toBe(true)
  })

  test('counts a stream until its end', async () => {
    const { limit, ends } = subject(1)
    await limit.layer(async () => 'hello')('', callOf())
    expect(limit.isFull).toBe(true)
    ends[0]?.(undefined)
    expect(limit.isFull).toBe(false)
  })

  test('does not count failed requests', async () => {
    const { limit } = subject(1)
    const failure = failureOf('dns')
    expect(
      await rejection(
        limit.layer(async () => {
          throw failure
        })('', callOf()),
      ),
    ).toBe(failure)
    expect(limit.isFull).toBe(false)
  })

  test('refuses no request itself', async () => {
    const { limit } = subject(0)
    expect(limit.isFull).toBe(true)
    expect(await limit.layer(async () => 'hello')('', callOf())).toBe('hello')
  })

  test('is shared by all services that it wraps', async () => {
    const { limit } = subject(2)
    await limit.layer(async () => 'a')('', callOf())
    await limit.layer(async () => 'b')('', callOf())
    expect(limit.isFull).toBe(true)
  })
})
