import type { AskedClaim, ClaimDecision, CounterState, LeaseReport, SpentMoney } from './authority.ts'
import type { MoneyAccount, MoneyClaim } from './budgets/budget-account.ts'
import type { AskedBudget } from './budgets/opened-budgets.ts'
import type { CounterSpec, LimitCounter } from './counter.ts'
import { isOfMoney, take, type AccountClaim, type Refused, type TakeAll } from './take-all.ts'

/** A report of this process. */
export interface OwnReport extends LeaseReport {
  /** Absent: of a budget. */
  readonly spec?: CounterSpec
}

/** By the keys of accounts. */
export type OwnReports = ReadonlyMap<string, OwnReport>

/** The authority over the accounts of all processes, as one of them sees it. Messages arrive in their order. */
export interface RemoteAuthority {
  /** Rejects when the authority cannot be asked. */
  claim(claims: readonly AskedClaim[]): Promise<ClaimDecision>
  report(reports: OwnReports): void
}

export interface LeasesOptions {
  readonly authority: RemoteAuthority
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
  /** After this time, the rest of a lease is returned. Default 1 s. */
  readonly leaseMs?: number
  /** The authority calls leases back. Default: true. Otherwise all of a counter without a lease is returned at once. */
  readonly isCalledBack?: boolean
}

/** A lease is made for what a counter used in this time. */
const recentMs = 1_000
/** Between two reports about leases of money in use, at most. */
const reportMs = 250

/** The accounts of a process that takes from leases, and asks the authority for the rest. */
export class Leases {
  readonly #authority: RemoteAuthority
  readonly #clock: () => number
  readonly #leaseMs: number
  readonly #isCalledBack: boolean
  /** Those that have, or may get, something to return. */
  readonly #holding = new Map<string, Lease>()
  /** Those that report when the current turn of the event loop has ended. */
  readonly #due = new Set<Lease>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ authority, clock, leaseMs = 1_000, isCalledBack = true }: LeasesOptions) {
    this.#authority = authority
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#isCalledBack = isCalledBack
  }

  /** A new counter. The caller keeps it. */
  counter(spec: CounterSpec): LimitCounter {
    return new LeasedCounter(spec, this.#note)
  }

  /** The part of a budget that this process has. */
  budget(spec: AskedBudget): MoneyAccount {
    const known = this.#holding.get(spec.key)
    if (known instanceof LeasedBudget) {
      known.spec = spec
      return known
    }
    const made = new LeasedBudget(spec, this.#note)
    this.#hold(made)
    return made
  }

  readonly takeAll: TakeAll = (claims, now) => {
    const uncovered = claims.filter(({ counter, amount }) => counter.waitMs(amount, now) > 0)
    const covered = uncovered.length === 0 ? claims : claims.filter((claim) => !uncovered.includes(claim))
    for (const claim of covered) take(claim, now)
    return uncovered.length === 0 ? undefined : this.#ask(uncovered, covered)
  }

  /** Brings the state of counters up to date. */
  async refresh(counters: readonly LimitCounter[]): Promise<void> {
    await this.#ask(
      counters.map((counter) => ({ counter, amount: 0 })),
      [],
    )
  }

  /** Ends leases that the authority calls back. @returns what is unused */
  callBack(keys: readonly string[]): OwnReports {
    const idle = { returned: 0, mayReturn: false }
    return new Map(
      keys.map((key) => {
        const lease = this.#holding.get(key)
        if (lease === undefined) return [key, idle]
        // Without a lease, budgets report at once what becomes free.
        const mayReturn = lease instanceof LeasedCounter && lease.open > 0
        return [key, { ...(this.#report(lease, true) ?? idle), mayReturn }]
      }),
    )
  }

  /** Sends all reports that are due, and returns old leases. The timer runs while there may be any. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const now = this.#clock()
    const reports = this.#reportsOf(this.#holding.values(), (lease) => lease.isOver(now - this.#leaseMs))
    if (reports.size > 0) this.#authority.report(reports)
    for (const lease of this.#holding.values()) this.#forgetIfIdle(lease)
    if (this.#holding.size > 0) this.#startTimer()
  }

  /** Notes that a lease has changed. */
  readonly #note = (lease: Lease): void => {
    this.#hold(lease)
    // Until a debt is returned, other processes take what is not there.
    if (!lease.isUrgent(this.#isCalledBack)) return
    this.#due.add(lease)
    if (this.#due.size === 1) queueMicrotask(() => this.#reportDue())
  }

  #hold(lease: Lease): void {
    lease.isNoted = true
    this.#holding.set(lease.spec.key, lease)
    if (this.#timer === undefined) this.#startTimer()
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.flush(), Math.min(reportMs, this.#leaseMs))
    this.#timer.unref()
  }

  #reportDue(): void {
    const due = [...this.#due]
    this.#due.clear()
    const reports = this.#reportsOf(due, (lease) => lease instanceof LeasedCounter)
    if (reports.size > 0) this.#authority.report(reports)
  }

  #reportsOf(leases: Iterable<Lease>, isEnding: (lease: Lease) => boolean): OwnReports {
    const reports = new Map<string, OwnReport>()
    for (const lease of leases) {
      const report = this.#report(lease, isEnding(lease))
      if (report !== undefined) reports.set(lease.spec.key, report)
    }
    return reports
  }

  #report(lease: Lease, isEnding: boolean): OwnReport | undefined {
    const report = lease.report(isEnding)
    this.#forgetIfIdle(lease)
    return report
  }

  #forgetIfIdle(lease: Lease): void {
    if (!lease.mayForget()) return
    lease.isNoted = false
    this.#holding.delete(lease.spec.key)
  }

  async #ask<Asked extends AccountClaim>(
    uncovered: readonly Asked[],
    covered: readonly Asked[],
  ): Promise<Refused<Asked> | undefined> {
    const asked = uncovered.map((claim) => this.#askedOf(claim))
    const budgets = uncovered.flatMap(({ counter }) => (counter instanceof LeasedBudget ? [counter] : []))
    // Leases that are too small may be all that is left.
    const ended = this.#reportsOf(budgets, () => true)
    if (ended.size > 0) this.#authority.report(ended)
    for (const budget of budgets) budget.asking += 1
    const asking = this.#authority.claim(asked).finally(() => {
      for (const budget of budgets) budget.asking -= 1
    })
    const decision = await asking.catch((error: unknown) => {
      for (const claim of covered) undo(claim)
      throw error
    })
    if (decision.refused !== undefined) for (const claim of covered) undo(claim)
    const now = this.#clock()
    const { refused } = decision
    for (const [index, claim] of uncovered.entries()) {
      const state = decision.counters[index]
      const { counter } = claim
      if (state === undefined) continue
      if (isOfMoney(claim)) Object.assign(claim, state.held)
      if (counter instanceof LeasedBudget) counter.learn(state, asked[index]?.spec, now)
      else if (counter instanceof LeasedCounter) counter.learn(state, refused === undefined ? claim.amount : 0, now)
    }
    const refusing = refused && uncovered[refused.index]
    return refusing && { counter: refusing.counter, waitMs: refused.waitMs, isBusy: refused.isBusy }
  }

  #askedOf(claim: AccountClaim): AskedClaim {
    const { counter, amount } = claim
    if (isOfMoney(claim)) return { spec: plainBudget(claim.counter.spec), amount, alone: claim.alone, recent: 0 }
    const recent = counter instanceof LeasedCounter ? counter.recent(this.#clock()) : 0
    return { spec: claim.counter.spec, amount, recent }
  }
}

type Lease = LeasedCounter | LeasedBudget

function undo(claim: AccountClaim): void {
  if (isOfMoney(claim)) claim.counter.settle(claim, 0)
  else claim.counter.giveBack(claim.amount)
}

/** Without the members that only this process can use. */
export function plainBudget({ kind, key, most, isOpenWhenAway, window, activeSince, scope }: AskedBudget): AskedBudget {
  return { kind, key, most, isOpenWhenAway, window, activeSince, scope }
}

/** This process's lease of a limit, and the last known state of the limit. */
class LeasedCounter implements LimitCounter {
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
class LeasedBudget implements MoneyAccount {
  spec: AskedBudget
  open = 0
  /** Questions about it without an answer. */
  asking = 0
  isNoted = false
  readonly #note: (budget: LeasedBudget) => void
  /** What the lease was granted by. `undefined`: there is none, and all changes are reported at once. */
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
