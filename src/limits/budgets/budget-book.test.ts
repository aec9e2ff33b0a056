import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { budgetBook, type BookHold, type BudgetBook, type BudgetLimit } from './budget-book.ts'

/** Processes. */
const w1 = { name: 'w1' }
const w2 = { name: 'w2' }
const team: BudgetLimit = { id: 'team', limit: 100 }

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
    expect(made.admit([team], 1, w1)).toEqual({ kind: 'refused', budget: 'team' })
  })

  test('refuses a second short hold while one is open, also after room was freed', () => {
    const made = book('team')
    const first = held(made, [team], 90)
    const short = held(made, [team], 40)
    made.settle(first.id, 50)
    expect(made.admit([team], 60, w1)).toEqual({ kind: 'refused', budget: 'team' })
    expect(held(made, [team], 30).amount).toBe(30)
    made.settle(short.id, 5)
    expect(held(made, [team], 60).amount).toBe(15)
  })

  test('looks at all budgets before it takes from any', () => {
    const own: BudgetLimit = { id: 'own', limit: 10 }
    const made = book('team', 'own')
    made.settle(held(made, [own], 10).id, 10)
    expect(made.admit([team, own], 5, w1)).toEqual({ kind: 'refused', budget: 'own' })
    expect(made.state('team')).toMatchObject({ spent: 0, held: 0 })
  })

  test('holds all of the estimate in budgets that have room, beside a short hold in another', () => {
    const own: BudgetLimit = { id: 'own', limit: 10 }
    const made = book('team', 'own')
    expect(held(made, [team, own], 30).amount).toBe(10)
    expect(made.state('team')).toMatchObject({ held: 30 })
    // Short only in the other budget.
    expect(held(made, [team], 90).amount).toBe(70)
  })

  test('admits what costs nothing, in a budget without room', () => {
    const none: BudgetLimit = { id: 'none', limit: 0 }
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
    expect(made.admit([{ id: 'team', limit: 60 }], 1, w1).kind).toBe('refused')
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

  test('forgets budgets whose window has ended, unless they have holds', () => {
    const made = book('old', 'open', 'new')
    const hold = held(made, [{ id: 'open', limit: 9 }], 3)
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
)

/** Runs the steps on a book, and keeps its own account of every hold. */
class Run {
  readonly book = budgetBook()
  readonly limits: readonly number[]
  readonly spent = new Map<string, number>()
  dearest = 0
  open: { readonly hold: BookHold; readonly budgets: readonly string[]; readonly owner: object }[] = []
  window = 0

  constructor(limits: readonly number[]) {
    this.limits = limits
  }

  idsOf(budgets: readonly number[]): readonly string[] {
    return budgets.map((budget) => `${budget}/${this.window}`)
  }

  admit({ budgets, estimate, owner }: Extract<Step, { kind: 'admit' }>): void {
    const ids = this.idsOf(budgets)
    for (const id of ids) this.book.open(id, 0)
    const limits = ids.map((id, place) => ({ id, limit: this.limits[budgets[place] ?? 0] ?? 0 }))
    const admission = this.book.admit(limits, estimate, owner)
    if (admission.kind === 'held') this.open.push({ hold: admission.hold, budgets: ids, owner })
    else expect(estimate).toBeGreaterThan(0)
  }

  settle(number: number, costOf: (estimate: number) => number): void {
    const [ended] = this.open.splice(number % Math.max(1, this.open.length), 1)
    if (ended === undefined) return
    const cost = costOf(ended.hold.estimate)
    this.note(ended.budgets, cost)
    this.book.settle(ended.hold.id, cost)
  }

  crash(owner: object): void {
    const [gone, left] = [true, false].map((isOwn) => this.open.filter((each) => (each.owner === owner) === isOwn))
    for (const { hold, budgets } of gone ?? []) this.note(budgets, hold.estimate)
    expect(this.book.abandon(owner)).toBe(gone?.length ?? -1)
    this.open = left ?? []
  }

  note(budgets: readonly string[], cost: number): void {
    this.dearest = Math.max(this.dearest, cost)
    for (const id of budgets) this.spent.set(id, (this.spent.get(id) ?? 0) + cost)
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
        const { hold } = this.open[next.hold % Math.max(1, this.open.length)] ?? {}
        if (hold !== undefined) this.book.raise(hold.id, Math.round(hold.estimate * next.share))
        return
      }
      case 'crash':
        return this.crash(next.owner)
      case 'window':
        this.window += 1
        return this.book.sweep((id) => !id.endsWith(`/${this.window}`))
    }
  }

  check(): void {
    expect(this.book.holds).toBe(this.open.length)
    for (let budget = 0; budget < this.limits.length; budget++) {
      for (let window = 0; window <= this.window; window++) {
        const id = `${budget}/${window}`
        const limit = this.limits[budget] ?? 0
        const spent = this.spent.get(id) ?? 0
        expect(spent).toBeLessThanOrEqual(limit + this.dearest)
        const state = this.book.state(id)
        if (state === undefined) continue
        expect(state.spent).toBe(spent)
        const own = this.open.filter(({ budgets }) => budgets.includes(id))
        expect(state.held).toBeLessThanOrEqual(own.reduce((sum, { hold }) => sum + hold.estimate, 0))
        expect(state.held).toBeGreaterThanOrEqual(own.reduce((sum, { hold }) => sum + hold.amount, 0))
        if (own.length === 0) expect(state.held).toBe(0)
      }
    }
  }
}

describe('complaint: budgets overshot by concurrency', () => {
  test('are exceeded by one request at most, in any order of admissions, ends, raises, crashes and windows', () => {
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
          while (run.open.length > 0) run.settle(0, (estimate) => estimate)
          run.check()
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('complaint: reservations that never end', () => {
  test('do not exist: after the last settlement nothing is held, and no hold is in memory', () => {
    const made = book('team')
    for (let round = 0; round < 10_000; round++) {
      const admission = made.admit([{ id: 'team', limit: Number.MAX_SAFE_INTEGER }], 7, w1)
      if (admission.kind === 'held') made.settle(admission.hold.id, round % 8)
    }
    expect(made.holds).toBe(0)
    expect(made.state('team')).toMatchObject({ held: 0, spent: 35_000 })
  })
})
