import { describe, expect, test } from 'bun:test'
import type { Access } from '../../formats/access.ts'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import { counterNames } from '../../ledger/use/counters.ts'
import type { OutcomeAnswer } from '../../ledger/use/outcome-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { UseQuestion, UseRow } from '../../ledger/use/use-question.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { usageApi } from './usage-api.ts'

const now = Date.UTC(2026, 10, 23, 12)

const noRequests: UseAsker['requests'] = {
  page: async () => ({ requests: [] }),
  find: async () => undefined,
  callers: async () => [],
  choices: async () => ({ models: [], providers: [], errors: [], apis: [], people: [], keys: [] }),
}

function rowOf(name: string, counters: Partial<UseRow['counters']> = {}): UseRow {
  const zero = Object.fromEntries(counterNames.map((each) => [each, 0]))
  // Object.fromEntries loses the names.
  return { time: 20261123, name, counters: { ...zero, ...counters } as UseRow['counters'] }
}

/** Asks with this query. @returns the response, and the questions that were asked of the ledger */
async function ask(
  query: string,
  {
    rows = [],
    outcomes = { times: [], groups: [], failures: [] },
    failure,
    caller = {},
    isOwner = true,
    isOff = false,
  }: {
    readonly rows?: readonly UseRow[]
    readonly outcomes?: OutcomeAnswer
    readonly failure?: Error
    readonly caller?: Caller
    readonly isOwner?: boolean
    readonly isOff?: boolean
  } = {},
) {
  const questions: UseQuestion[] = []
  const asker: UseAsker = {
    async read(question) {
      questions.push(question)
      if (failure !== undefined) throw failure
      return { rows, isCut: false, timeZone: 'UTC', writtenAt: 5 }
    },
    costSince: async () => 0,
    outcomes: async () => outcomes,
    requests: noRequests,
    content: async () => undefined,
    close: () => undefined,
  }
  const routes = router(
    usageApi({
      use: () => (isOff ? undefined : asker),
      isOwner: () => isOwner,
      teams: () => [{ name: 'core', people: [], userIds: ['7'], userNames: ['ann'] }],
      teamUse: (by, team) => (by.name === 'lead' ? { people: ['bob'], team } : undefined),
      now: () => now,
    }),
  )
  const context = { ...contextOf(new Request(`http://x/api/usage${query}`)), caller }
  const response = await routes.find('GET', '/api/usage').handle(context)
  return { response, questions, text: await response.text() }
}

async function refusal(query: string, options: Parameters<typeof ask>[1] = {}): Promise<unknown> {
  const error = await ask(query, options).catch((thrown: unknown) => thrown)
  return error instanceof WireError ? [error.status, error.code, error.param] : error
}

describe('GET /api/usage', () => {
  test('of a team is for its leads, and for no key', async () => {
    const { questions } = await ask('?team=search&by=person', { caller: callerOf({ user: 'lead' }), isOwner: false })
    expect(questions).toMatchObject([{ by: 'person', team: 'search', people: ['bob'] }])
    const access: Access = { mayDo: () => true, mayUseModel: () => true, mayUseProvider: () => true }
    for (const caller of [callerOf({ user: 'bob' }), { ...callerOf({ user: 'lead' }), access }, {}])
      expect(await refusal('?team=search', { caller })).toEqual([403, 'not_a_lead', null])
  })

  test('asks for the last 7 days by model', async () => {
    const { questions, text } = await ask('', {
      rows: [rowOf('m', { requests: 2, cost: 1_500_000_000, write5: 1, write60: 2 })],
    })
    expect(questions).toEqual([{ unit: 'day', by: 'model', from: 20261117, to: 20261124, rowsMax: 20_000 }])
    expect(JSON.parse(text)).toMatchObject({
      unit: 'day',
      by: 'model',
      timeZone: 'UTC',
      writtenAt: 5,
      rows: [{ time: '2026-11-23', name: 'm', requests: 2, cost: 1.5, cacheWriteTokens: 3 }],
    })
  })

  test('asks for teams of access.json, others than owners for none', async () => {
    const { questions } = await ask('?by=team')
    expect(questions).toMatchObject([
      { by: 'team', teams: [{ name: 'core', people: [], userIds: ['7'], userNames: ['ann'] }] },
    ])
    const own = await ask('?by=team', { isOwner: false, caller: callerOf({ user: 'bob' }) })
    expect(own.questions).toMatchObject([{ by: 'team', teams: [], people: ['bob'] }])
  })

  test('gives owners speed and failures, and others only their use', async () => {
    const buckets = [...Array.from({ length: 80 }, () => 0), 19, ...Array.from({ length: 9 }, () => 0), 1]
    const outcomes = {
      times: [{ time: 20261123, first: buckets, total: [] }],
      groups: [{ name: 'm', first: [], total: buckets }],
      failures: [{ time: 20261123, failure: 'timeout', requests: 0, attempts: 3 }],
    }
    expect(JSON.parse((await ask('', { outcomes })).text)).toMatchObject({
      times: [{ time: '2026-11-23', answers: 0, streams: 20, firstTokenP50: 1_069, firstTokenP95: 1_069 }],
      groups: [{ name: 'm', answers: 20, streams: 0, totalP50: 1_069, totalP95: 1_069 }],
      failures: [{ time: '2026-11-23', failure: 'timeout', requests: 0, attempts: 3 }],
    })
    const own = await ask('', { outcomes, isOwner: false, caller: callerOf({ user: 'bob' }) })
    expect(Object.keys(JSON.parse(own.text))).toEqual(['unit', 'by', 'timeZone', 'writtenAt', 'rows'])
  })

  test('asks for a span of hours', async () => {
    const { questions } = await ask('?unit=hour&from=2026-11-22T10:00:00Z&to=2026-11-22T18:00:00%2B01:00&by=key')
    expect(questions).toMatchObject([
      { unit: 'hour', by: 'key', from: Date.UTC(2026, 10, 22, 10), to: Date.UTC(2026, 10, 22, 17) },
    ])
  })

  test.each([
    ['?unit=week', 'unit'],
    ['?by=colour', 'by'],
    ['?format=xml', 'format'],
    ['?from=yesterday', 'from'],
    ['?from=2026-13-01', 'from'],
    ['?from=2026-02-30', 'from'],
    ['?from=2026-11-01T00:00:00Z', 'from'],
    ['?unit=hour&to=2026-11-01', 'to'],
    ['?from=2026-11-02&to=2026-11-01', 'from'],
    ['?from=1980-01-01', 'from'],
    ['?unit=hour&from=2026-01-01T00:00:00Z', 'from'],
  ])('refuses %s, and names the parameter', async (query, param) => {
    expect(await refusal(query)).toEqual([400, 'invalid_value', param])
  })

  test('is 404 where no use is kept, and 503 where it cannot be read', async () => {
    expect(await refusal('', { isOff: true })).toEqual([404, 'usage_not_kept', null])
    expect(await refusal('', { failure: new LedgerUnavailable('locked') })).toEqual([503, 'store_unavailable', null])
  })
})

describe('others than owners', () => {
  test('see their own use alone, by the id that stays the same', async () => {
    const user = { user: 'ann' }
    const ask1 = await ask('?by=person', { caller: callerOf({ ...user, userId: 'id:1' }), isOwner: false })
    expect(ask1.questions).toMatchObject([{ people: ['id:1'] }])
    expect((await ask('', { caller: callerOf({ user: 'ann' }), isOwner: false })).questions).toMatchObject([
      { people: ['ann'] },
    ])
    expect((await ask('', { isOwner: false })).questions).toMatchObject([{ people: [''] }])
  })

  test('a key sees that of its line, though it counts as an owner where its scope admits', async () => {
    const access = { mayDo: () => true, mayUseModel: () => true, mayUseProvider: () => true }
    expect(
      (
        await ask('', {
          caller: { name: 'key:x', key: { line: 4 }, access },
        })
      ).questions,
    ).toMatchObject([{ line: 4 }])
    expect((await ask('', { caller: { name: 'key:x', access } })).questions).toMatchObject([{ line: -1 }])
  })
})

describe('as CSV', () => {
  test('has a line for each row, and reads the ledger piece by piece', async () => {
    const { response, questions, text } = await ask('?format=csv&from=2026-11-01&to=2026-11-20', {
      rows: [rowOf('m', { requests: 3, cost: 1_234, cost_reported: 1_000_000_000 })],
    })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="usage-by-model.csv"')
    expect(questions.map(({ from, to }) => [from, to])).toEqual([
      [20261101, 20261107],
      [20261108, 20261114],
      [20261115, 20261120],
    ])
    const [head, first] = text.split('\r\n')
    expect(head).toStartWith('time,name,requests,errors,left,attempts,input_tokens,')
    expect(first).toBe('2026-11-23,m,3,0,0,0,0,0,0,0,0,0.000001234,1,0,0,0,0,0')
  })

  test.each([
    ['=cmd()', `"'=cmd()"`],
    [' =cmd()', `"' =cmd()"`],
    ['＝cmd()', `"'＝cmd()"`],
    ['a;=cmd()', `"a;'=cmd()"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@sum', `"'@sum"`],
    ['\tx', `"'\tx"`],
    ['a,b "c"', '"a,b ""c"""'],
    ['gpt-5', 'gpt-5'],
  ])('the cell %p is text, not a formula', async (name, cell) => {
    const { text } = await ask('?format=csv&from=2026-11-23&to=2026-11-23', { rows: [rowOf(name)] })
    expect(text.split('\r\n')[1]).toBe(`2026-11-23,${cell}${',0'.repeat(16)}`)
  })
})
