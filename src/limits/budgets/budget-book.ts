/** One budget in one window. Its id includes its subject and the start of its window. */
export interface BudgetLimit {
  readonly id: string
  /** The limit. */
  readonly nanoUsd: number
}

/** The state of a budget, in nano-USD. */
export interface BudgetState {
  readonly limit: number
  readonly spent: number
  /** Sum of the open holds. */
  readonly held: number
}

/** An amount that is held for one attempt, in all its budgets. */
export interface BookHold {
  /** Number of the hold. */
  readonly id: number
  /** Estimated cost of the attempt. Grows with `raise`. */
  readonly estimate: number
  /** The smallest amount that a budget holds for it: less than was asked for in a short hold. */
  readonly amount: number
}

/** An open budget. */
export interface BudgetToken {
  readonly id: string
}

/** A report of a process about its part of a budget, since its last report. Amounts are in nano-USD. */
export interface LeaseReport {
  /** Cost of attempts that ended. */
  readonly spent: number
  /** What attempts under way hold. */
  readonly open: number
  /** What is given back. Below 0: attempts hold, or cost, more than was leased. */
  readonly returned: number
}

/**
 * Result of an admission: a hold, or the budget that has no room. `dearest`: the highest cost that a hold of its
 * budgets ended with. `isBusy`: the budget has a short hold, which may end soon.
 */
export type Admission =
  | { readonly kind: 'held'; readonly hold: BookHold; readonly dearest: number }
  | { readonly kind: 'refused'; readonly budget: string; readonly isBusy: boolean }

/** Budgets and the holds of attempts under way. Pure: it knows no clock, and nothing in it waits. */
export interface BudgetBook {
  has(budget: string): boolean
  /** Opens a budget. Of one that is open, at least this was spent. @param spent before, in nano-USD */
  open(budget: string, spent: number): void
  /**
   * Holds an amount in all budgets, or in none:
   *
   * - Where it fits everywhere, all of it. 0 always fits.
   * - Else a short hold, where every budget has room, and none in which it does not fit has a short hold already. There
   *   it holds `alone`, or what is left if that is less.
   *
   * So at most one attempt for each budget may cost more than is held for it, and a budget is exceeded by one request
   * at most.
   *
   * @param budgets open ones; their limits count from now on
   * @param most the attempt may cost
   * @param owner of the hold, for `abandon`
   * @param alone its likely cost, at which `abandon` books it. Default: `most`
   */
  admit(budgets: readonly BudgetLimit[], most: number, owner: object, alone?: number): Admission
  /** Holds more for an attempt that turns out to cost more. It may exceed the room. */
  raise(hold: number, estimate: number): void
  /** Ends a hold with the real cost. Later calls do nothing. */
  settle(hold: number, cost: number): void
  /** What a budget has left; Infinity if it is not open. @param limit counts from now on */
  roomOf(budget: BudgetLimit): number
  /** Holds an amount that its owner may spend alone. Only what is left may be leased. */
  lease(budget: string, amount: number, owner: object): void
  /** Takes a report about the leases of an owner. */
  report(budget: string, owner: object, report: LeaseReport): void
  /**
   * Ends all holds of an owner that has gone, at their estimates, and its leases with what attempts under way held by
   * its last report. @returns the number of holds
   */
  abandon(owner: object): number
  /** An object that stands for a budget, the same as long as it is open. */
  tokenOf(budget: string): BudgetToken | undefined
  /** What is leased and not used counts as not held. */
  state(budget: string): BudgetState | undefined
  /** Forgets budgets without holds. @param isOver whether the window of a budget has ended */
  sweep(isOver: (budget: string) => boolean): void
  readonly budgets: number
  readonly holds: number
}

class Account implements BudgetToken {
  readonly id: string
  limit = 0
  spent: number
  held = 0
  /** A short hold is open in which this budget did not have the whole estimate. */
  hasShortHold = false
  /** The highest cost of a hold that has ended. */
  dearest = 0
  /** Open holds and leases: the account must stay. */
  open = 0
  /** Of what is held, the part of leases that no attempt holds. */
  unused = 0

  constructor(id: string, spent: number) {
    this.id = id
    this.spent = spent
  }

  get room(): number {
    return this.limit - this.spent - this.held
  }
}

interface Lease {
  readonly account: Account
  amount: number
  /** What attempts under way hold of it, by the last report. */
  open: number
}

interface Share {
  readonly account: Account
  amount: number
  readonly isShort: boolean
}

class OpenHold implements BookHold {
  readonly id: number
  readonly owner: object
  readonly shares: readonly Share[]
  estimate: number

  constructor(id: number, owner: object, shares: readonly Share[], estimate: number) {
    this.id = id
    this.owner = owner
    this.shares = shares
    this.estimate = estimate
  }

  get amount(): number {
    return this.shares.reduce((least, { amount }) => Math.min(least, amount), Number.POSITIVE_INFINITY)
  }
}

/** Makes a book without budgets. */
export function budgetBook(): BudgetBook {
  const accounts = new Map<string, Account>()
  const holds = new Map<number, OpenHold>()
  const leases = new Map<object, Map<string, Lease>>()
  let lastHold = 0

  /** What a budget would hold for an attempt. */
  function shareOf({ id, nanoUsd }: BudgetLimit, most: number, alone: number): Share {
    const account = accounts.get(id)
    if (account === undefined) throw new Error(`the budget ${id} is not open`)
    account.limit = nanoUsd
    const { room } = account
    const isShort = most > 0 && most > room
    return { account, amount: isShort ? Math.min(room, alone) : most, isShort }
  }

  function settle(hold: OpenHold, cost: number): void {
    holds.delete(hold.id)
    for (const { account, amount, isShort } of hold.shares) {
      account.held -= amount
      account.spent += cost
      account.dearest = Math.max(account.dearest, cost)
      account.open -= 1
      if (isShort) account.hasShortHold = false
    }
  }

  function leaseOf(budget: string, owner: object): Lease | undefined {
    const own = leases.get(owner) ?? new Map<string, Lease>()
    const known = own.get(budget)
    const account = accounts.get(budget)
    if (known !== undefined || account === undefined) return known
    const lease = { account, amount: 0, open: 0 }
    account.open += 1
    leases.set(owner, own.set(budget, lease))
    return lease
  }

  function change(lease: Lease, { spent, open, returned }: LeaseReport): void {
    const { account } = lease
    account.unused -= lease.amount - lease.open
    lease.amount -= spent + returned
    lease.open = open
    account.held -= spent + returned
    account.spent += spent
    account.unused += lease.amount - lease.open
  }

  function endLease(budget: string, owner: object, { account }: Lease): void {
    account.open -= 1
    const own = leases.get(owner)
    own?.delete(budget)
    if (own?.size === 0) leases.delete(owner)
  }

  return {
    has: (budget) => accounts.has(budget),
    open(budget, spent) {
      const account = accounts.get(budget)
      if (account === undefined) accounts.set(budget, new Account(budget, spent))
      else account.spent = Math.max(account.spent, spent)
    },
    admit(budgets, most, owner, alone = most) {
      const shares: Share[] = []
      for (const budget of budgets) shares.push(shareOf(budget, most, alone))
      const refusing = shares.find(isRefused)
      if (refusing !== undefined) {
        const { id, hasShortHold } = refusing.account
        return { kind: 'refused', budget: id, isBusy: hasShortHold }
      }
      for (const { account, amount, isShort } of shares) {
        account.held += amount
        account.open += 1
        if (isShort) account.hasShortHold = true
      }
      const hold = new OpenHold((lastHold += 1), owner, shares, alone)
      holds.set(hold.id, hold)
      return { kind: 'held', hold, dearest: Math.max(...shares.map(({ account }) => account.dearest)) }
    },
    raise(id, estimate) {
      const hold = holds.get(id)
      if (hold === undefined) return
      hold.estimate = Math.max(hold.estimate, estimate)
      for (const share of hold.shares) {
        const more = Math.max(0, estimate - share.amount)
        share.amount += more
        share.account.held += more
      }
    },
    settle(id, cost) {
      const hold = holds.get(id)
      if (hold !== undefined) settle(hold, cost)
    },
    roomOf({ id, nanoUsd }) {
      const account = accounts.get(id)
      if (account === undefined) return Infinity
      account.limit = nanoUsd
      return account.room
    },
    lease(budget, amount, owner) {
      const lease = leaseOf(budget, owner)
      if (lease !== undefined) change(lease, { spent: 0, open: lease.open, returned: -amount })
    },
    report(budget, owner, reported) {
      const lease = leaseOf(budget, owner)
      if (lease === undefined) return
      change(lease, reported)
      if (lease.amount === 0 && lease.open === 0) endLease(budget, owner, lease)
    },
    abandon(owner) {
      for (const [budget, lease] of leases.get(owner) ?? []) {
        change(lease, { spent: lease.open, open: 0, returned: lease.amount - lease.open })
        endLease(budget, owner, lease)
      }
      const left = [...holds.values()].filter((hold) => hold.owner === owner)
      for (const hold of left) settle(hold, hold.estimate)
      return left.length
    },
    state(budget) {
      const account = accounts.get(budget)
      return account && { limit: account.limit, spent: account.spent, held: account.held - account.unused }
    },
    tokenOf: (budget) => accounts.get(budget),
    sweep(isOver) {
      for (const [id, account] of accounts) if (account.open === 0 && isOver(id)) accounts.delete(id)
    },
    get budgets() {
      return accounts.size
    },
    get holds() {
      return holds.size
    },
  }
}

/** A budget has no room, or a short hold already. */
function isRefused({ account, amount, isShort }: Share): boolean {
  return isShort && (amount <= 0 || account.hasShortHold)
}
