import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/fakes/databases.ts'
import { personOf, sentBy } from '../../people/testing.ts'
import { storableKey } from '../testing.ts'
import type { RequestFilter, RequestPage, RequestPlace, RequestScope } from './request-question.ts'
import { batchOf, usedRequest } from './testing.ts'
import type { UseReader } from './use-reader.ts'

const start = Date.now() - 3_600_000
const ann = personOf({ user: 'ann', userId: 'id:1' })
const limits = [
  { met: 'waited', for: 'each key', kind: 'at_once', limit: 4 },
  { met: 'passed_over', for: 'team:a', kind: 'usd', per: 'day', models: ['gpt-5*'] },
] as const
const failed = { status: 502, error: 'provider_error', provider: undefined, cost: undefined, usage: undefined }

describe.each(databases)('stored requests of %s', (_kind, make) => {
  let place: TestDatabase
  let reader: UseReader

  beforeAll(async () => {
    place = await make()
    const ledger = await place.open()
    for (const name of ['indexer', 'batch']) await ledger.keys.add(storableKey({ name }))
    await ledger.keys.noteUses(new Map([[2, start]]))
    const store = place.useStore()
    const records = Array.from({ length: 300 }, (_, index) =>
      usedRequest({
        time: start + Math.floor(index / 3), // Three of each millisecond.
        id: `r-${String(index).padStart(3, '0')}`,
        listedAs: index % 2 === 0 ? 'GPT-5' : 'llama_3',
        ...(index % 10 === 0 ? { line: 1, user: 'key:indexer', person: ann } : {}),
        ...(index % 10 === 1 ? { user: 'ann', person: ann } : {}),
        ...(index % 50 === 7 ? { ...failed, trail: [{ name: 'b', status: 500, failure: 'server_error', ms: 3 }] } : {}),
        ...(index % 100 === 8
          ? {
              provider: 'b',
              trail: [
                {
                  name: 'a',
                  status: 200,
                  failure: 'cut',
                  ms: 4,
                  ambiguous: true,
                  tokens: { promptTokens: 3, completionTokens: undefined },
                  cost: { nanoUsd: 30, source: 'config' },
                  // The sums have it.
                  bookedNanoUsd: 70,
                },
                { name: 'b', status: 200, ms: 5 },
              ],
            }
          : {}),
        ...(index === 9 ? { limits, waitedMs: 41.6 } : {}),
        ...(index === 299
          ? {
              ...sentBy({ user: 'eve', userId: 'id:3' }),
              status: 200,
              error: 'stream_cut',
              firstTokenMs: 40,
              totalMs: 900,
            }
          : {}),
      }),
    )
    await store.write([batchOf(1, records)])
    await store.close()
    await place.tamper(
      `INSERT INTO person (subject, name, seen, gone) VALUES ('forgotten #9', 'forgotten #9', ${Date.now()}, 1)`,
      `INSERT INTO person (subject, name, seen, user_id) VALUES ('earlier svc: 5', 'old', ${Date.now()}, '5')`,
    )
    reader = await place.useReader()
  }, 30_000)
  afterAll(() => place.remove())

  const numbers = ({ requests }: RequestPage): readonly number[] => requests.map(({ id }) => Number(id.slice(2)))

  /** All numbers of requests, page by page. */
  async function all(filter: RequestFilter, scope: RequestScope = {}, rowsMax = 7): Promise<readonly number[]> {
    const found: number[] = []
    for (let before: RequestPlace | undefined; ;) {
      const page = await reader.requests.page({ scope, filter, rowsMax, ...(before === undefined ? {} : { before }) })
      found.push(...numbers(page))
      expect(page.requests.length).toBeLessThanOrEqual(rowsMax)
      if (page.next === undefined) return found
      before = page.next
    }
  }

  const which = (isWanted: (index: number) => boolean): readonly number[] =>
    Array.from({ length: 300 }, (_, index) => 299 - index).filter(isWanted)
  const isFailed = (index: number): boolean => index % 50 === 7
  const isFromB = (index: number): boolean => isFailed(index) || index % 100 === 8

  test('are given page by page, each once, the newest first', async () => {
    expect(await all({})).toEqual(which(() => true))
  })

  test.each<[string, RequestFilter, (index: number) => boolean]>([
    ['a model', { model: 'GPT-5' }, (index) => index % 2 === 0],
    ['a provider that answered or failed', { provider: 'b' }, isFromB],
    ['a person, with the own keys', { person: 'ann' }, (index) => index % 10 < 2],
    ['a key', { key: 'indexer' }, (index) => index % 10 === 0],
    ['an outcome', { status: 'failed' }, isFailed],
    ['answers', { status: 'ok' }, (index) => !isFailed(index) && index !== 299],
    ['cut answers', { status: 'cut' }, (index) => index === 299],
    ['a failed provider', { hasFailed: true }, isFromB],
    ['a status', { status: 502 }, isFailed],
    ['an error', { error: 'provider_error' }, isFailed],
    ['a format', { api: 'chat' }, () => true],
    ['times', { from: start + 10, to: start + 12 }, (index) => index >= 30 && index < 36],
    ['the time to the first token', { firstMsMin: 40 }, (index) => index === 299],
    ['the duration', { msMin: 500 }, (index) => index === 299],
    ['tokens', { tokensMin: 14 }, (index) => !isFailed(index)],
    ['cost', { costMin: 1_000 }, (index) => !isFailed(index)],
    ['the beginning of an id', { text: 'r-01' }, (index) => index >= 10 && index < 20],
    ['a part of a name', { text: 'AMA_' }, (index) => index % 2 === 1],
    ['a failed provider in a failed request', { hasFailed: true, status: 'failed' }, isFailed],
    ['several conditions', { model: 'llama_3', provider: 'b' }, isFailed],
    ['a model of a person', { model: 'llama_3', person: 'ann' }, (index) => index % 10 === 1],
  ])('are found by %s', async (_, filter, isWanted) => {
    expect(await all(filter)).toEqual(which(isWanted))
  })

  test.each<[string, RequestFilter]>([
    ['model', { model: 'none' }],
    ['provider', { provider: "x' OR 1=1 --" }],
    ['person', { person: '' }],
    ['key', { key: '%' }],
    ['text', { text: 'r-9%' }],
    ['text with marks', { text: "?$1'\\" }],
  ])('are none for an unknown %s', async (_, filter) => {
    expect(await all(filter)).toEqual([])
  })

  test('of a person or a key are theirs alone', async () => {
    expect(await all({}, { people: ['id:1'] })).toEqual(which((index) => index % 10 < 2))
    expect(await all({ person: 'ann' }, { line: 2 })).toEqual([])
    expect(await all({}, { line: 1 })).toEqual(which((index) => index % 10 === 0))
    expect(await all({}, { people: [] })).toEqual([])
    expect(await reader.requests.find({ people: ['id:2'] }, 'r-010')).toBeUndefined()
    expect(await reader.requests.find({ people: ['id:1'] }, 'r-010')).toMatchObject({
      id: 'r-010',
      user: 'key:indexer',
    })
  })

  test('have their names, tokens and attempts', async () => {
    expect(await reader.requests.find({}, 'r-008')).toMatchObject({
      model: 'GPT-5',
      provider: 'b',
      api: 'chat',
      tokens: { input: 10, output: 4 },
      cost: 0.000001,
      costSource: 'config',
      stream: false,
      trail: [
        { provider: 'a', status: 200, failure: 'cut', ms: 4, bookedCost: 70e-9, mayBeBilled: true },
        { provider: 'b', status: 200, ms: 5 },
      ],
    })
    const other = await reader.requests.find({}, 'r-010')
    expect(other).toMatchObject({ user: 'key:indexer', person: 'ann', trail: [{ provider: 'a' }] })
    expect(other).not.toHaveProperty('waitedMs')
    expect(await reader.requests.find({}, 'r-009')).toMatchObject({
      limits: [limits[0], { ...limits[1], met: 'passed_over' }],
      waitedMs: 42,
    })
  })

  test('offer the names of their filters, to others than owners only their own', async () => {
    expect(await reader.requests.callers()).toEqual([
      { name: 'eve', id: 'id:3' },
      { name: 'ann', id: 'id:1' },
      { name: 'batch', line: 2 },
    ])
    expect(await reader.requests.choices({})).toEqual({
      models: ['llama_3', 'GPT-5'],
      providers: ['b', 'a'],
      errors: expect.arrayContaining(['provider_error', 'stream_cut']),
      apis: ['chat'],
      people: expect.arrayContaining(['ann', 'eve']),
      keys: ['batch', 'indexer'],
      oldest: start,
    })
    expect(await reader.requests.choices({ line: 1 })).toEqual({
      models: ['GPT-5'],
      providers: ['a'],
      errors: [],
      apis: ['chat'],
      people: [],
      keys: ['indexer'],
      oldest: start,
    })
    expect(await reader.requests.choices({ people: ['id:3'] })).toMatchObject({
      errors: ['stream_cut'],
      oldest: start + 99,
    })
    const nothing = { models: [], providers: [], errors: [], apis: [], people: [], keys: [] }
    expect(await reader.requests.choices({ people: ['id:2'] })).toEqual(nothing)
    expect(await reader.requests.choices({ line: 99 })).toEqual(nothing)
  })

  test('that are rare are searched for a limited time, and the search goes on where it ended', async () => {
    const hasty = await place.useReader({ budgetMs: 0, stepRows: 40 })
    const filter = { model: 'llama_3', tokensMin: 1, msMin: 500 }
    let before: RequestPlace | undefined
    const found: (readonly number[])[] = []
    do {
      const page = await hasty.requests.page({
        scope: {},
        filter,
        rowsMax: 5,
        ...(before === undefined ? {} : { before }),
      })
      found.push(numbers(page))
      before = page.next
    } while (before !== undefined)
    // 150 requests of the model in steps of 40, and a last one that finds no more.
    expect(found).toEqual([[299], [], [], [], []])
  })
})
