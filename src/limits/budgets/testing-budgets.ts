import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BudgetAuthority } from './budget-authority.ts'
import type { AskedBudget, Spending, SpendingSource } from './opened-budgets.ts'

/** A process of a service under test. */
export interface BudgetedProcess {
  readonly authority: BudgetAuthority
  /** Resolves when all that the process has sent has arrived. */
  arrived(): Promise<void>
  /** Ends the process without a word. Resolves when its holds are booked. */
  crash(): Promise<void>
}

/** Makes a process that shares budgets with the others of the same service. */
export type JoinBudgets = () => BudgetedProcess

const hourMs = 3_600_000
/** The time at which every service starts. */
export const startedAt = 500_000 * hourMs

/** A budget of 100 nano-USD for everyone, for a day. */
export function budgetOf(start: number, more: Partial<AskedBudget> = {}): AskedBudget {
  const scope = { subject: { kind: 'everyone' }, caller: '', members: [], models: undefined } as const
  const window = { start, end: start + 24 * hourMs }
  return {
    kind: 'usd',
    text: 'everyone, a day',
    key: `everyone ${start}`,
    most: 100,
    isOpenWhenAway: false,
    window,
    activeSince: 0,
    scope,
    ...more,
  }
}

interface Held {
  readonly hold: number
  readonly amount: number
}

/** @throws when the authority refuses */
async function held(
  { authority }: BudgetedProcess,
  budgets: readonly AskedBudget[],
  estimate: number,
  alone?: number,
): Promise<Held> {
  const answer = await authority.admit(budgets, estimate, alone)
  if (answer.kind === 'refused') throw new Error(`refused by ${answer.by}`)
  return answer
}

async function useOf(process: BudgetedProcess, budget: AskedBudget): Promise<readonly (number | undefined)[]> {
  await process.arrived()
  const [use] = await process.authority.uses([budget])
  return [use?.used, use?.held]
}

type Act = 'admit' | 'settle' | 'cancel' | 'raise' | 'crash' | 'wait'

interface Step {
  readonly act: Act
  readonly process: number
  readonly budgets: readonly number[]
  readonly estimate: number
  readonly pick: number
  /** Of the estimate. */
  readonly share: number
  /** The likely cost, of the estimate. */
  readonly aloneShare: number
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom<Act>(
    'admit',
    'admit',
    'admit',
    'admit',
    'settle',
    'settle',
    'settle',
    'cancel',
    'raise',
    'crash',
    'wait',
  ),
  // One of them is busier, and uses up what it leased.
  process: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
  budgets: fc.subarray([0, 1, 2], { minLength: 1 }),
  estimate: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(0), fc.integer({ min: 100, max: 400 })),
  pick: fc.nat(1_000),
  share: fc.constantFrom(0, 0.01, 0.5, 1, 1, 1),
  aloneShare: fc.constant(1),
})
/** Attempts of one size that may cost many times of what is likely. */
const wildStep: fc.Arbitrary<Step> = fc
  .tuple(step, fc.constantFrom(1, 0.5, 0.02))
  .map(([each, aloneShare]) => ({ ...each, aloneShare, estimate: 60, act: each.act === 'crash' ? 'wait' : each.act }))

interface OpenHold {
  readonly hold: number
  readonly estimate: number
  readonly budgets: readonly number[]
}

/** Runs steps on a service, and keeps its own account of every hold. */
class Run {
  readonly spent = [0, 0, 0]
  readonly budgets: readonly AskedBudget[]
  readonly #join: JoinBudgets
  readonly #processes: BudgetedProcess[]
  readonly #open = new Map<BudgetedProcess, OpenHold[]>()
  #running: Promise<void>[] = []
  dearest = 0

  constructor(join: JoinBudgets, limits: readonly number[]) {
    this.#join = join
    this.#processes = [join(), join(), join()]
    this.budgets = limits.map((most, index) => budgetOf(startedAt, { key: `limit ${index}`, most }))
  }

  async take({ act, process: index, budgets, estimate, pick, share, aloneShare }: Step): Promise<void> {
    const process = this.#processes[index]
    if (process === undefined) return
    const open = this.#open.get(process) ?? []
    this.#open.set(process, open)
    const chosen = open[pick % Math.max(1, open.length)]
    if (act === 'admit') this.#running.push(this.#admit(process, open, { budgets, estimate, aloneShare }))
    else if (act === 'wait') await this.settled()
    else if (act === 'crash') await this.#crash(index, process)
    else if (chosen !== undefined && act === 'raise')
      process.authority.raise(chosen.hold, Math.round(chosen.estimate * share))
    else if (chosen !== undefined) this.#end(process, open, chosen, act === 'cancel' ? 0 : share)
  }

  async #admit(process: BudgetedProcess, open: OpenHold[], step: Pick<Step, 'budgets' | 'estimate' | 'aloneShare'>) {
    const { budgets, estimate, aloneShare } = step
    const asked = budgets.flatMap((index) => this.budgets[index] ?? [])
    const answer = await process.authority.admit(asked, estimate, Math.ceil(estimate * aloneShare))
    if (answer.kind === 'held') open.push({ hold: answer.hold, estimate, budgets })
    else expect(estimate).toBeGreaterThan(0)
  }

  #end(process: BudgetedProcess, open: OpenHold[], ended: OpenHold, share: number): void {
    open.splice(open.indexOf(ended), 1)
    const cost = Math.round(ended.estimate * share)
    process.authority.settle(ended.hold, cost)
    this.#note(ended, cost)
  }

  async #crash(index: number, process: BudgetedProcess): Promise<void> {
    await this.settled()
    for (const left of this.#open.get(process) ?? []) this.#note(left, left.estimate)
    this.#open.delete(process)
    await process.crash()
    this.#processes[index] = this.#join()
  }

  #note({ budgets }: OpenHold, cost: number): void {
    this.dearest = Math.max(this.dearest, cost)
    for (const budget of budgets) this.spent[budget] = (this.spent[budget] ?? 0) + cost
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running.splice(0))
    await Promise.all(this.#processes.map((each) => each.arrived()))
  }

  async endAll(): Promise<void> {
    await this.settled()
    for (const [process, open] of this.#open) for (const each of [...open]) this.#end(process, open, each, 1)
    await this.settled()
  }

  uses() {
    return this.#processes[0]?.authority.uses(this.budgets)
  }
}

/**
 * The promises that every authority over budgets keeps.
 *
 * @param service makes a new service. @param runs of the property
 */
export function budgetContract(
  name: string,
  service: (options: SpendingSource) => Promise<JoinBudgets>,
  runs = 200,
): void {
  async function started(sum: number | Error = 70) {
    const asked: number[] = []
    const clock = { now: startedAt }
    const spending: Spending = {
      async sumSince(_scope, since) {
        asked.push(since)
        if (sum instanceof Error) throw sum
        return sum
      },
    }
    const join = await service({ spending, now: () => clock.now })
    return { one: join(), join, asked, clock }
  }

  const now = startedAt
  const team = budgetOf(now, { key: 'team' })
  const own = budgetOf(now, { key: 'own', most: 10 })

  describe(`${name}: complaint: spend forgotten by restarts, or per replica`, () => {
    test('is not so: a budget starts with what was spent since the start of its window, read once', async () => {
      const { one, asked } = await started()
      const answers = await Promise.all([1, 2].map(async () => one.authority.admit([budgetOf(now - hourMs)], 20)))
      expect(answers.map(({ kind }) => kind)).toEqual(['held', 'held'])
      expect(answers[1]).toMatchObject({ amount: 10 })
      expect(asked).toEqual([now - hourMs])
    })

    test('is not so: while the sums cannot be read, attempts are refused, and then they are read again', async () => {
      const { one, asked } = await started(new Error('locked'))
      for (let attempt = 0; attempt < 2; attempt++)
        await expect((async () => one.authority.admit([budgetOf(now - hourMs)], 1))()).rejects.toThrow('locked')
      expect(asked).toHaveLength(2)
    })

    test('is not so: a limit that was added within a window starts with what was spent in it', async () => {
      const { one, asked } = await started()
      await one.authority.admit([budgetOf(now + hourMs, { activeSince: now + 2 * hourMs })], 1)
      expect(asked).toEqual([now + hourMs])
    })

    test('is not so: the sum is read again for a limit that was away for a while, once', async () => {
      const { one, asked, clock } = await started()
      await held(one, [budgetOf(now)], 1)
      expect(asked).toEqual([])
      clock.now = now + 2 * hourMs
      const back = budgetOf(now, { activeSince: now + hourMs })
      await held(one, [back], 1)
      await held(one, [back], 1)
      expect(asked).toEqual([now])
      expect(await useOf(one, back)).toEqual([70, 3])
    })
  })

  describe(`${name}: holds`, () => {
    test('take the estimate, and end once with the real cost', async () => {
      const { one } = await started()
      const { hold } = await held(one, [team], 60)
      expect(await useOf(one, team)).toEqual([0, 60])
      for (let time = 0; time < 2; time++) one.authority.settle(hold, 25)
      one.authority.raise(hold, 90)
      expect(await useOf(one, team)).toEqual([25, 0])
    })

    test('what is left for one attempt, and refuse the next one, also after room was freed', async () => {
      const { one, join } = await started()
      const other = join()
      const first = await held(one, [team], 90)
      const short = await held(other, [team], 40)
      expect(short.amount).toBe(10)
      expect(await one.authority.admit([team], 1)).toEqual({ kind: 'refused', by: 0, isBusy: true })
      one.authority.settle(first.hold, 50)
      await one.arrived()
      expect(await one.authority.admit([team], 60)).toEqual({ kind: 'refused', by: 0, isBusy: true })
      expect((await held(one, [team], 30)).amount).toBe(30)
      other.authority.settle(short.hold, 5)
      await other.arrived()
      expect((await held(one, [team], 60)).amount).toBe(15)
    })

    test('of an attempt that may cost more: the most that fits, else what is likely, by one', async () => {
      const { one, join } = await started()
      const other = join()
      const first = await held(one, [team], 80, 10)
      expect(first.amount).toBe(80)
      one.authority.settle(first.hold, 10)
      await one.arrived()
      const alone = await held(other, [team], 400, 20)
      expect(alone.amount).toBe(20)
      expect((await held(one, [team], 30)).amount).toBe(30)
      expect(await one.authority.admit([team], 400, 20)).toEqual({ kind: 'refused', by: 0, isBusy: true })
      other.authority.settle(alone.hold, 59)
      await other.arrived()
      expect((await held(one, [team], 400, 20)).amount).toBe(1)
    })

    test('say what the dearest attempt has cost in their budgets', async () => {
      const { one, join } = await started()
      const other = join()
      for (const cost of [7, 3]) {
        other.authority.settle((await held(other, [team], 90)).hold, cost)
        await other.arrived()
      }
      expect(await one.authority.admit([own, team], 400, 400)).toMatchObject({ amount: 10, dearest: 7 })
    })

    test('look at all budgets before they take from any, and name the one that refuses', async () => {
      const { one } = await started()
      one.authority.settle((await held(one, [own], 10)).hold, 10)
      await one.arrived()
      expect(await one.authority.admit([team, own], 5)).toEqual({ kind: 'refused', by: 1, isBusy: false })
      expect(await useOf(one, team)).toEqual([0, 0])
    })

    test('take all of the estimate in budgets that have room, beside a short hold in another', async () => {
      const { one } = await started()
      expect((await held(one, [team, own], 30)).amount).toBe(10)
      expect(await useOf(one, team)).toEqual([0, 30])
      expect((await held(one, [team], 90)).amount).toBe(70)
    })

    test('of nothing are always there, and a lower limit counts at once', async () => {
      const { one } = await started()
      one.authority.settle((await held(one, [team], 0)).hold, 0)
      await held(one, [team], 50)
      expect(await one.authority.admit([{ ...team, most: 50 }], 1)).toEqual({
        kind: 'refused',
        by: 0,
        isBusy: false,
      })
      expect((await held(one, [{ ...team, most: 0 }], 0)).amount).toBe(0)
    })

    test('grow beyond the room', async () => {
      const { one } = await started()
      const { hold } = await held(one, [team], 80)
      one.authority.raise(hold, 120)
      one.authority.raise(hold, 50)
      expect(await useOf(one, team)).toEqual([0, 120])
      one.authority.settle(hold, 110)
      expect(await useOf(one, team)).toEqual([110, 0])
    })

    test('of a process that has died are booked at their estimates, and others go on', async () => {
      const { one, join } = await started()
      const other = join()
      await held(other, [team], 30)
      const { hold } = await held(one, [team], 20)
      await other.crash()
      expect(await useOf(one, team)).toEqual([30, 20])
      one.authority.settle(hold, 1)
      expect(await useOf(one, team)).toEqual([31, 0])
    })

    test('of more than numbers of 53 bits are as good as endless', async () => {
      const { one } = await started()
      const large = budgetOf(now, { key: 'large', most: Number.MAX_SAFE_INTEGER - 1 })
      for (let time = 0; time < 3; time++)
        one.authority.settle((await held(one, [large], 0)).hold, Number.MAX_SAFE_INTEGER - 3)
      await one.arrived()
      expect(await one.authority.admit([large], 1)).toEqual({ kind: 'refused', by: 0, isBusy: false })
    })
  })

  test.each([
    ['in any order of events', step],
    ['by attempts that may cost more than is likely', wildStep],
  ])(`${name}: budgets are exceeded by one request at most, %s`, async (_name, steps) => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.nat(500), fc.nat(500), fc.constantFrom(0, 50, 5_000)),
        fc.array(steps, { maxLength: 80, size: 'max' }),
        async (limits, steps) => {
          const spending = { sumSince: async () => 0 }
          const run = new Run(await service({ spending, now: () => startedAt }), limits)
          for (const each of steps) {
            await run.take(each)
            for (const [index, limit] of limits.entries())
              expect(run.spent[index]).toBeLessThanOrEqual(limit + run.dearest)
          }
          await run.endAll()
          for (const [index, limit] of limits.entries())
            expect(run.spent[index]).toBeLessThanOrEqual(limit + run.dearest)
          expect(await run.uses()).toEqual(run.spent.map((used) => ({ used, held: 0 })))
        },
      ),
      { numRuns: runs },
    )
  })
}
