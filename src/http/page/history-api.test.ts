import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { conversationBytesMax, type History, type WriteOutcome } from '../../ledger/history/history.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { historyApi } from './history-api.ts'

const ann = callerOf({
  user: 'ann',
  userId: '1',
  profile: { id: 'abc.1', userName: 'ann', displayName: 'Ann', email: '', avatarUrl: '' },
})
const text = '{"id":"c1","messages":[]}'

/** The routes over a fake that notes its calls. */
function subject(history: Partial<History> | undefined = {}, outcome: WriteOutcome = { kind: 'written', version: 7 }) {
  const calls: unknown[] = []
  const noting =
    <Answer>(name: string, answer: Answer) =>
    async (...given: readonly unknown[]): Promise<Answer> => {
      calls.push([name, ...given])
      return answer
    }
  const kept: History = {
    changes: noting('changes', { database: 'd', person: 1, last: 7, isTooOld: false, isCut: false, entries: [] }),
    read: noting('read', [{ id: 'c1', version: 7, text }]),
    write: noting('write', outcome),
    remove: noting('remove', outcome),
    clear: noting('clear', undefined),
    sweep: noting('sweep', 0),
    lastWritten: async () => undefined,
    close: async () => undefined,
    ...history,
  }
  const isKept = history !== undefined
  const routes = router(
    historyApi({
      history: () => (isKept ? Promise.resolve(kept) : undefined),
      days: () => 90,
      bodyTimes: { totalMs: 5_000, idleMs: 5_000 },
    }),
  )

  async function call(
    method: string,
    path: string,
    { body, caller = ann }: { readonly body?: string | Uint8Array<ArrayBuffer>; readonly caller?: Caller } = {},
  ): Promise<unknown> {
    const request = new Request(`http://x${path}`, { method, ...(body === undefined ? {} : { body }) })
    const context = { ...contextOf(request), caller }
    try {
      const response = await routes.find(method, context.path).handle(context)
      return await response.json()
    } catch (error) {
      if (error instanceof WireError) return [error.status, error.code]
      throw error
    }
  }

  return { call, calls }
}

describe('/api/history', () => {
  test('lists, reads, writes, removes and clears the conversations of the person', async () => {
    const { call, calls } = subject()
    expect(await call('GET', '/api/history?after=5')).toMatchObject({ last: 7, days: 90 })
    expect(await call('GET', '/api/history?after=0&whole=1')).toMatchObject({ last: 7 })
    expect(await call('POST', '/api/history/read', { body: '{"ids":["c1","c1"]}' })).toEqual({
      conversations: [{ id: 'c1', version: 7, conversation: { id: 'c1', messages: [] } }],
    })
    expect(await call('POST', '/api/history/conversations/c1?base=5', { body: text })).toEqual({ version: 7 })
    expect(await call('DELETE', '/api/history/conversations/c1?base=7')).toEqual({ version: 7 })
    expect(await call('DELETE', '/api/history?until=9')).toEqual({})
    expect(calls).toEqual([
      ['changes', 'abc.1', { after: 5, isWhole: false }],
      ['changes', 'abc.1', { after: 0, isWhole: true }],
      ['read', 'abc.1', ['c1']],
      [
        'write',
        { id: 'abc.1', accountId: '1', name: 'ann' },
        { id: 'c1', base: 5, text: new TextEncoder().encode(text) },
      ],
      ['remove', 'abc.1', 'c1', 7],
      ['clear', 'abc.1', 9],
    ])
  })

  test.each([
    ['while conversations are in browsers only', undefined, ann],
    ['without sign-in', {}, {}],
    ['for a key', {}, { ...ann, access: { scopes: ['chat'] } as unknown as NonNullable<Caller['access']> }],
  ])('is not there %s', async (_when, history, caller) => {
    const { call, calls } = subject(history)
    if (history === undefined) {
      const routes = router(
        historyApi({ history: () => undefined, days: () => undefined, bodyTimes: { totalMs: 1, idleMs: 1 } }),
      )
      const context = { ...contextOf(new Request('http://x/api/history')), caller }
      await expect(async () => routes.find('GET', '/api/history').handle(context)).toThrow('in the browser only')
      return
    }
    expect(await call('GET', '/api/history', { caller })).toEqual([404, 'history_not_kept'])
    expect(await call('POST', '/api/history/conversations/c1', { body: text, caller })).toEqual([
      ...[404, 'history_not_kept'],
    ])
    expect(calls).toEqual([])
  })

  test.each([
    [{ kind: 'conflict', version: 9 }, [409, 'version_conflict']],
    [{ kind: 'full' }, [413, 'history_full']],
  ] as const)('answers %j by a status', async (outcome, expected) => {
    const { call } = subject({}, outcome)
    expect(await call('POST', '/api/history/conversations/c1', { body: text })).toEqual(expected)
    expect(await call('DELETE', '/api/history/conversations/c1?base=7')).toEqual(expected)
  })

  test('is 503 while the database cannot be used', async () => {
    const { call } = subject({ changes: () => Promise.reject(new LedgerUnavailable('/home/x/history.db is locked')) })
    expect(await call('GET', '/api/history')).toEqual([503, 'store_unavailable'])
  })

  test.each([
    ['GET', '/api/history?after=-1', undefined, [400, 'invalid_value']],
    ['GET', '/api/history?after=1e99', undefined, [400, 'invalid_value']],
    ['DELETE', '/api/history', undefined, [400, 'missing_required_parameter']],
    ['DELETE', '/api/history?until=x', undefined, [400, 'invalid_value']],
    ['POST', '/api/history/read', '', [400, 'invalid_json']],
    ['POST', '/api/history/read', '{"ids":"c1"}', [400, 'invalid_type']],
    ['POST', '/api/history/read', '{"ids":["c1",{}]}', [400, 'invalid_type']],
    ['POST', '/api/history/read', `{"ids":["' OR 1=1"]}`, [400, 'invalid_value']],
    ['POST', '/api/history/read', JSON.stringify({ ids: Array(101).fill('c') }), [400, 'invalid_value']],
    ['POST', '/api/history/read', ' '.repeat(17_000), [413, 'request_too_large']],
    ['POST', '/api/history/conversations/c1', '', [400, 'invalid_json']],
    ['POST', '/api/history/conversations/c1', '[]', [400, 'invalid_json']],
    ['POST', '/api/history/conversations/c1', '{"id":"c1"} {}', [400, 'invalid_json']],
    ['POST', '/api/history/conversations/c1', '{"id":"c2"}', [400, 'invalid_value']],
    ['POST', '/api/history/conversations/c1', '{"__proto__":{"id":"c1"}}', [400, 'invalid_value']],
    ['POST', '/api/history/conversations/c1', '['.repeat(1_000_000), [400, 'invalid_json']],
    ['POST', '/api/history/conversations/c1?base=1.5', text, [400, 'invalid_value']],
    ['POST', '/api/history/conversations/a%2Fb', text, [404, 'not_found']],
    ['POST', '/api/history/conversations/a/b', text, [404, 'not_found']],
    ['POST', `/api/history/conversations/${'x'.repeat(65)}`, text, [404, 'not_found']],
  ])('refuses %s %s with %j', async (method, path, body, expected) => {
    const { call, calls } = subject()
    expect(await call(method, path, body === undefined ? {} : { body })).toEqual(expected)
    expect(calls).toEqual([])
  })

  test('refuses bytes that are not UTF-8, and a conversation that is too large', async () => {
    const { call } = subject()
    const path = '/api/history/conversations/c1'
    expect(await call('POST', path, { body: new Uint8Array([0x22, 0xff, 0x22]) })).toEqual([400, 'invalid_json'])
    const large = `{"id":"c1","x":"${'x'.repeat(conversationBytesMax)}"}`
    expect(await call('POST', path, { body: large })).toEqual([413, 'request_too_large'])
  })

  test('bounds the conversations in memory, of a person and of all', async () => {
    const gate = Promise.withResolvers<void>()
    const { call } = subject({
      async write() {
        await gate.promise
        return { kind: 'written', version: 1 }
      },
    })
    const writes = Array.from({ length: 8 }, () => call('POST', '/api/history/conversations/c1', { body: text }))
    const refused = [503, 'overloaded']
    expect([await writes[6], await writes[7]]).toEqual([refused, refused])
    gate.resolve()
    expect(await Promise.all(writes.slice(0, 6))).toEqual(Array(6).fill({ version: 1 }))
    expect(await call('POST', '/api/history/conversations/c1', { body: text })).toEqual({ version: 1 })
  })
})
