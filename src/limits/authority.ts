import { BudgetAccount, BudgetAccounts, type BudgetUse } from './budgets/budget-account.ts'
import { openedBudgets, type AskedBudget, type OpenBudgets, type SpendingSource } from './budgets/opened-budgets.ts'
import { CounterBook } from './counter-book.ts'
import type { LimitCounter } from './counter.ts'
import { LeaseHolders } from './lease-holders.ts'
import type {
  AskedClaim,
  ClaimDecision,
  CounterState,
  JoinedProcess,
  LeaseHolder,
  LeaseReports,
  SpentMoney,
} from './lease-messages.ts'
import { isOfMoney, longestWait, take, type AccountClaim, type Refused } from './take-all.ts'

// Decides about the limits and budgets of all processes (docs/decisions/0018-limits.md, and 0029 about leases).
//
// A process asks with claims (`leases.ts`). `claim` looks at all accounts of a question, calls back leases where an
// amount does not fit (`lease-holders.ts`), and takes from all, or from none, in one step of the event loop. Each grant
// brings a lease: an amount that the process may grant by itself. Later the process reports what it gives back, and of
// money what it has spent and holds. Slots, holds and leases of money are counted by process, since its end frees or
// books them; rates come back with time.

export interface LimitAuthorityOptions extends SpendingSource {
  /** Number of processes. */
  readonly processes: number
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
}

type Counter = LimitCounter | BudgetAccount

/** What a process has of an account of slots or money. */
interface Part {
  /** Slots in use, money held, and leases. */
  amount: number
  /** Of money: what attempts under way hold. */
  open: number
  /** What a short hold is likely to cost beyond its amount. `undefined` without one. */
  beyond: number | undefined
}

/** A lease is at most this part of each process's share of the remaining amount. */
const leaseDivisor = 4

/** An authority with all counters full, and no open budgets. */
export class LimitAuthority {
  readonly budgets: BudgetAccounts
  readonly #counters = new CounterBook()
  readonly #opening: OpenBudgets
  readonly #processes: number
  readonly #clock: () => number
  readonly #parts = new Map<LeaseHolder, Map<Counter, Part>>()
  readonly #holders = new LeaseHolders<Counter, LeaseHolder>((holder, counters) => this.#callBack(holder, counters))

  constructor({ processes, clock, ...source }: LimitAuthorityOptions) {
    this.#processes = processes
    this.#clock = clock
    this.budgets = new BudgetAccounts(source.onCrossed)
    this.#opening = openedBudgets(this.budgets, source)
  }

  joined(holder: LeaseHolder): JoinedProcess {
    this.#parts.set(holder, new Map())
    return {
      claim: (claims) => this.#claim(claims, holder),
      report: (reports) => this.#report(reports, holder),
      uses: (budgets) => this.#uses(budgets),
      left: () => this.#left(holder),
    }
  }

  async #claim(asked: readonly AskedClaim[], holder: LeaseHolder): Promise<ClaimDecision> {
    const budgets = asked.flatMap(({ spec }) => (spec.kind === 'usd' ? [spec] : []))
    if (budgets.length > 0) await this.#opening(budgets)
    this.#counters.makeRoom(this.#clock())
    const claims = asked.map((each) => this.#claimOf(each))
    // While processes are asked to return leases, nothing else may let these accounts be forgotten.
    for (const { counter } of claims) counter.open += 1
    try {
      return await this.#decide(claims, holder)
    } finally {
      for (const { counter } of claims) counter.open -= 1
    }
  }

  #claimOf({ spec, amount, alone = amount }: AskedClaim): AccountClaim & { readonly counter: Counter } {
    return spec.kind === 'usd'
      ? { counter: this.budgets.find(spec), amount, alone, isShort: false, dearest: 0 }
      : { counter: this.#counters.find(spec), amount }
  }

  /** Decides, if need be after leases were called back. The last look and the grant are one step. */
  async #decide(
    claims: readonly (AccountClaim & { readonly counter: Counter })[],
    holder: LeaseHolder,
  ): Promise<ClaimDecision> {
    const called = new Set<Counter>()
    for (;;) {
      if (!this.#parts.has(holder)) throw new Error('the process has ended')
      const now = this.#clock()
      const tight = claims.flatMap(({ counter, amount }) => {
        const fits = counter instanceof BudgetAccount ? counter.fits(amount) : counter.waitMs(amount, now) === 0
        return !fits && !called.has(counter) && this.#holders.has(counter) ? [counter] : []
      })
      if (tight.length === 0) {
        const refused = longestWait(claims, now)
        if (refused !== undefined) return refusal(refused, claims, now)
        return { counters: claims.map((claim) => this.#grant(claim, holder, now)) }
      }
      for (const counter of tight) called.add(counter)
      this.#holders.noteShort(tight, now)
      await this.#holders.callBack(tight)
    }
  }

  #grant(claim: AccountClaim & { readonly counter: Counter }, holder: LeaseHolder, now: number): CounterState {
    const { counter, amount: asked } = claim
    take(claim, now)
    const { amount } = claim
    const lease = this.#holders.isShort(counter, now) ? 0 : this.#leaseOf(counter, asked, now)
    counter.take(lease, now)
    if (counter.spec.kind === 'at_once' || isOfMoney(claim)) this.#change(counter, holder, amount + lease)
    const state = { lease, remaining: counter.remaining(now), resetMs: counter.resetMs(now) }
    if (!isOfMoney(claim)) {
      if (lease > 0 || (amount > 0 && counter.spec.kind !== 'requests')) this.#holders.add(counter, holder)
      return state
    }
    const { isShort, dearest, alone } = claim
    const part = this.#change(counter, holder, 0, amount)
    if (isShort) part.beyond = alone - amount
    if (lease > 0) this.#holders.add(counter, holder)
    return { ...state, held: { amount, isShort, dearest } }
  }

  #leaseOf(counter: Counter, asked: number, now: number): number {
    const lease = Math.floor(counter.remaining(now) / (leaseDivisor * this.#processes))
    // A lease of money that would not cover another attempt like this one is of no use.
    if (counter instanceof BudgetAccount) return lease < Math.max(1, asked) ? 0 : lease
    return asked > 0 ? lease : 0
  }

  /** Changes what a process has of an account, which is not forgotten while that is not nothing. */
  #change(counter: Counter, holder: LeaseHolder, amount: number, open = 0): Part {
    const own = this.#parts.get(holder)
    const known = own?.get(counter)
    const part = known ?? { amount: 0, open: 0, beyond: undefined }
    part.amount += amount
    part.open += open
    const isNothing = part.amount === 0 && part.open === 0 && part.beyond === undefined
    if (known === undefined && !isNothing) {
      own?.set(counter, part)
      counter.open += 1
    } else if (known !== undefined && isNothing) {
      own?.delete(counter)
      counter.open -= 1
    }
    return part
  }

  async #callBack(holder: LeaseHolder, counters: readonly Counter[]): Promise<void> {
    const reports = await holder.callBack(counters.map(({ spec }) => spec.key)).catch(() => undefined)
    if (reports !== undefined) this.#report(reports, holder)
    // The end of a process frees its leases.
    if (!this.#parts.has(holder)) for (const counter of counters) this.#holders.delete(counter, holder)
  }

  #report(reports: LeaseReports, holder: LeaseHolder): void {
    if (!this.#parts.has(holder)) return
    const now = this.#clock()
    for (const [key, { returned, mayReturn, money }] of reports) {
      const counter = this.#counters.known(key) ?? this.budgets.known(key)
      if (counter === undefined) continue
      if (!mayReturn) this.#holders.delete(counter, holder)
      if (returned < 0) counter.take(-returned, now)
      else counter.giveBack(returned)
      if (counter.spec.kind === 'at_once') this.#change(counter, holder, -returned)
      else if (counter instanceof BudgetAccount && money !== undefined) this.#spend(counter, holder, returned, money)
    }
  }

  #spend(account: BudgetAccount, holder: LeaseHolder, returned: number, money: SpentMoney): void {
    const { spent, opened, dearest, raised, endsShort } = money
    account.giveBack(spent)
    account.spend(spent, dearest)
    if (endsShort) account.isBusy = false
    const part = this.#parts.get(holder)?.get(account)
    if (part?.beyond !== undefined) part.beyond = endsShort ? undefined : Math.max(0, part.beyond - raised)
    this.#change(account, holder, -returned - spent, opened)
  }

  /** A lease that is not used counts as not held. */
  async #uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]> {
    await this.#opening(budgets)
    const accounts = budgets.map((budget) => this.budgets.find(budget))
    await this.#holders.callBack(accounts.filter((account) => this.#holders.has(account)))
    return accounts.map((account) => {
      let { held } = account
      for (const own of this.#parts.values()) {
        const { amount = 0, open = 0 } = own.get(account) ?? {}
        held -= amount - open
      }
      return { used: account.spent, held }
    })
  }

  #left(holder: LeaseHolder): void {
    for (const [counter, { amount, open, beyond }] of this.#parts.get(holder) ?? []) {
      counter.giveBack(amount)
      counter.open -= 1
      this.#holders.delete(counter, holder)
      if (!(counter instanceof BudgetAccount)) continue
      counter.spend(open + (beyond ?? 0), 0)
      if (beyond !== undefined) counter.isBusy = false
    }
    this.#parts.delete(holder)
  }
}

function refusal(
  { counter: refusing, waitMs, isBusy }: Refused<AccountClaim>,
  claims: readonly AccountClaim[],
  now: number,
): ClaimDecision {
  return {
    refused: { index: claims.findIndex(({ counter }) => counter === refusing), waitMs, isBusy },
    counters: claims.map(({ counter }) => ({
      lease: 0,
      remaining: counter.remaining(now),
      resetMs: counter.resetMs(now),
    })),
  }
}
