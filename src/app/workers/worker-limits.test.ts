import { expect, test } from 'bun:test'
import type { ClaimDecision, LeaseReports } from '../../limits/lease-messages.ts'
import { workerLimits } from './worker-limits.ts'

const scope = { subject: { kind: 'everyone' }, caller: '', members: [], models: undefined } as const
const window = { start: 0, end: Infinity }
const budget = {
  kind: 'usd',
  text: 'b',
  key: 'b',
  most: 100,
  isOpenWhenAway: false,
  window,
  activeSince: 0,
  scope,
} as const
const limited = {
  timeZone: 'UTC',
  teams: new Map(),
  limits: [{ place: 'limits[0]', subject: { kind: 'everyone' }, atOnce: 9 }],
} as const

/** A worker whose primary decides when it is told to. */
function worker() {
  const deciding = Promise.withResolvers<ClaimDecision>()
  const reported: LeaseReports[] = []
  const limits = workerLimits(
    {
      claim: () => deciding.promise,
      report: (reports: LeaseReports) => void reported.push(reports),
      uses: async () => [],
    },
    1,
  )
  return { limits, deciding, reported }
}

test('a primary that does not answer in time refuses an attempt, and what it grants later is given back', async () => {
  const { limits, deciding, reported } = worker()
  const budgets = await limits.makeBudgetAuthority()
  await expect(Promise.resolve(budgets.admit([budget], 7, 5))).rejects.toMatchObject({ status: 503 })
  const held = { amount: 5, isShort: true, dearest: 0 }
  deciding.resolve({ counters: [{ lease: 50, remaining: 0, resetMs: 0, held }] })
  await Bun.sleep(0)
  const money = { spent: 0, opened: -5, dearest: 0, raised: 0, endsShort: true }
  expect(reported.flatMap((each) => [...each.values()])).toEqual([{ returned: 55, mayReturn: true, money }])
})

test('a primary that does not answer in time refuses a request, and what it grants later is given back', async () => {
  const { limits, deciding, reported } = worker()
  const limiter = await limits.makeLimiter()
  limiter.replace(limited)
  await expect(Promise.resolve(limiter.admit({}))).rejects.toMatchObject({ status: 503 })
  deciding.resolve({ counters: [{ lease: 2, remaining: 0, resetMs: 0 }] })
  await Bun.sleep(0)
  expect(reported.flatMap((each) => [...each.values()])).toMatchObject([{ returned: 3, mayReturn: true }])
})
