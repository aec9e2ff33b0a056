import { afterEach, describe, expect, jest, test } from 'bun:test'
import { budgetLessors, type BudgetLessee, type BudgetLessors } from './budget-lessor.ts'
import { leasedBudgets } from './leased-budgets.ts'
import { budgetContract, budgetOf, startedAt, type BudgetedProcess } from './testing-budgets.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A process of a service, whose messages take a turn of the event loop each way. */
function processOf(lessors: BudgetLessors, clock: { readonly ms: number }) {
  let lessee: BudgetLessee | undefined
  let asked = 0
  /** Messages arrive in their order. */
  let sent = Promise.resolve()
  const notify = (deliver: (to: BudgetLessee) => void): void => {
    sent = sent.then(turn).then(() => lessee && deliver(lessee))
  }
  const budgets = leasedBudgets({
    lessor: {
      async admit(question) {
        asked += 1
        const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<BudgetLessee['admit']>>>()
        const cloned = structuredClone(question)
        notify((to) => void to.admit(cloned).then(resolve, reject))
        const decision = structuredClone(await promise)
        await turn()
        return decision
      },
      report(reports) {
        const cloned = structuredClone(reports)
        notify((to) => to.report(cloned))
      },
      raise: (hold, estimate) => notify((to) => to.raise(hold, estimate)),
      settle: (hold, cost) => notify((to) => to.settle(hold, cost)),
      async uses(asking) {
        await sent
        return (await lessee?.uses(asking)) ?? []
      },
    },
    clock: () => clock.ms,
    // A machine that is busy with other work answers late.
    answerMs: 60_000,
  })
  lessee = lessors.joined({
    async callBack(ids) {
      await turn()
      // As a worker does: decisions that arrived before are taken note of first.
      await turn()
      const reports = budgets.callBack(ids)
      await turn()
      return structuredClone(reports)
    },
  })
  return {
    authority: budgets,
    get asked() {
      return asked
    },
    async arrived() {
      await turn()
      budgets.flush()
      await sent
    },
    async crash() {
      lessee?.left()
      lessee = undefined
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
  const lessors = budgetLessors({ ...options, processes: 3, clock: () => clock.ms })
  return () => processOf(lessors, clock)
})

const spending = { sumSince: async () => 0 }

/** Processes of a service with one budget of 10,000 nano-USD. */
function service(processes: number) {
  const clock = { ms: 0 }
  const lessors = budgetLessors({ spending, now: () => startedAt, processes, clock: () => clock.ms })
  const all = Array.from({ length: processes }, () => processOf(lessors, clock))
  const [one, other] = all
  if (one === undefined || other === undefined) throw new Error('none')
  return { lessors, clock, all, one, other }
}

const budget = budgetOf(startedAt, { id: 'b', nanoUsd: 10_000 })

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
    const { one, other, clock, lessors } = service(2)
    const hold = await admitted(one, 100)
    clock.ms += 1_001
    await one.arrived()
    expect(lessors.book.state('b')).toEqual({ limit: 10_000, spent: 0, held: 100 })
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
    expect(await admitted(one, 100, { ...budget, nanoUsd: 200 })).toBeDefined()
    expect(await admitted(one, 1, { ...budget, nanoUsd: 200 })).toBeUndefined()
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
    const { one, other, lessors } = service(2)
    await admitted(one, 100)
    await admitted(one, 200)
    await one.arrived()
    await one.crash()
    expect(lessors.book.state('b')).toEqual({ limit: 10_000, spent: 300, held: 0 })
    expect((await other.authority.admit([budget], 9_700)).kind).toBe('held')
  })

  test('are reported by one timer, however often their use is asked for', async () => {
    jest.useFakeTimers()
    let reads = 0
    const { admit, uses } = leasedBudgets({
      lessor: {
        admit: async () => ({ decision: { kind: 'held', hold: 7, amount: 1, dearest: 0 }, leases: [50] }),
        report: () => undefined,
        raise: () => undefined,
        settle: () => undefined,
        uses: async () => [],
      },
      // Read by each report.
      clock: () => (reads += 1),
    })
    await admit([budget], 1)
    await admit([budget], 1)
    for (let asked = 0; asked < 10; asked++) await uses([budget])
    reads = 0
    for (let tick = 0; tick < 4; tick++) jest.advanceTimersByTime(250)
    expect(reads).toBe(4)
  })

  test('a process that has ended is asked once for what it has leased', async () => {
    let asked = 0
    const lessors = budgetLessors({ spending, now: () => startedAt, processes: 1, clock: () => 0 })
    const dead = lessors.joined({
      async callBack() {
        asked += 1
        throw new Error('the other process has ended')
      },
    })
    const other = lessors.joined({ callBack: async () => new Map() })
    const question = { budgets: [budget], estimate: 10, reports: new Map() }
    expect((await dead.admit(question)).leases).toEqual([2_497])
    dead.left()
    for (let attempt = 0; attempt < 3; attempt++) await other.admit({ ...question, estimate: 10_001 })
    expect(asked).toBe(1)
  })

  test('a lessor that does not answer in time refuses, and what it grants later is given back', async () => {
    const answering = Promise.withResolvers<void>()
    const settled: number[] = []
    const returned: number[] = []
    const { admit, callBack } = leasedBudgets({
      lessor: {
        async admit() {
          await answering.promise
          return { decision: { kind: 'held', hold: 7, amount: 1, dearest: 0 }, leases: [50] }
        },
        report: (reports) => returned.push(...Array.from(reports.values(), (report) => report.returned)),
        raise: () => undefined,
        settle: (hold) => void settled.push(hold),
        uses: async () => [],
      },
      clock: () => 0,
      answerMs: 1,
    })
    await expect(Promise.resolve(admit([budget], 1))).rejects.toThrow('no answer about budgets within 1 ms')
    answering.resolve()
    await turn()
    expect(settled).toEqual([7])
    expect(callBack(['b']).get('b')).toEqual({ spent: 0, open: 0, returned: 50 })
  })
})
