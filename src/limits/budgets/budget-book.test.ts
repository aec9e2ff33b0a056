import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { budgetBook, type BookHold, type BudgetBook, type BudgetLimit } from './budget-book.ts'

/** Processes. */
const w1 = { name: 'w1' }
const w2 = { name: 'w2' }
const team: BudgetLimit = { id: 'team', nanoUsd: 100 }

function book(...budgets: readonly string[]): BudgetBook {
  const made = budgetBook()
  for (const id of budgets) made.open(id, 0)
  return made
}

function held(made: BudgetBook, budgets: readonly BudgetLimit[], estimate: number, owner = w1): BookHold {
  const admission = made.admit(budgets, estimate, owner)
  if (admission.kind === 'refused') throw new Error(`refused by ${admission.budget}`)
  return admission.hold
}

describe('a book of budgets', () => {
  test('holds the estimate, and books the real cost', () => {
    const made = book('team')
    const hold = held(made, [team], 60)
    expect(made.state('team')).toEqual({ limit: 100, spent: 0, held: 60 })
    made.settle(hold.id, 25)
    expect(made.state('team')).toEqual({ limit: 100, spent: 25, held: 0 })
  })

  test('ends a hold once', () => {
    const made = book('team')
    const hold = held(made, [team], 60)
    made.settle(hold.id, 25)
    made.settle(hold.id, 25)
    made.raise(hold.id, 90)
    expect(made.state('team')).toEqual({ limit: 100, spent: 25, held: 0 })
    expect(made.holds).toBe(0)
  })

  test('holds what is left for one attempt, and refuses the next one', () => {
    const made = book('team')
    held(made, [team], 90)
    const short = held(made, [team], 40)
    expect(short.amount).toBe(10)
    expect(made.admit([team], 1, w1)).toEqual({ kind: 'refused', budget: 'team', isBusy: true })
  })

  test('refuses a second short hold while one is open, also after room was freed', () => {
    const made = book('team')
    const first = held(made, [team], 90)
    const short = held(made, [team], 40)
    made.settle(first.id, 50)
    expect(made.admit([team], 60, w1)).toEqual({ kind: 'refused', budget: 'team', isBusy: true })
    expect(held(made, [team], 30).amount).toBe(30)
    made.settle(short.id, 5)
    expect(held(made, [team], 60).amount).toBe(15)
  })

  test('looks at all budgets before it takes from any', () => {
    const own: BudgetLimit = { id: 'own', nanoUsd: 10 }
    const made = book('team', 'own')
    made.settle(held(made, [own], 10).id, 10)
    expect(made.admit([team, own], 5, w1)).toEqual({ kind: 'refused', budget: 'own', isBusy: false })
    expect(made.state('team')).toMatchObject({ spent: 0, held: 0 })
  })

  test('holds all of the estimate in budgets that have room, beside a short hold in another', () => {
    const own: BudgetLimit = { id: 'own', nanoUsd: 10 }
    const made = book('team', 'own')
    expect(held(made, [team, own], 30).amount).toBe(10)
    expect(made.state('team')).toMatchObject({ held: 30 })
    // Short only in the other budget.
    expect(held(made, [team], 90).amount).toBe(70)
  })

  test('admits what costs nothing, in a budget without room', () => {
    const none: BudgetLimit = { id: 'none', nanoUsd: 0 }
    const made = book('none')
    expect(made.admit([none], 1, w1).kind).toBe('refused')
    const hold = held(made, [none], 0)
    made.settle(hold.id, 0)
    expect(made.state('none')).toEqual({ limit: 0, spent: 0, held: 0 })
  })

  test('starts with what was spent before, and a lower limit counts at once', () => {
    const made = budgetBook()
    made.open('team', 70)
    made.open('team', 0)
    expect(held(made, [team], 50).amount).toBe(30)
    expect(made.admit([{ id: 'team', nanoUsd: 60 }], 1, w1).kind).toBe('refused')
  })

  test('raises a hold beyond the room', () => {
    const made = book('team')
    const hold = held(made, [team], 80)
    made.raise(hold.id, 120)
    expect(made.state('team')).toMatchObject({ held: 120 })
    expect(hold.estimate).toBe(120)
    made.raise(hold.id, 50)
    expect(made.state('team')).toMatchObject({ held: 120 })
  })

  test('books the holds of an owner that has gone at their estimates', () => {
    const made = book('team')
    held(made, [team], 30, w1)
    const other = held(made, [team], 20, w2)
    expect(made.abandon(w1)).toBe(1)
    expect(made.state('team')).toEqual({ limit: 100, spent: 30, held: 20 })
    made.settle(other.id, 1)
    expect(made.holds).toBe(0)
  })

  test('leases what is left, of which a report gives back, and what is not used is not shown as held', () => {
    const made = book('team')
    expect(made.roomOf(team)).toBe(100)
    made.lease('team', 40, w1)
    made.lease('team', 10, w1)
    expect([made.roomOf(team), made.state('team')?.held]).toEqual([50, 0])
    made.report('team', w1, { spent: 5, open: 20, returned: 0 })
    expect([made.roomOf(team), made.state('team')]).toEqual([50, { limit: 100, spent: 5, held: 20 }])
    made.report('team', w1, { spent: 15, open: 0, returned: 30 })
    expect([made.roomOf(team), made.state('team')]).toEqual([80, { limit: 100, spent: 20, held: 0 }])
  })

  test('a debt of a lease is held, or spent, beyond it', () => {
    const made = book('team')
    made.lease('team', 10, w1)
    made.report('team', w1, { spent: 0, open: 60, returned: -50 })
    expect([made.roomOf(team), made.state('team')?.held]).toEqual([40, 60])
    made.report('team', w1, { spent: 70, open: 0, returned: -10 })
    expect([made.roomOf(team), made.state('team')]).toEqual([30, { limit: 100, spent: 70, held: 0 }])
  })

  test('books of the leases of an owner that has gone what it held by its last report', () => {
    const made = book('team')
    made.lease('team', 50, w1)
    made.report('team', w1, { spent: 5, open: 20, returned: 0 })
    made.abandon(w1)
    expect([made.roomOf(team), made.state('team')]).toEqual([75, { limit: 100, spent: 25, held: 0 }])
    made.sweep(() => true)
    expect(made.budgets).toBe(0)
  })

  test('forgets budgets whose window has ended, unless they have holds', () => {
    const made = book('old', 'open', 'new')
    const hold = held(made, [{ id: 'open', nanoUsd: 9 }], 3)
    const isOver = (budget: string) => budget !== 'new'
    made.sweep(isOver)
    expect([made.has('old'), made.has('open'), made.has('new')]).toEqual([false, true, true])
    made.settle(hold.id, 1)
    made.sweep(isOver)
    expect(made.budgets).toBe(1)
  })
})

type Step =
  | { readonly kind: 'admit'; readonly budgets: readonly number[]; readonly estimate: number; readonly owner: object }
  | { readonly kind: 'settle' | 'cancel' | 'raise'; readonly hold: number; readonly share: number }
  | { readonly kind: 'crash'; readonly owner: object }
  | { readonly kind: 'window' }
  | { readonly kind: 'lease'; readonly budget: number; readonly part: number; readonly owner: object }
  | { readonly kind: 'report' | 'return'; readonly budget: number; readonly owner: object }

const owners = [w1, w2, {}]
/** Of the estimate. */
const costShare = fc.constantFrom(0, 0.01, 0.5, 1, 1, 1)
const end = (kind: 'settle' | 'cancel' | 'raise'): fc.Arbitrary<Step> =>
  fc.record({ kind: fc.constant(kind), hold: fc.nat(1_000), share: costShare })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      budgets: fc.subarray([0, 1, 2], { minLength: 1 }),
      estimate: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(0), fc.integer({ min: 100, max: 400 })),
      owner: fc.constantFrom(...owners),
    }),
  },
  { weight: 4, arbitrary: end('settle') },
  { weight: 1, arbitrary: end('cancel') },
  { weight: 1, arbitrary: end('raise') },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), owner: fc.constantFrom(...owners) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('window' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lease' as const),
      budget: fc.nat(2),
      part: fc.constantFrom(1, 2, 12),
      owner: fc.constantFrom(...owners),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('report' as const, 'return' as const),
      budget: fc.nat(2),
      owner: fc.constantFrom(...owners),
    }),
  },
)

/** What an owner has of a lease, by its own account. */
interface OwnLease {
  unused: number
  spent: number
  open: number
}

interface OpenHold {
  estimate: number
  readonly owner: object
  readonly ids: readonly string[]
  /** The hold of the budgets that leases do not cover. */
  readonly hold: BookHold | undefined
  readonly leases: readonly OwnLease[]
}

/** Runs the steps on a book, as processes with leases would, and keeps its own account of every hold. */
class Run {
  readonly book = budgetBook()
  readonly limits: readonly number[]
  readonly spent = new Map<string, number>()
  readonly leases = new Map<object, Map<string, OwnLease>>(owners.map((owner) => [owner, new Map()]))
  dearest = 0
  open: OpenHold[] = []
  window = 0

  constructor(limits: readonly number[]) {
    this.limits = limits
  }

  limitOf(budget: number): BudgetLimit {
    return { id: `${budget}/${this.window}`, nanoUsd: this.limits[budget] ?? 0 }
  }

  leaseOf(owner: object, id: string): OwnLease | undefined {
    return this.leases.get(owner)?.get(id)
  }

  /** As a process does: leases are used where they cover the estimate, the book decides about the rest. */
  admit({ budgets, estimate, owner }: Extract<Step, { kind: 'admit' }>): void {
    const limits = budgets.map((budget) => this.limitOf(budget))
    for (const { id } of limits) this.book.open(id, 0)
    const covering = limits.filter(({ id }) => (this.leaseOf(owner, id)?.unused ?? -1) >= estimate)
    const rest = limits.filter((limit) => !covering.includes(limit))
    const admission = rest.length === 0 ? undefined : this.book.admit(rest, estimate, owner)
    if (admission?.kind === 'refused') return expect(estimate).toBeGreaterThan(0)
    const leases = covering.flatMap(({ id }) => this.leaseOf(owner, id) ?? [])
    for (const lease of leases) {
      lease.unused -= estimate
      lease.open += estimate
    }
    this.open.push({ estimate, owner, ids: limits.map(({ id }) => id), hold: admission?.hold, leases })
  }

  lease({ budget, part, owner }: Extract<Step, { kind: 'lease' }>): void {
    const limit = this.limitOf(budget)
    this.book.open(limit.id, 0)
    const amount = Math.floor(this.book.roomOf(limit) / part)
    if (amount <= 0) return
    this.book.lease(limit.id, amount, owner)
    const own = this.leaseOf(owner, limit.id) ?? { unused: 0, spent: 0, open: 0 }
    own.unused += amount
    this.leases.get(owner)?.set(limit.id, own)
  }

  /** @param isReturn gives back what is not used, too */
  report(id: string, owner: object, isReturn: boolean): void {
    const lease = this.leaseOf(owner, id)
    if (lease === undefined) return
    const returned = isReturn || lease.unused < 0 ? lease.unused : 0
    this.book.report(id, owner, { spent: lease.spent, open: lease.open, returned })
    lease.unused -= returned
    lease.spent = 0
  }

  settle(number: number, costOf: (estimate: number) => number): void {
    const [ended] = this.open.splice(number % Math.max(1, this.open.length), 1)
    if (ended === undefined) return
    const cost = costOf(ended.estimate)
    this.note(ended.ids, cost)
    if (ended.hold !== undefined) this.book.settle(ended.hold.id, cost)
    for (const lease of ended.leases) {
      lease.open -= ended.estimate
      lease.unused += ended.estimate - cost
      lease.spent += cost
    }
  }

  /** All is reported before: what a process did since its last report is forgotten, or booked as it was then. */
  crash(owner: object): void {
    for (const id of this.leases.get(owner)?.keys() ?? []) this.report(id, owner, false)
    const [gone, left] = [true, false].map((isOwn) => this.open.filter((each) => (each.owner === owner) === isOwn))
    for (const { estimate, ids } of gone ?? []) this.note(ids, estimate)
    expect(this.book.abandon(owner)).toBe(gone?.filter(({ hold }) => hold !== undefined).length ?? -1)
    this.open = left ?? []
    this.leases.set(owner, new Map())
  }

  note(ids: readonly string[], cost: number): void {
    this.dearest = Math.max(this.dearest, cost)
    for (const id of ids) this.spent.set(id, (this.spent.get(id) ?? 0) + cost)
  }

  take(next: Step): void {
    switch (next.kind) {
      case 'admit':
        return this.admit(next)
      case 'settle':
        return this.settle(next.hold, (estimate) => Math.round(estimate * next.share))
      case 'cancel':
        return this.settle(next.hold, () => 0)
      case 'raise': {
        const { hold, estimate } = this.open[next.hold % Math.max(1, this.open.length)] ?? {}
        if (hold !== undefined && estimate !== undefined) this.book.raise(hold.id, Math.round(estimate * next.share))
        return
      }
      case 'crash':
        return this.crash(next.owner)
      case 'lease':
        return this.lease(next)
      case 'report':
      case 'return':
        return this.report(this.limitOf(next.budget).id, next.owner, next.kind === 'return')
      case 'window':
        this.window += 1
        return this.book.sweep((id) => !id.endsWith(`/${this.window}`))
    }
  }

  check(): void {
    expect(this.book.holds).toBe(this.open.filter(({ hold }) => hold !== undefined).length)
    for (let budget = 0; budget < this.limits.length; budget++)
      for (let window = 0; window <= this.window; window++) this.#check(`${budget}/${window}`, this.limits[budget] ?? 0)
  }

  #check(id: string, limit: number): void {
    const spent = this.spent.get(id) ?? 0
    expect(spent).toBeLessThanOrEqual(limit + this.dearest)
    const state = this.book.state(id)
    if (state === undefined) return
    const leases = [...this.leases.values()].flatMap((own) => own.get(id) ?? [])
    expect(state.spent).toBe(spent - leases.reduce((sum, lease) => sum + lease.spent, 0))
    const own = this.open.filter(({ ids }) => ids.includes(id))
    const unused = leases.reduce((sum, lease) => sum + lease.unused, 0)
    const unreported = leases.reduce((sum, lease) => sum + lease.spent, 0)
    const held = state.limit - state.spent - this.book.roomOf({ id, nanoUsd: state.limit }) - unused - unreported
    expect(held).toBeLessThanOrEqual(own.reduce((sum, { estimate }) => sum + estimate, 0))
    expect(held).toBeGreaterThanOrEqual(own.reduce((sum, { hold, estimate }) => sum + (hold?.amount ?? estimate), 0))
  }

  end(): void {
    while (this.open.length > 0) this.settle(0, (estimate) => estimate)
    for (const [owner, own] of this.leases) for (const id of own.keys()) this.report(id, owner, true)
    this.check()
    for (let window = 0; window <= this.window; window++)
      for (const budget of this.limits.keys()) {
        const state = this.book.state(`${budget}/${window}`)
        expect(state?.held ?? 0).toBe(0)
        if (state !== undefined) expect(state.spent).toBe(this.spent.get(`${budget}/${window}`) ?? 0)
      }
  }
}

describe('complaint: budgets overshot by concurrency', () => {
  test('are exceeded by one request at most, in any order of holds, ends, raises, leases, crashes and windows', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.nat(500), fc.nat(500), fc.constantFrom(0, 50, 5_000)),
        fc.array(step, { maxLength: 150, size: 'max' }),
        (limits, steps) => {
          const run = new Run(limits)
          for (const each of steps) {
            run.take(each)
            run.check()
          }
          run.end()
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('complaint: reservations that never end', () => {
  test('do not exist: after the last settlement nothing is held, and no hold is in memory', () => {
    const made = book('team')
    for (let round = 0; round < 10_000; round++) {
      const admission = made.admit([{ id: 'team', nanoUsd: Number.MAX_SAFE_INTEGER }], 7, w1)
      if (admission.kind === 'held') made.settle(admission.hold.id, round % 8)
    }
    expect(made.holds).toBe(0)
    expect(made.state('team')).toMatchObject({ held: 0, spent: 35_000 })
  })
})
