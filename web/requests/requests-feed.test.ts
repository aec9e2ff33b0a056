import { describe, expect, test } from 'bun:test'
import type { RequestsAnswer } from '../../src/http/page/page-api.ts'
import { Unreachable } from '../api/client.ts'
import { requestsFeed } from './requests-feed.ts'
import { requestEntry } from './testing.ts'

type Connection = { tell(answer: Partial<RequestsAnswer>): void; text(text: string): void; end(): void }

/** A service whose connections the test controls, and a wait that ends at once. */
function subject({ isDown = () => false }: { readonly isDown?: () => boolean } = {}) {
  const connections: Connection[] = [],
    waits: number[] = [],
    asked: [string, string | null][] = []
  let arrived = Promise.withResolvers<Connection>()
  const client = {
    async fetch(path: string, { headers, signal }: RequestInit = {}): Promise<Response> {
      asked.push([path, new Headers(headers).get('accept')])
      if (isDown()) throw new Unreachable('The service cannot be reached')
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      signal?.addEventListener('abort', () => void writer.abort(new Error('aborted')).catch(() => undefined))
      const text = (text: string): void => void writer.write(new TextEncoder().encode(text)).catch(() => undefined)
      const connection: Connection = {
        text,
        tell: (answer) => text(`data: ${JSON.stringify({ requests: [], minutes: [], ...answer })}\n\n`),
        end: () => void writer.close().catch(() => undefined),
      }
      connections.push(connection)
      arrived.resolve(connection)
      arrived = Promise.withResolvers()
      return new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
    },
  }
  const feed = requestsFeed({ client, wait: async (ms) => void waits.push(ms) })
  /** Resolves when the state matches. */
  function until(isSo: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (isSo()) resolve()
    }
    const stop = feed.state.subscribe(look)
    look()
    return promise.finally(stop)
  }
  return {
    feed,
    asked,
    waits,
    until,
    next: () => arrived.promise,
    ids: () => feed.state.get().rows?.map(({ request }) => request.id),
  }
}

async function following(run: (rig: ReturnType<typeof subject>) => Promise<void>, rig = subject()): Promise<void> {
  const controller = new AbortController()
  const followed = rig.feed.follow(controller.signal)
  await run(rig)
  controller.abort()
  await followed
}

describe('a feed', () => {
  test('requests events, and has the first one with later additions', async () => {
    const rig = subject()
    const first = rig.next()
    await following(async ({ feed, asked, until, ids }) => {
      const connection = await first
      expect([asked, feed.state.get().connection, ids()]).toEqual([
        [['/api/requests', 'text/event-stream']],
        'connecting',
        undefined,
      ])
      connection.tell({
        requests: [requestEntry({ id: 'one' })],
        minutes: [{ time: 0, requests: 1, errors: 0, promptTokens: 0, completionTokens: 0 }],
      })
      await until(() => ids()?.length === 1)
      connection.tell({
        requests: [requestEntry({ id: 'two' })],
        minutes: [{ time: 0, requests: 2, errors: 0, promptTokens: 0, completionTokens: 0 }],
      })
      await until(() => ids()?.length === 2)
      expect([feed.state.get().connection, ids(), feed.state.get().minutes.map(({ requests }) => requests)]).toEqual([
        'live',
        ['two', 'one'],
        [2],
      ])
    }, rig)
  })

  test('reconnects when the connection ends, with the new first event', async () => {
    const rig = subject()
    const first = rig.next()
    await following(async ({ until, ids, next, feed }) => {
      const connection = await first
      connection.tell({ requests: [requestEntry({ id: 'one' })] })
      await until(() => ids()?.length === 1)
      const second = next()
      connection.end()
      await until(() => feed.state.get().connection === 'reconnecting')
      expect(ids()).toEqual(['one'])
      ;(await second).tell({ requests: [requestEntry({ id: 'of another start' })] })
      await until(() => feed.state.get().connection === 'live')
      expect([ids(), feed.state.get().error]).toEqual([['of another start'], undefined])
    }, rig)
  })

  test('backs off while the service is away, and keeps its rows', async () => {
    const controller = new AbortController()
    const waits: number[] = []
    const feed = requestsFeed({
      client: {
        fetch: async () => {
          throw new Unreachable('The service cannot be reached')
        },
      },
      async wait(ms) {
        if (waits.push(ms) === 7) controller.abort()
      },
    })
    await feed.follow(controller.signal)
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    expect(feed.state.get()).toMatchObject({
      connection: 'connecting',
      error: new Unreachable('The service cannot be reached'),
    })
  })

  test('resets the back-off after an event', async () => {
    let fails = 3
    const rig = subject({ isDown: () => fails-- > 0 })
    const first = rig.next()
    await following(async ({ until, ids, next, waits }) => {
      const connection = await first
      expect(waits).toEqual([1_000, 2_000, 4_000])
      connection.tell({ requests: [requestEntry()] })
      await until(() => ids()?.length === 1)
      const second = next()
      connection.end()
      await second
      expect(waits.slice(3)).toEqual([1_000])
    }, rig)
  })

  test('treats an unreadable event as a lost connection', async () => {
    const rig = subject()
    const first = rig.next()
    await following(async ({ next }) => {
      const second = next()
      ;(await first).text('data: {"requests"\n\n')
      await second
    }, rig)
    expect(rig.waits).toEqual([1_000])
  })

  test('ends without an error when it is aborted', async () => {
    const rig = subject()
    const first = rig.next()
    await following(async () => void (await first), rig)
    expect([rig.waits, rig.feed.state.get().error]).toEqual([[], undefined])
  })
})
