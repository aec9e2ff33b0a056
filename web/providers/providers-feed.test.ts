import { describe, expect, test } from 'bun:test'
import type { ProvidersAnswer } from '../../src/http/page/page-api.ts'
import { ApiError, Unreachable, type ApiClient } from '../api/client.ts'
import { ProvidersFeed } from './providers-feed.ts'

function answer(version: string): ProvidersAnswer {
  return { version, source: 'file', providers: [] }
}

function apiError(status: number, code: string): ApiError {
  return new ApiError(new Response(null, { status }), { error: { message: 'no', code } })
}

/** A service with one scripted answer per request. Records the requests. */
function subject(...answers: readonly (unknown | Promise<unknown>)[]) {
  const asked: unknown[] = []
  const rest = [...answers]
  async function next<Answer>(path: string, body?: unknown): Promise<Answer> {
    asked.push(body === undefined ? path : [path, body])
    const value = await rest.shift()
    if (value instanceof Error) throw value
    return JSON.parse(JSON.stringify(value))
  }
  const client: Pick<ApiClient, 'get' | 'post'> = { get: (path) => next(path), post: (path, body) => next(path, body) }
  return { asked, feed: new ProvidersFeed(client, () => 5) }
}

describe('the providers', () => {
  test('are the answer of the service, with its time', async () => {
    const { feed } = subject(answer('1'))
    await feed.refresh()
    expect(feed.state.get()).toEqual({ answer: answer('1'), time: 5 })
  })

  test('stay while the service cannot be reached', async () => {
    const error = new Unreachable('gone')
    const { feed } = subject(answer('1'), error, answer('2'))
    await feed.refresh()
    await feed.refresh()
    expect(feed.state.get()).toEqual({ answer: answer('1'), time: 5, error })
    await feed.refresh()
    expect(feed.state.get()).toEqual({ answer: answer('2'), time: 5 })
  })

  test('ignore an answer to a request from before a change', async () => {
    const slow = Promise.withResolvers<unknown>()
    const { feed } = subject(answer('1'), slow.promise, answer('2'))
    await feed.refresh()
    const late = feed.refresh()
    await feed.change({ id: 'a', change: 'up' })
    slow.resolve(answer('1'))
    await late
    expect(feed.state.get().answer).toEqual(answer('2'))
  })
})

describe('a change', () => {
  test('names the version shown, and its answer is shown', async () => {
    const { feed, asked } = subject(answer('1'), answer('2'))
    await feed.refresh()
    expect(await feed.change({ id: 'a', change: 'disable' })).toEqual({ kind: 'done' })
    expect(asked).toEqual(['/api/providers', ['/api/providers', { version: '1', id: 'a', change: 'disable' }]])
    expect(feed.state.get().answer).toEqual(answer('2'))
  })

  test('of a file that has changed is not made, and the current file is shown', async () => {
    const { feed, asked } = subject(answer('1'), apiError(409, 'conflict'), answer('3'))
    await feed.refresh()
    expect(await feed.change({ id: 'a', change: 'up' })).toEqual({ kind: 'conflict' })
    expect(feed.state.get().answer).toEqual(answer('3'))
    expect(asked).toHaveLength(3)
  })

  test.each([
    [403, 'owners_only'],
    [409, 'faulty_file'],
    [409, 'not_writable'],
  ])('that fails has a reason, and the shown state stays: %s %s', async (status, code) => {
    const error = apiError(status, code)
    const { feed } = subject(answer('1'), error)
    await feed.refresh()
    expect(await feed.change({ id: 'a', change: 'up' })).toEqual({ kind: 'failed', error })
    expect(feed.state.get()).toEqual({ answer: answer('1'), time: 5 })
  })

  test('waits for the one before, and changes its result', async () => {
    const { feed, asked } = subject(answer('1'), answer('2'), answer('3'), answer('4'))
    await feed.refresh()
    const up = { id: 'c', change: 'up' } as const
    expect(await Promise.all([feed.change(up), feed.change(up)])).toEqual([{ kind: 'done' }, { kind: 'done' }])
    expect(await feed.change(up)).toEqual({ kind: 'done' })
    expect(asked.slice(1)).toEqual(['1', '2', '3'].map((version) => ['/api/providers', { version, ...up }]))
  })

  test('is not made after one that failed, unless it is requested again', async () => {
    const { feed, asked } = subject(answer('1'), apiError(409, 'conflict'), answer('3'), answer('4'))
    await feed.refresh()
    expect(await Promise.all([feed.change({ id: 'a', change: 'up' }), feed.change({ id: 'b', change: 'up' })])).toEqual(
      [{ kind: 'conflict' }, { kind: 'conflict' }],
    )
    expect(asked).toHaveLength(3)
    expect(await feed.change({ id: 'b', change: 'up' })).toEqual({ kind: 'done' })
    expect(asked[3]).toEqual(['/api/providers', { version: '3', id: 'b', change: 'up' }])
  })

  test('is not sent if there is no file', async () => {
    const { feed, asked } = subject({ source: 'echo', providers: [] })
    await feed.refresh()
    expect((await feed.change({ id: 'a', change: 'up' })).kind).toBe('failed')
    expect(asked).toHaveLength(1)
  })
})

describe('a test', () => {
  test('returns its outcome', async () => {
    const { feed, asked } = subject({ ok: true, ms: 3, model: 'm' })
    expect(await feed.test('a')).toEqual({ ok: true, ms: 3, model: 'm' })
    expect(asked).toEqual([['/api/providers/test', { id: 'a' }]])
  })

  test('that failed has a reason', async () => {
    const { feed } = subject(new Unreachable('The service cannot be reached'))
    expect(await feed.test('a')).toEqual({ ok: false, ms: 0, failure: 'The service cannot be reached' })
  })
})
