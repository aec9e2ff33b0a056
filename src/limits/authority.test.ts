import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LimitAuthority } from './authority.ts'
import { budgetOf, startedAt } from './budgets/testing-budgets.ts'
import { CounterBook } from './counter-book.ts'
import type { JoinedProcess } from './lease-messages.ts'
import { Leases } from './leases.ts'
import { Limiter } from './limiter.ts'
import {
  admit,
  authorityContract,
  counterKeys,
  passed,
  policyOf,
  turnsOf,
  type Amounts,
  type Join,
  type LimitedProcess,
} from './testing-authority.ts'

const clock = { ms: 1_000 }
const now = () => clock.ms
const nothingSpent = { spending: { sumSince: async () => 0 }, now }

/** A process of a service, whose messages take a turn of the event loop each way. */
function processOf(authority: LimitAuthority, amounts: Amounts): LimitedProcess {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  let joined: JoinedProcess | undefined
  let asked = 0
  const leases = new Leases({
    authority: {
      async claim(claims) {
        asked += 1
        await turn()
        const decision = await joined?.claim(structuredClone(claims))
        await turn()
        if (decision === undefined) throw new Error('ended')
        return structuredClone(decision)
      },
      report: (reports) => void turn().then(() => joined?.report(structuredClone(reports))),
    },
    clock: now,
  })
  joined = authority.joined({
    async callBack(keys) {
      await turn()
      // As `workerLimits` does: decisions that arrived before are learned first.
      await turn()
      const returned = leases.callBack(keys)
      await turn()
      return structuredClone(returned)
    },
  })
  const limits = new Limiter({
    clock: now,
    counters: new CounterBook(undefined, (spec) => leases.counter(spec)),
    leases,
  })
  limits.replace(policyOf(amounts))
  return {
    limits,
    get asked() {
      return asked
    },
    async returnAll() {
      joined?.report(leases.callBack(counterKeys))
    },
    async kill() {
      joined?.left()
      joined = undefined
    },
  }
}

async function service(amounts: Amounts, processes: number): Promise<Join> {
  const authority = new LimitAuthority({ processes, clock: now, ...nothingSpent })
  return () => processOf(authority, amounts)
}

authorityContract('an authority in one of the processes', service)

describe('several processes with an authority in one of them', () => {
  test.each([1, 7, 100, 1_000])('keep one limit of %d requests together, exactly', async (requests) => {
    const join = await service({ requests }, 4)
    const all = Array.from({ length: 4 }, join)
    let count = 0
    for (const process of turnsOf(all, requests + 20)) count += passed([await admit(process)]).length
    expect(count).toBe(requests)
  })

  test('never exceed a limit when questions arrive in one turn', async () => {
    const authority = new LimitAuthority({ processes: 2, clock: now, ...nothingSpent })
    const joined = authority.joined({ callBack: async () => new Map() })
    const spec = { key: 'a', kind: 'requests', most: 20, perMs: 60_000, subject: 'everyone', text: '' } as const
    const claims = [{ spec, amount: 1, recent: 0 }]
    const decisions = await Promise.all(Array.from({ length: 60 }, () => joined.claim(claims)))
    const granted = decisions.flatMap(({ refused, counters }) => (refused === undefined ? counters : []))
    expect(granted.reduce((sum, { lease }) => sum + 1 + lease, 0)).toBe(20)
  })

  test('use slots that another process has free, without waiting for their return', async () => {
    const join = await service({ atOnce: 3 }, 2)
    const [one, other] = [join(), join()]
    const first = await Promise.all([admit(one), admit(one), admit(one)])
    for (const admission of first.slice(1)) admission.end(undefined)
    expect(passed([await admit(other), await admit(other), await admit(other)]).length).toBe(2)
  })

  test('an authority that fails refuses nothing silently, and leaks nothing', async () => {
    const join = await service({ atOnce: 2 }, 1)
    const one = join()
    const first = await admit(one)
    await one.kill()
    await expect(admit(one)).rejects.toThrow('ended')
    first.end(undefined)
    expect(passed([await admit(one)]).length).toBe(1)
  })

  test('return leases that are not used, and debts, without being asked', async () => {
    const spec = { key: 'a', kind: 'tokens', most: 1_000, perMs: 60_000, subject: 'everyone', text: '' } as const
    const returned = Promise.withResolvers<unknown>()
    const leases = new Leases({
      authority: {
        claim: async () => ({ counters: [{ lease: 50, remaining: 100, resetMs: 5 }] }),
        report: (reports) => returned.resolve([...reports]),
      },
      clock: now,
      leaseMs: 0,
    })
    const counter = leases.counter(spec)
    await leases.takeAll([{ counter, amount: 100 }], now())
    expect(counter.remaining(now())).toBe(1_000)
    counter.take(70, now())
    expect(await returned.promise).toEqual([['a', { spec, returned: -20, mayReturn: false }]])
    expect(counter.mayForget()).toBe(true)
  })
})

describe('leases', () => {
  const act = fc.record({
    kind: fc.constantFrom('claim', 'claim', 'claim', 'return', 'leave'),
    process: fc.nat(2),
    account: fc.nat(2),
    amount: fc.integer({ min: 1, max: 30 }),
    share: fc.constantFrom(0, 0.5, 1),
  })

  test('never grant more than the whole of requests, slots and money, in any order of events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 30, max: 400 }), fc.array(act, { maxLength: 80 }), async (most, acts) => {
        const authority = new LimitAuthority({
          processes: 3,
          clock: () => 0,
          spending: { sumSince: async () => 0 },
          now: () => startedAt,
        })
        const rate = { key: 'r', kind: 'requests', most, perMs: 86_400_000, subject: '', text: '' } as const
        const specs = [rate, { ...rate, key: 's', kind: 'at_once', perMs: 0 } as const, budgetOf(startedAt, { most })]
        const join = () => authority.joined({ callBack: async () => new Map() })
        const joined = [join(), join(), join()]
        /** What the processes have, by process and account. */
        const has = joined.map(() => [0, 0, 0])
        const used = [0, 0, 0]
        /** Of money, what attempts hold, by process. */
        const open = [0, 0, 0]
        for (const { kind, process, account, amount, share } of acts) {
          const own = has[process] ?? []
          const spec = specs[account] ?? rate
          const had = own[account] ?? 0
          if (kind === 'claim') {
            const { refused, counters } = (await joined[process]?.claim([{ spec, amount, recent: 0 }])) ?? {}
            const [{ lease, held } = { lease: 0, held: undefined }] = counters ?? []
            if (refused === undefined) own[account] = had + lease + (held?.amount ?? amount)
            open[process] = (open[process] ?? 0) + (held?.amount ?? 0)
          } else if (kind === 'return') {
            const returned = Math.floor(had * share)
            const ended = account === 2 ? Math.min(returned, open[process] ?? 0) : 0
            open[process] = (open[process] ?? 0) - ended
            const money = { spent: 0, opened: -ended, dearest: 0, raised: 0, endsShort: true }
            joined[process]?.report(
              new Map([[spec.key, { returned, mayReturn: true, ...(spec.kind === 'usd' ? { money } : {}) }]]),
            )
            own[account] = had - returned
          } else {
            joined[process]?.left()
            joined[process] = join()
            // What a rate has given is gone, and may have been used.
            used[0] = (used[0] ?? 0) + (own[0] ?? 0)
            has[process] = [0, 0, 0]
            used[2] = (used[2] ?? 0) + (open[process] ?? 0)
            open[process] = 0
          }
          for (const index of specs.keys())
            expect(has.reduce((sum, each) => sum + (each[index] ?? 0), used[index] ?? 0)).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: 100 },
    )
  })
})
