import { describe, expect, test } from 'bun:test'
import { limitAuthority, type Lessee, type LimitAuthority } from './authority.ts'
import { counterBook } from './counter-book.ts'
import { leasedCounters } from './leased-counters.ts'
import { limiter } from './limiter.ts'
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

/** A process of a service, whose messages take a turn of the event loop each way. */
function processOf(authority: LimitAuthority, amounts: Amounts): LimitedProcess {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  let lessee: Lessee | undefined
  let asked = 0
  const leases = leasedCounters({
    authority: {
      async claim(claims) {
        asked += 1
        await turn()
        const decision = await lessee?.claim(structuredClone(claims))
        await turn()
        if (decision === undefined) throw new Error('ended')
        return structuredClone(decision)
      },
      giveBack: (returned) => void turn().then(() => lessee?.giveBack(structuredClone(returned))),
    },
    clock: now,
  })
  lessee = authority.joined({
    async callBack(keys) {
      await turn()
      // As `workerLimits` does: decisions that arrived before are learned first.
      await turn()
      const returned = leases.callBack(keys)
      await turn()
      return structuredClone(returned)
    },
  })
  const limits = limiter({
    clock: now,
    counters: counterBook(undefined, leases.make),
    takeAll: leases.takeAll,
    refresh: leases.refresh,
  })
  limits.replace(policyOf(amounts))
  return {
    limits,
    get asked() {
      return asked
    },
    async returnAll() {
      lessee?.giveBack(leases.callBack(counterKeys))
    },
    async kill() {
      lessee?.left()
      lessee = undefined
    },
  }
}

async function service(amounts: Amounts, processes: number): Promise<Join> {
  const authority = limitAuthority({ processes, clock: now })
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
    const authority = limitAuthority({ processes: 2, clock: now })
    const lessee = authority.joined({ callBack: async () => new Map() })
    const spec = { key: 'a', kind: 'requests', most: 20, perMs: 60_000, subject: 'everyone', text: '' } as const
    const claims = [{ spec, amount: 1, recent: 0 }]
    const decisions = await Promise.all(Array.from({ length: 60 }, () => lessee.claim(claims)))
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
    const leases = leasedCounters({
      authority: {
        claim: async () => ({ counters: [{ lease: 50, remaining: 100, resetMs: 5 }] }),
        giveBack: (amounts) => returned.resolve([...amounts]),
      },
      clock: now,
      leaseMs: 0,
    })
    const counter = leases.make(spec)
    await leases.takeAll([{ counter, amount: 100 }], now())
    expect(counter.remaining(now())).toBe(1_000)
    counter.take(70, now())
    expect(await returned.promise).toEqual([['a', { spec, amount: -20, hasOpen: false }]])
    expect(counter.mayForget()).toBe(true)
  })
})
