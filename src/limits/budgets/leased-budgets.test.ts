import { afterEach, describe, expect, jest, test } from 'bun:test'
import { LimitAuthority } from '../authority.ts'
import type { JoinedProcess } from '../lease-messages.ts'
import { Leases } from '../leases.ts'
import { BudgetHolds } from './budget-authority.ts'
import { budgetContract, budgetOf, startedAt, type BudgetedProcess } from './testing-budgets.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A process of a service, whose messages take a turn of the event loop each way. */
function processOf(authority: LimitAuthority, clock: { readonly ms: number }) {
  let joined: JoinedProcess | undefined
  let asked = 0
  /** Messages arrive in their order. */
  let sent = Promise.resolve()
  const notify = (deliver: (to: JoinedProcess) => void): void => {
    sent = sent.then(turn).then(() => joined && deliver(joined))
  }
  const leases = new Leases({
    authority: {
      async claim(claims) {
        asked += 1
        const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<JoinedProcess['claim']>>>()
        const cloned = structuredClone(claims)
        notify((to) => void to.claim(cloned).then(resolve, reject))
        const decision = structuredClone(await promise)
        await turn()
        return decision
      },
      report(reports) {
        const cloned = structuredClone(reports)
        notify((to) => to.report(cloned))
      },
    },
    clock: () => clock.ms,
  })
  joined = authority.joined({
    async callBack(keys) {
      await turn()
      // As a worker does: decisions that arrived before are taken note of first.
      await turn()
      const reports = leases.callBack(keys)
      await turn()
      return structuredClone(reports)
    },
  })
  return {
    authority: new BudgetHolds({
      // Budgets of a plan have members that cannot be sent.
      find: (spec) => leases.budget(Object.assign({ limit: () => undefined }, spec)),
      takeAll: leases.takeAll,
      async uses(asking) {
        leases.flush()
        await sent
        return (await joined?.uses(asking)) ?? []
      },
    }),
    get asked() {
      return asked
    },
    async arrived() {
      await turn()
      leases.flush()
      await sent
    },
    async crash() {
      joined?.left()
      joined = undefined
    },
  } satisfies BudgetedProcess & { readonly asked: number }
}

budgetContract('processes that lease from one', async (options) => {
  // Time passes, so that leases end, and are given again after they were called back.
  let ms = 0
  const clock = {
    get ms() {
      return (ms += 50)
    },
  }
  const authority = new LimitAuthority({ ...options, processes: 3, clock: () => clock.ms })
  return () => processOf(authority, clock)
})

const spending = { sumSince: async () => 0 }

/** Processes of a service with one budget of 10,000 nano-USD. */
function service(processes: number) {
  const clock = { ms: 0 }
  const authority = new LimitAuthority({ spending, now: () => startedAt, processes, clock: () => clock.ms })
  const all = Array.from({ length: processes }, () => processOf(authority, clock))
  const [one, other] = all
  if (one === undefined || other === undefined) throw new Error('none')
  return { authority, clock, all, one, other }
}

const budget = budgetOf(startedAt, { key: 'b', most: 10_000 })

async function admitted({ authority }: BudgetedProcess, estimate: number, asked = budget): Promise<number | undefined> {
  const answer = await authority.admit([asked], estimate)
  return answer.kind === 'held' ? answer.hold : undefined
}

afterEach(() => void jest.useRealTimers())

describe('leases of budgets', () => {
  test('spare most questions', async () => {
    const { all, one } = service(4)
    for (let attempt = 0; attempt < 800; attempt++) {
      const process = all[attempt % 4] ?? one
      const hold = await admitted(process, 10)
      if (hold !== undefined) process.authority.settle(hold, 10)
    }
    const asked = all.reduce((sum, each) => sum + each.asked, 0)
    expect(asked).toBeLessThan(200)
    await Promise.all(all.map((each) => each.arrived()))
    expect(await one.authority.uses([budget])).toEqual([{ used: 8_000, held: 0 }])
  })

  test('are called back, so that a budget is used to its end, and not further', async () => {
    const { all } = service(4)
    const passed = await Promise.all(
      Array.from({ length: 1_500 }, async (_, attempt) => {
        const process = all[attempt % 4]
        return process !== undefined && (await admitted(process, 10)) !== undefined
      }),
    )
    expect(passed.filter(Boolean)).toHaveLength(1_000)
  })

  test('what becomes free after a call-back is there for others at once', async () => {
    const { one, other } = service(2)
    const first = await admitted(one, 1_000)
    const leased = await admitted(one, 1_000)
    expect(one.asked).toBe(1)
    expect(await admitted(other, 8_000)).toBeDefined()
    expect(await admitted(other, 1)).toBeUndefined()
    if (leased !== undefined) one.authority.settle(leased, 300)
    if (first !== undefined) one.authority.settle(first, 300)
    await one.arrived()
    expect((await other.authority.admit([budget], 1_400)).kind).toBe('held')
    expect(await other.authority.uses([budget])).toEqual([{ used: 600, held: 9_400 }])
  })

  test('are given back after a second', async () => {
    const { one, other, clock, authority } = service(2)
    const hold = await admitted(one, 100)
    clock.ms += 1_001
    await one.arrived()
    expect(authority.budgets.known('b')).toMatchObject({ spent: 0, held: 100 })
    if (hold !== undefined) one.authority.settle(hold, 40)
    await one.arrived()
    expect((await other.authority.admit([budget], 9_960)).kind).toBe('held')
    expect(one.asked).toBe(1)
  })

  test('are given back, too, where an attempt at a free model has gone on from one lease to the next', async () => {
    const { one, other, clock } = service(2)
    const first = await admitted(one, 100)
    const free = await admitted(one, 0)
    expect(one.asked).toBe(1)
    if (first !== undefined) one.authority.settle(first, 0)
    clock.ms += 1_001
    await one.arrived()
    const next = await admitted(one, 100)
    expect(one.asked).toBe(2)
    if (next !== undefined) one.authority.settle(next, 0)
    if (free !== undefined) one.authority.settle(free, 0)
    clock.ms += 1_001
    await one.arrived()
    const all = await other.authority.admit([budget], 10_000)
    expect(all).toMatchObject({ kind: 'held', amount: 10_000 })
  })

  test('a changed limit counts at once, also where there is a lease', async () => {
    const { one } = service(2)
    await admitted(one, 100)
    expect(await admitted(one, 100, { ...budget, most: 200 })).toBeDefined()
    expect(await admitted(one, 1, { ...budget, most: 200 })).toBeUndefined()
  })

  test('an attempt that costs, or holds, more than was leased is known to all at once', async () => {
    const { one, other } = service(2)
    await admitted(one, 10)
    const hold = await admitted(one, 10)
    expect(one.asked).toBe(1)
    if (hold !== undefined) one.authority.raise(hold, 9_000)
    await one.arrived()
    expect((await other.authority.admit([budget], 2_000)).kind).toBe('held')
    expect(await admitted(other, 1)).toBeUndefined()
    if (hold !== undefined) one.authority.settle(hold, 9_990)
    await one.arrived()
    expect(await one.authority.uses([budget])).toEqual([{ used: 9_990, held: 1_000 }])
  })

  test('of a process that has died are free, and what it had under way is booked', async () => {
    const { one, other, authority } = service(2)
    await admitted(one, 100)
    await admitted(one, 200)
    await one.arrived()
    await one.crash()
    expect(authority.budgets.known('b')).toMatchObject({ spent: 300, held: 0 })
    expect((await other.authority.admit([budget], 9_700)).kind).toBe('held')
  })

  test('are reported by one timer, however often their use is asked for', async () => {
    jest.useFakeTimers()
    let reads = 0
    const held = { amount: 1, isShort: false, dearest: 0 }
    const leases = new Leases({
      authority: {
        claim: async () => ({ counters: [{ lease: 50, remaining: 0, resetMs: 0, held }] }),
        report: () => undefined,
      },
      // Read by each report.
      clock: () => (reads += 1),
    })
    const { takeAll } = leases
    const holds = new BudgetHolds({ find: (spec) => leases.budget(spec), takeAll, uses: async () => [] })
    await holds.admit([budget], 1)
    await holds.admit([budget], 1)
    for (let asked = 0; asked < 10; asked++) leases.flush()
    reads = 0
    for (let tick = 0; tick < 4; tick++) jest.advanceTimersByTime(250)
    expect(reads).toBe(4)
  })

  test('a process that has ended is not asked for what it has leased', async () => {
    let asked = 0
    const authority = new LimitAuthority({ spending, now: () => startedAt, processes: 1, clock: () => 0 })
    const dead = authority.joined({
      async callBack() {
        asked += 1
        throw new Error('the other process has ended')
      },
    })
    const other = authority.joined({ callBack: async () => new Map() })
    const claim = { spec: budget, amount: 10, recent: 0 }
    expect((await dead.claim([claim])).counters).toMatchObject([{ lease: 2_497 }])
    dead.left()
    for (let attempt = 0; attempt < 3; attempt++) await other.claim([{ ...claim, amount: 10_001 }])
    expect(asked).toBe(0)
  })

  test('of a short hold whose process has died are booked at what the attempt was likely to cost', async () => {
    const { one, other, authority } = service(2)
    await admitted(one, 9_000)
    expect(await one.authority.admit([budget], 20_000, 4_000)).toMatchObject({ kind: 'held', amount: 1_000 })
    await one.arrived()
    await one.crash()
    expect(authority.budgets.known('b')).toMatchObject({ spent: 13_000, held: 0, isBusy: false, open: 0 })
    expect(await other.authority.admit([budget], 1)).toMatchObject({ kind: 'refused' })
  })

  test('leave no account open when all has ended', async () => {
    const { all, authority } = service(3)
    const open: (readonly [BudgetedProcess, number])[] = []
    for (let attempt = 0; attempt < 60; attempt++) {
      const process = all[attempt % 3]
      const hold = process && (await admitted(process, attempt % 7 === 0 ? 0 : 150))
      if (process !== undefined && hold !== undefined) open.push([process, hold])
    }
    for (const [{ authority: budgets }, hold] of open) budgets.settle(hold, 20)
    expect((await all[0]?.authority.uses([budget]))?.[0]?.held).toBe(0)
    await Promise.all(all.map((each) => each.arrived()))
    expect(authority.budgets.known('b')).toMatchObject({ held: 0, open: 0, spent: 20 * open.length })
  })
})
