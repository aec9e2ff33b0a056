import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { RequestPage, RequestQuestion } from '../../ledger/use/request-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { RequestEntry } from '../../observe/request-entry.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { logApi } from './log-api.ts'

const stored: RequestEntry = {
  time: Date.UTC(2026, 10, 23),
  id: 'r-1',
  api: 'chat',
  model: 'm',
  stream: true,
  status: 200,
  user: 'ann',
  provider: 'b',
  trail: [
    { provider: 'a', status: 429, failure: 'rate_limit', ms: 5 },
    { provider: 'b', status: 200, ms: 100 },
  ],
  firstTokenMs: 30,
  totalMs: 120,
  promptTokens: 18,
  completionTokens: 7,
  tokens: { input: 10, cached: 5, cacheWrite: 3, output: 4, reasoning: 3 },
  cost: 0.0000015,
  costSource: 'list',
  limits: [{ met: 'passed_over', for: 'each person', kind: 'usd', limit: 2.5, per: 'day' }],
  waitedMs: 20,
  isStored: true,
}

/** Asks with this query. @returns the response, and the questions that were asked of the ledger */
async function ask(
  query: string,
  {
    pages = [{ requests: [stored] }],
    failure,
    caller = {},
    isOwner = true,
    isOff = false,
  }: {
    readonly pages?: readonly RequestPage[]
    readonly failure?: Error
    readonly caller?: Caller
    readonly isOwner?: boolean
    readonly isOff?: boolean
  } = {},
) {
  const questions: RequestQuestion[] = []
  const asker: UseAsker = {
    read: () => Promise.reject(new Error('not asked')),
    costSince: async () => 0,
    content: async () => undefined,
    outcomes: async () => ({ times: [], groups: [], failures: [] }),
    close: () => undefined,
    requests: {
      async page(question) {
        questions.push(question)
        if (failure !== undefined) throw failure
        return pages[questions.length - 1] ?? { requests: [] }
      },
      find: async () => undefined,
      callers: async () => [],
      choices: async () => ({ models: ['m'], providers: [], errors: [], apis: [], people: [], keys: [] }),
    },
  }
  const routes = router(logApi({ use: () => (isOff ? undefined : asker), isOwner: () => isOwner }))
  const url = new URL(`http://x/api/log${query}`)
  const context = { ...contextOf(new Request(url.href)), path: url.pathname, caller }
  const response = await routes.find('GET', url.pathname).handle(context)
  return { response, questions, text: await response.text() }
}

async function refusal(query: string, options: Parameters<typeof ask>[1] = {}): Promise<unknown> {
  const error = await ask(query, options).catch((thrown: unknown) => thrown)
  return error instanceof WireError ? [error.status, error.code, error.param] : error
}

describe('GET /api/log', () => {
  test('gives a page of requests, and where to go on', async () => {
    const { text, questions } = await ask('', { pages: [{ requests: [stored], next: { time: 7, seq: 3 } }] })
    expect(questions).toEqual([{ scope: {}, filter: {}, rowsMax: 100 }])
    expect(JSON.parse(text)).toEqual({ requests: [stored], next: '7-3', searchedTo: 7 })
  })

  test('asks with filters and a place', async () => {
    const { questions } = await ask(
      '?model=m&provider=b&person=ann&key=k&error=e&api=chat&text=r&status=failed&failed=yes&limit=5&before=7-3' +
        '&from=2026-11-22T10:00:00Z&to=2026-11-23T10:00:00Z&first_token_ms=20&total_ms=100&tokens=7&cost=0.0000015',
    )
    expect(questions).toEqual([
      {
        scope: {},
        filter: {
          from: Date.UTC(2026, 10, 22, 10),
          to: Date.UTC(2026, 10, 23, 10),
          model: 'm',
          provider: 'b',
          person: 'ann',
          key: 'k',
          error: 'e',
          api: 'chat',
          text: 'r',
          status: 'failed',
          hasFailed: true,
          firstMsMin: 20,
          msMin: 100,
          tokensMin: 7,
          costMin: 1_500,
        },
        before: { time: 7, seq: 3 },
        rowsMax: 5,
      },
    ])
    expect((await ask('?status=429&model=')).questions).toMatchObject([{ filter: { status: 429 } }])
  })

  test.each([
    ['?status=700', 'status'],
    ['?status=fine', 'status'],
    ['?failed=no', 'failed'],
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?before=7', 'before'],
    ['?before=-7--3', 'before'],
    ['?before=9999999999999999-1', 'before'],
    ['?from=yesterday', 'from'],
    ['?to=2026-11-22', 'to'],
    ['?tokens=-1', 'tokens'],
    ['?cost=1e9', 'cost'],
    ['?cost=999999999999', 'cost'],
    ['?format=xml', 'format'],
    [`?text=${'x'.repeat(201)}`, 'text'],
  ])('refuses %s', async (query, param) => {
    expect(await refusal(query)).toEqual([400, 'invalid_value', param])
  })

  test('is of the person, or of the line of the key', async () => {
    const scopeOf = async (options: Parameters<typeof ask>[1]) => (await ask('', options)).questions[0]?.scope
    expect(await scopeOf({ isOwner: false, caller: callerOf({ user: 'ann', userId: 'id:1' }) })).toEqual({
      people: ['id:1'],
    })
    expect(await scopeOf({ isOwner: false, caller: callerOf({ user: 'ann' }) })).toEqual({ people: ['ann'] })
    const known = { user: 'ann', userId: '1', subject: 'profile-1' }
    expect(await scopeOf({ isOwner: false, caller: callerOf(known) })).toEqual({ people: ['profile-1'] })
    // The ledger keeps as much of an id.
    const long = { user: 'ann', userId: 'x'.repeat(200) }
    expect(await scopeOf({ isOwner: false, caller: callerOf(long) })).toEqual({ people: ['x'.repeat(128)] })
    const access = { scopes: ['log:read'] }
    // Only the members that the route reads.
    const caller = { name: 'key:k', access, key: { line: 3 } } as unknown as Caller
    expect(await scopeOf({ caller })).toEqual({ line: 3 })
  })

  test('says that nothing is kept, and that it cannot be read now', async () => {
    expect(await refusal('', { isOff: true })).toEqual([404, 'usage_not_kept', null])
    expect(await refusal('', { failure: new LedgerUnavailable('locked') })).toEqual([503, 'store_unavailable', null])
  })

  test('is written as CSV with the columns of docs/ledger.md, in their order', async () => {
    const document = readFileSync(new URL('../../../docs/ledger.md', import.meta.url), 'utf8')
    const [, table = ''] = /^\| Column of the file \|.*\n((?:\|.*\n)+)/m.exec(document) ?? []
    const names = table.split('\n').map((row) => row.split('|')[1] ?? '')
    const [head] = (await ask('?format=csv')).text.split('\r\n')
    expect(names.join().match(/\w+/g)?.join()).toBe(head)
  })

  test('is written as CSV of all pages, safe for spreadsheets', async () => {
    const { waitedMs: _, ...unhurried } = stored
    const hostile: RequestEntry = {
      ...unhurried,
      id: '-1+1',
      model: '=HYPERLINK("x")',
      user: '@ann',
      trail: [{ provider: 'b', status: 200, ms: 1 }],
      limits: [
        { met: 'refused', for: 'team:a', kind: 'requests', limit: 60, per: 'minute', models: ['m', 'n-*'] },
        { met: 'waited', for: 'everyone', kind: 'at_once', limit: 8 },
      ],
    }
    const { response, text, questions } = await ask('?format=csv&limit=2&model=m', {
      pages: [
        { requests: [stored], next: { time: 7, seq: 3 } },
        { requests: [], next: { time: 6, seq: 1 } },
        { requests: [hostile] },
      ],
    })
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="requests.csv"')
    expect(questions.map(({ before, rowsMax }) => [before?.time, rowsMax])).toEqual([
      [undefined, 1_000],
      [7, 1_000],
      [6, 1_000],
    ])
    expect(text.split('\r\n')).toEqual([
      'time,id,user,person,api,model,provider,served,status,error,first_token_ms,total_ms,prompt_tokens,' +
        'completion_tokens,cost,saved,cost_source,is_estimated,attempts,waited_ms,limits,session',
      '2026-11-23T00:00:00.000Z,r-1,ann,,chat,m,b,,200,,30,120,18,7,0.0000015,,list,0,a 429 rate_limit; b 200 ok,20,' +
        'passed_over each person usd 2.5 per day,',
      `2026-11-23T00:00:00.000Z,"'-1+1","'@ann",,chat,"'=HYPERLINK(""x"")",b,,200,,30,120,` +
        '18,7,0.0000015,,list,0,b 200 ok,,"refused team:a requests 60 per minute of m,n-*; waited everyone at_once 8",',
      '',
    ])
  })
})

test('GET /api/log/choices gives the values of filters', async () => {
  const { text } = await ask('/choices')
  expect(JSON.parse(text)).toMatchObject({ models: ['m'] })
})
