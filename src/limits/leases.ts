import type { MoneyAccount } from './budgets/budget-account.ts'
import type { AskedBudget } from './budgets/opened-budgets.ts'
import type { CounterSpec, LimitCounter } from './counter.ts'
import type { AskedClaim, ClaimDecision } from './lease-messages.ts'
import { LeasedBudget, LeasedCounter, plainBudget, type OwnReport } from './leased-accounts.ts'
import { isOfMoney, take, type AccountClaim, type Refused, type TakeAll } from './take-all.ts'

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
