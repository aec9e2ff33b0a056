import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { StoredCaller } from '../../ledger/use/request-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { LimitOverview } from '../../limits/limit-overview.ts'
import type { Caller } from '../../people/person.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { limitsApi, type LimitsApiOptions } from './limits-api.ts'

const overview: LimitOverview = {
  policy: {
    timeZone: 'Europe/Berlin',
    limits: [],
    teams: new Map([['search', { leads: ['ann'], members: ['bob'] }]]),
  },
  limits: [
    {
      ...{ place: 'limits[0]', subject: 'each person', models: ['gpt-5*'], kind: 'usd', limit: 5e9, per: 'day' },
      ...{ windowEnd: 9, isApart: true },
      uses: [{ name: 'ann', used: 1_500_000_000, held: 250_000_000, remaining: 3_250_000_000 }],
    },
    {
      ...{ place: 'limits[0]', subject: 'each person', models: undefined, kind: 'at_once', limit: 4 },
      ...{ per: undefined, isApart: true },
      uses: [],
    },
  ],
}

async function ask(more: Partial<LimitsApiOptions> = {}): Promise<{ body: unknown; asked: Caller[][] }> {
  const asked: Caller[][] = []
  const routes = router(
    limitsApi({
      access: () => ({
        async overview(callers) {
          asked.push([...callers])
          return overview
        },
        fault: () => undefined,
      }),
      file: '/home/access.json',
      callers: async () => [
        { name: 'key:job', key: { line: 3 }, person: { id: 'ann', name: 'ann' } },
        { name: 'bob', person: { id: 'id:7', name: 'bob' } },
      ],
      use: () => undefined,
      providers: () => [],
      isOwner: () => true,
      mayEdit: () => false,
      ...more,
    }),
  )
  const response = await routes.find('GET', '/api/limits').handle(contextOf(new Request('http://x/api/limits')))
  return { body: await response.json(), asked }
}

describe('GET /api/limits', () => {
  test('has each limit with its use in USD, the teams and the file', async () => {
    const { body, asked } = await ask()
    expect(body).toEqual({
      file: '/home/access.json',
      timeZone: 'Europe/Berlin',
      limits: [
        {
          ...{ place: 'limits[0]', for: 'each person', models: ['gpt-5*'], kind: 'usd', limit: 5, per: 'day' },
          ...{ windowEnds: 9, isApart: true },
          uses: [{ name: 'ann', used: 1.5, held: 0.25, remaining: 3.25 }],
        },
        { place: 'limits[0]', for: 'each person', kind: 'at_once', limit: 4, isApart: true, uses: [] },
      ],
      teams: [{ name: 'search', leads: ['ann'], members: ['bob'] }],
      named: [
        { for: 'person:ann', name: 'ann' },
        { for: 'key:3', name: 'job' },
        { for: 'person:bob', name: 'bob' },
      ],
    })
    expect(asked).toEqual([
      [
        { name: 'key:job', key: { line: 3 }, person: { id: 'ann', name: 'ann' } },
        { name: 'bob', person: { id: 'id:7', name: 'bob' } },
      ],
    ])
  })

  test('asks also for callers from before the start of the service, if the database can be read', async () => {
    const callers = async (): Promise<[]> => []
    const useOf = (stored: () => Promise<readonly StoredCaller[]>) => ({ requests: { callers: stored } }) as UseAsker
    const earlier = useOf(async () => [
      { name: 'ann', id: 'id:1' },
      { name: 'job', line: 3 },
    ])
    expect((await ask({ callers, use: () => earlier })).asked).toEqual([
      [
        { name: 'ann', person: { name: 'ann', id: 'id:1' } },
        { name: 'key:job', key: { line: 3 } },
      ],
    ])
    const away = useOf(() => Promise.reject(new LedgerUnavailable('away')))
    expect((await ask({ callers, use: () => away })).asked).toEqual([[]])
  })

  test('has why a changed file was not applied', async () => {
    const fault = { time: 5, reason: 'access.json:1:1: found nonsense' }
    const { body } = await ask({ access: () => ({ overview: async () => overview, fault: () => fault }) })
    expect(body).toMatchObject({ fault })
  })

  test('says whether the user may edit the file, if there is a folder for it', async () => {
    const mayEdit = () => true
    expect((await ask({ mayEdit })).body).toMatchObject({ mayEdit: true })
    expect((await ask({ mayEdit, access: () => undefined })).body).not.toHaveProperty('mayEdit')
  })

  test('is empty without a folder for the file', async () => {
    const { body } = await ask({ access: () => undefined, file: undefined, callers: async () => [] })
    expect(body).toEqual({ timeZone: 'UTC', limits: [], teams: [], named: [] })
  })

  test('names the providers, and no caller that a limit cannot name', async () => {
    const callers = async () => [
      { name: 'a b', person: { id: 'x', name: 'a b' } },
      { name: 'key:ci', key: { line: -7 } },
    ]
    const { body } = await ask({ callers, providers: () => ['groq'] })
    expect(body).toMatchObject({ named: [{ for: 'provider:groq', name: 'groq' }] })
  })

  test('is for owners alone', async () => {
    const error = await ask({ isOwner: () => false }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WireError)
    expect(error).toMatchObject({ status: 403, code: 'owners_only' })
  })
})
