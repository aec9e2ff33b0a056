import type { AskedClaim, ClaimDecision, CounterState, Returned, ReturnedAmount } from './authority.ts'
import type { LimitCounter, CounterSpec } from './counter.ts'
import type { LimitClaim, Refused, TakeAll } from './take-all.ts'

/** The authority over the limits of all processes, as one of them sees it. Rejects when it cannot be asked. */
export interface RemoteAuthority {
  claim(claims: readonly AskedClaim[]): Promise<ClaimDecision>
  giveBack(returned: Returned): void
}

/** The counters of a process that takes from leases, and asks the authority for the rest. */
export interface LeasedCounters {
  make(spec: CounterSpec): LimitCounter
  readonly takeAll: TakeAll
  /** Brings the state of counters up to date. */
  refresh(counters: readonly LimitCounter[]): Promise<void>
  /** Returns the unused leases that the authority calls back. */
  callBack(keys: readonly string[]): Returned
}

/**
 * @param clock a monotonic clock, in milliseconds
 * @param idleMs leases that were not used for this long are returned
 */
export function leasedCounters(authority: RemoteAuthority, clock: () => number, idleMs = 1_000): LeasedCounters {
  /** Those that have, or may get, something to return. */
  const holding = new Map<string, LeasedCounter>()
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Starts the timer that returns leases; it runs only while there is something to return. */
  function note(counter: LeasedCounter): void {
    counter.isNoted = true
    holding.set(counter.spec.key, counter)
    if (timer !== undefined) return
    timer = setTimeout(returnIdle, idleMs)
    timer.unref()
  }

  function returnIdle(): void {
    timer = undefined
    const now = clock()
    const idle: string[] = []
    for (const [key, counter] of holding) {
      const isIdle = counter.lease < 0 || (counter.lease > 0 && now - counter.usedAt >= idleMs)
      if (isIdle) idle.push(key)
      else if (counter.mayForget()) forget(key, counter)
    }
    const returned = callBack(idle)
    if (returned.size > 0) authority.giveBack(returned)
    for (const counter of holding.values()) note(counter)
  }

  function callBack(keys: readonly string[]): Returned {
    return new Map(keys.map((key) => [key, returnOne(key)]))
  }

  function returnOne(key: string): ReturnedAmount {
    const counter = holding.get(key)
    if (counter === undefined) return { amount: 0, hasOpen: false }
    const amount = counter.takeLease()
    const hasOpen = counter.open > 0
    if (!hasOpen) forget(key, counter)
    return { amount, hasOpen }
  }

  function forget(key: string, counter: LeasedCounter): void {
    counter.isNoted = false
    holding.delete(key)
  }

  async function ask(uncovered: readonly LimitClaim[], covered: readonly LimitClaim[]): Promise<Refused | undefined> {
    let decision: ClaimDecision | undefined
    try {
      decision = await authority.claim(uncovered.map(({ counter: { spec }, amount }) => ({ spec, amount })))
    } finally {
      if (decision === undefined || decision.refused !== undefined)
        for (const { counter, amount } of covered) counter.giveBack(amount)
    }
    const now = clock()
    for (const [index, { counter }] of uncovered.entries()) {
      const state = decision.counters[index]
      if (state !== undefined && counter instanceof LeasedCounter) counter.learn(state, now)
    }
    const { refused } = decision
    const refusing = refused && uncovered[refused.index]
    return refusing && { counter: refusing.counter, waitMs: refused.waitMs }
  }

  function takeAll(claims: readonly LimitClaim[], now: number): Refused | undefined | Promise<Refused | undefined> {
    const uncovered = claims.filter(({ counter, amount }) => counter.waitMs(amount, now) > 0)
    const covered = uncovered.length === 0 ? claims : claims.filter((claim) => !uncovered.includes(claim))
    for (const { counter, amount } of covered) counter.take(amount, now)
    return uncovered.length === 0 ? undefined : ask(uncovered, covered)
  }

  return {
    make: (spec) => new LeasedCounter(spec, note),
    takeAll,
    async refresh(counters) {
      await ask(
        counters.map((counter) => ({ counter, amount: 0 })),
        [],
      )
    },
    callBack,
  }
}

/** This process's lease of a limit, and the last known state of the limit. */
class LeasedCounter implements LimitCounter {
  spec: CounterSpec
  open = 0
  /** What may be given away without asking. Below 0: requests took more than was granted. */
  lease = 0
  usedAt = 0
  /** Leases are returned when they were not used, or are called back. */
  isNoted = false
  readonly #note: (counter: LeasedCounter) => void
  /** At the authority, after its last decision. */
  #remaining: number
  #fullAt = Number.NEGATIVE_INFINITY

  constructor(spec: CounterSpec, note: (counter: LeasedCounter) => void) {
    this.spec = spec
    this.#note = note
    this.#remaining = spec.most
  }

  /** 0: the lease covers the amount. Otherwise the authority must be asked. */
  waitMs(amount: number): number {
    return amount <= this.lease || (amount === 0 && this.spec.most > 0) ? 0 : Number.POSITIVE_INFINITY
  }

  take(amount: number, now: number): void {
    this.lease -= amount
    this.usedAt = now
    if (!this.isNoted) this.#note(this)
  }

  giveBack(amount: number): void {
    this.lease += amount
    if (!this.isNoted) this.#note(this)
  }

  /** Takes the whole lease, or debt, to return it. */
  takeLease(): number {
    const { lease } = this
    this.lease = 0
    this.#remaining = Math.min(this.spec.most, this.#remaining + lease)
    this.#fullAt -= this.spec.most === 0 ? 0 : (lease * this.spec.perMs) / this.spec.most
    return lease
  }

  /** Notes a decision of the authority. */
  learn({ lease, remaining, resetMs }: CounterState, now: number): void {
    this.lease += lease
    this.usedAt = now
    this.#remaining = remaining
    this.#fullAt = now + resetMs
    if (!this.isNoted) this.#note(this)
  }

  mayForget(): boolean {
    return this.open === 0 && this.lease === 0
  }

  remaining(now: number): number {
    const { most, perMs } = this.spec
    // A rate has refilled since; slots have not.
    const left = perMs === 0 ? this.#remaining : Math.floor(most - (this.resetMs(now) * most) / perMs + 1e-6)
    return Math.max(0, Math.min(most, left + this.lease))
  }

  resetMs(now: number): number {
    return Math.max(0, this.#fullAt - now)
  }
}
