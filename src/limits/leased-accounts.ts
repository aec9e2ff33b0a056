import type { MoneyAccount, MoneyClaim } from './budgets/budget-account.ts'
import type { AskedBudget } from './budgets/opened-budgets.ts'
import type { CounterSpec, LimitCounter } from './counter.ts'
import type { AskedClaim, CounterState, LeaseReport, SpentMoney } from './lease-messages.ts'

/** A report of this process. */
export interface OwnReport extends LeaseReport {
  /** Absent: of a budget. */
  readonly spec?: CounterSpec
}

/** Without the members that only this process can use. */
export function plainBudget(budget: AskedBudget): AskedBudget {
  const { kind, text, key, most, isOpenWhenAway, window, activeSince, scope } = budget
  return { kind, text, key, most, isOpenWhenAway, window, activeSince, scope }
}

/** A lease is made for what a counter used in this time. */
const recentMs = 1_000
/** This process's lease of a limit, and the last known state of the limit. */
export class LeasedCounter implements LimitCounter {
  spec: CounterSpec
  open = 0
  /** What may be given away without asking. Below 0: requests took more than was granted. */
  #lease = 0
  /** The last lease that was given, and when. */
  #given = 0
  #givenAt = Number.NEGATIVE_INFINITY
  /** Leases are returned when they were not used, or are called back. */
  isNoted = false
  readonly #note: (counter: LeasedCounter) => void
  /** At the authority, after its last decision. */
  #remaining: number
  #fullAt = Number.NEGATIVE_INFINITY
  /** Since the last decision. */
  #taken = 0

  constructor(spec: CounterSpec, note: (counter: LeasedCounter) => void) {
    this.spec = spec
    this.#note = note
    this.#remaining = spec.most
  }

  /** 0: the lease covers the amount. Otherwise the authority must be asked. */
  waitMs(amount: number): number {
    return amount <= this.#lease || (amount === 0 && this.spec.most > 0) ? 0 : Number.POSITIVE_INFINITY
  }

  take(amount: number): void {
    this.#lease -= amount
    this.#taken += amount
    if (!this.isNoted || this.#lease < 0) this.#note(this)
  }

  giveBack(amount: number): void {
    this.#lease += amount
    if (!this.isNoted || this.#given === 0 || this.#lease < 0) this.#note(this)
  }

  isUrgent(isCalledBack: boolean): boolean {
    return this.#lease < 0 || (!isCalledBack && this.#lease !== 0 && this.#given === 0)
  }

  /** The amount that was taken since the last decision; 0 if that was too long ago to matter. */
  recent(now: number): number {
    return now - this.#givenAt < recentMs ? this.#taken : 0
  }

  /** Whether a lease that was given before this time must end. */
  isOver(before: number): boolean {
    return this.#lease > 0 && this.#givenAt <= before
  }

  /** Returns the whole lease, or debt. */
  report(isEnding: boolean): OwnReport | undefined {
    const returned = this.#lease
    if (!isEnding || returned === 0) return undefined
    this.#lease = 0
    this.#remaining = Math.min(this.spec.most, this.#remaining + returned)
    this.#fullAt -= this.spec.most === 0 ? 0 : (returned * this.spec.perMs) / this.spec.most
    return { spec: this.spec, returned, mayReturn: this.open > 0 }
  }

  /** Notes a decision of the authority. @param amount granted */
  learn({ lease, remaining, resetMs }: CounterState, amount: number, now: number): void {
    this.#lease += lease
    this.#given = lease
    this.#givenAt = now
    this.#taken = amount
    this.#remaining = remaining
    this.#fullAt = now + resetMs
    if (!this.isNoted) this.#note(this)
  }

  mayForget(): boolean {
    return this.open === 0 && this.#lease === 0
  }

  remaining(now: number): number {
    const { most, perMs } = this.spec
    // A rate has refilled since; slots have not.
    const left = perMs === 0 ? this.#remaining : Math.floor(most - (this.resetMs(now) * most) / perMs + 1e-6)
    return Math.max(0, Math.min(most, left + this.#lease))
  }

  resetMs(now: number): number {
    return Math.max(0, this.#fullAt - now)
  }
}

const nothingSpent: SpentMoney = { spent: 0, opened: 0, dearest: 0, raised: 0, endsShort: false }

/** This process's part of a budget. */
export class LeasedBudget implements MoneyAccount {
  spec: AskedBudget
  open = 0
  /** Questions about it without an answer. */
  asking = 0
  isNoted = false
  readonly #note: (budget: LeasedBudget) => void
  /** What the lease was granted by. `undefined` without one, and all changes are reported at once. */
  #granted: AskedBudget | undefined
  #grantedAt = Number.NEGATIVE_INFINITY
  /** What may be held without a question. Below 0: attempts hold, or cost, more than was leased. */
  #unused = 0
  /** Since the last report. */
  #money = nothingSpent

  constructor(spec: AskedBudget, note: (budget: LeasedBudget) => void) {
    this.spec = spec
    this.#note = note
  }

  /** 0: the lease covers the amount. A changed limit counts at once. */
  waitMs(amount: number): number {
    const isCovered = this.#granted !== undefined && amount <= this.#unused && isSame(this.#granted, this.spec)
    return isCovered ? 0 : Number.POSITIVE_INFINITY
  }

  hold({ amount }: MoneyClaim): void {
    this.take(amount)
  }

  take(amount: number): void {
    this.#unused -= amount
    this.#change({ ...this.#money, opened: this.#money.opened + amount })
  }

  giveBack(amount: number): void {
    this.take(-amount)
  }

  raise(claim: MoneyClaim, more: number): void {
    claim.amount += more
    if (claim.isShort) this.#money = { ...this.#money, raised: this.#money.raised + more }
    this.take(more)
  }

  settle({ amount, isShort }: MoneyClaim, cost: number): void {
    const { spent, opened, dearest, endsShort, raised } = this.#money
    this.#unused += amount - cost
    this.#change({
      raised,
      spent: spent + cost,
      opened: opened - amount,
      dearest: Math.max(dearest, cost),
      endsShort: endsShort || isShort,
    })
  }

  #change(money: SpentMoney): void {
    this.#money = money
    this.#note(this)
  }

  isUrgent(): boolean {
    return this.#granted === undefined || this.#unused < 0
  }

  isOver(before: number): boolean {
    return this.#grantedAt <= before
  }

  /** States what has changed. What is not leased any more, or owed, is settled with it. */
  report(isEnding: boolean): LeaseReport | undefined {
    if (isEnding) this.#granted = undefined
    const money = this.#money
    const returned = this.#granted === undefined || this.#unused < 0 ? this.#unused : 0
    if (returned === 0 && money === nothingSpent) return undefined
    this.#unused -= returned
    this.#money = nothingSpent
    // A new lease may be on its way.
    return { returned, mayReturn: this.#granted !== undefined || this.asking > 0, money }
  }

  /** Notes a decision of the authority, for a question about a budget. */
  learn({ lease }: CounterState, asked: AskedClaim['spec'] | undefined, now: number): void {
    if (lease === 0 || asked?.kind !== 'usd') return
    this.#granted = asked
    this.#grantedAt = now
    this.#unused += lease
    this.#note(this)
  }

  mayForget(): boolean {
    const isReported = this.#unused === 0 && this.#money === nothingSpent
    return this.open === 0 && this.asking === 0 && this.#granted === undefined && isReported
  }

  /** Nobody asks a part of a budget for its state. */
  remaining(): number {
    return Math.max(0, this.#unused)
  }

  resetMs(): number {
    return 0
  }
}

/** Whether a budget is as it was. */
function isSame(one: AskedBudget, other: AskedBudget): boolean {
  return one.most === other.most && one.activeSince === other.activeSince
}
