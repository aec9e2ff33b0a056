import type { AskedClaim, ClaimDecision, CounterState, Returned, ReturnedAmount } from './authority.ts'
import type { LimitCounter, CounterSpec } from './counter.ts'
import type { LimitClaim, Refused, TakeAll } from './take-all.ts'

/** The return of a lease by this process. */
export interface OwnReturn extends ReturnedAmount {
  readonly spec: CounterSpec
}

/** By the keys of counters. */
export type OwnReturns = ReadonlyMap<string, OwnReturn>

/** The authority over the limits of all processes, as one of them sees it. Rejects when it cannot be asked. */
export interface RemoteAuthority {
  claim(claims: readonly AskedClaim[]): Promise<ClaimDecision>
  giveBack(returned: OwnReturns): void
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

export interface LeasedCountersOptions {
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

export function leasedCounters({
  authority,
  clock,
  leaseMs = 1_000,
  isCalledBack = true,
}: LeasedCountersOptions): LeasedCounters {
  /** Those that have, or may get, something to return. */
  const holding = new Map<string, LeasedCounter>()
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Counters whose amounts are returned when the current turn of the event loop has ended. */
  const due = new Set<string>()

  /** Starts the timer that returns leases; it runs only while there is something to return. */
  function note(counter: LeasedCounter): void {
    counter.isNoted = true
    holding.set(counter.spec.key, counter)
    // Until a debt is returned, other processes take what is not there.
    if (counter.lease < 0 || (!isCalledBack && counter.lease !== 0 && counter.given === 0)) noteDue(counter.spec.key)
    if (timer !== undefined) return
    timer = setTimeout(returnOld, leaseMs)
    timer.unref()
  }

  function noteDue(key: string): void {
    due.add(key)
    if (due.size === 1) queueMicrotask(returnDue)
  }

  function returnDue(): void {
    const keys = [...due]
    due.clear()
    authority.giveBack(returnAll(keys))
  }

  function returnOld(): void {
    timer = undefined
    const now = clock()
    const old: string[] = []
    for (const [key, counter] of holding) {
      const isOld = counter.lease > 0 && now - counter.givenAt >= leaseMs
      if (isOld) old.push(key)
      else if (counter.mayForget()) forget(key, counter)
    }
    const returned = returnAll(old)
    if (returned.size > 0) authority.giveBack(returned)
    for (const counter of holding.values()) note(counter)
  }

  function callBack(keys: readonly string[]): Returned {
    return new Map(keys.map((key) => [key, returnOne(key) ?? { amount: 0, hasOpen: false }]))
  }

  function returnAll(keys: readonly string[]): OwnReturns {
    return new Map(
      keys.flatMap((key) => {
        const returned = returnOne(key)
        return returned === undefined ? [] : [[key, returned]]
      }),
    )
  }

  function returnOne(key: string): OwnReturn | undefined {
    const counter = holding.get(key)
    if (counter === undefined) return undefined
    const { spec } = counter
    const amount = counter.takeLease()
    const hasOpen = counter.open > 0
    if (!hasOpen) forget(key, counter)
    return { spec, amount, hasOpen }
  }

  function forget(key: string, counter: LeasedCounter): void {
    counter.isNoted = false
    holding.delete(key)
  }

  async function ask(uncovered: readonly LimitClaim[], covered: readonly LimitClaim[]): Promise<Refused | undefined> {
    let decision: ClaimDecision | undefined
    const asked = uncovered.map(({ counter, amount }): AskedClaim => {
      const recent = counter instanceof LeasedCounter ? counter.recent(clock()) : 0
      return { spec: counter.spec, amount, recent }
    })
    try {
      decision = await authority.claim(asked)
    } finally {
      if (decision === undefined || decision.refused !== undefined)
        for (const { counter, amount } of covered) counter.giveBack(amount)
    }
    const now = clock()
    const { refused } = decision
    for (const [index, { counter, amount }] of uncovered.entries()) {
      const state = decision.counters[index]
      if (state !== undefined && counter instanceof LeasedCounter)
        counter.learn(state, refused === undefined ? amount : 0, now)
    }
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
  /** The last lease that was given, and when. */
  given = 0
  givenAt = Number.NEGATIVE_INFINITY
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
    return amount <= this.lease || (amount === 0 && this.spec.most > 0) ? 0 : Number.POSITIVE_INFINITY
  }

  take(amount: number): void {
    this.lease -= amount
    this.#taken += amount
    if (!this.isNoted || this.lease < 0) this.#note(this)
  }

  giveBack(amount: number): void {
    this.lease += amount
    if (!this.isNoted || this.given === 0 || this.lease < 0) this.#note(this)
  }

  /** The amount that was taken since the last decision; 0 if that was too long ago to matter. */
  recent(now: number): number {
    return now - this.givenAt < recentMs ? this.#taken : 0
  }

  /** Takes the whole lease, or debt, to return it. */
  takeLease(): number {
    const { lease } = this
    this.lease = 0
    this.#remaining = Math.min(this.spec.most, this.#remaining + lease)
    this.#fullAt -= this.spec.most === 0 ? 0 : (lease * this.spec.perMs) / this.spec.most
    return lease
  }

  /** Notes a decision of the authority. @param amount granted */
  learn({ lease, remaining, resetMs }: CounterState, amount: number, now: number): void {
    this.lease += lease
    this.given = lease
    this.givenAt = now
    this.#taken = amount
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
