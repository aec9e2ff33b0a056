import { counterBook } from './counter-book.ts'
import type { CounterSpec, LimitCounter } from './counter.ts'
import { leaseHolders } from './lease-holders.ts'
import { longestWait, type LimitClaim, type Refused } from './take-all.ts'

/** An amount that a process asks for. */
export interface AskedClaim {
  readonly spec: CounterSpec
  readonly amount: number
  /** The amount that the process took since the last decision, if that was within a second. */
  readonly recent: number
}

/** The decision about several claims: all are granted, or none. Lists are in the order of the claims. */
export interface ClaimDecision {
  readonly refused?: { readonly index: number; readonly waitMs: number }
  readonly counters: readonly CounterState[]
}

/** The state of a counter after a decision. */
export interface CounterState {
  /** Amount that the process may grant by itself, beyond its claim. */
  readonly lease: number
  readonly remaining: number
  readonly resetMs: number
}

/** A process's return of a lease. */
export interface ReturnedAmount {
  /** Below 0: its requests took more than was granted. */
  readonly amount: number
  /** Requests are under way, which may return more. */
  readonly hasOpen: boolean
}

/** By the keys of counters. */
export type Returned = ReadonlyMap<string, ReturnedAmount>

/** A process that holds leases. */
export interface LeaseHolder {
  /** Calls back the unused part of the process's leases. */
  callBack(keys: readonly string[]): Promise<Returned>
}

/** One process at the authority. */
export interface Lessee {
  claim(claims: readonly AskedClaim[]): Promise<ClaimDecision>
  giveBack(returned: Returned): void
  /** The process has ended: its slots are free. */
  left(): void
}

/** Decides about the limits of all processes (docs/decisions/0018-limits.md). */
export interface LimitAuthority {
  joined(holder: LeaseHolder): Lessee
}

export interface LimitAuthorityOptions {
  /** Number of processes. */
  readonly processes: number
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
}

/** A lease is at most this part of each process's share of the remaining amount. */
const leaseDivisor = 4

/** An authority with all counters full. */
export function limitAuthority({ processes, clock }: LimitAuthorityOptions): LimitAuthority {
  const book = counterBook()
  /** The slots that each process holds. */
  const slots = new Map<LeaseHolder, Map<LimitCounter, number>>()
  const holders = leaseHolders<LimitCounter, LeaseHolder>(async (holder, counters) => {
    // A process that has ended returns its slots by ending.
    const returned = await holder.callBack(counters.map(({ spec }) => spec.key)).catch(() => undefined)
    if (returned !== undefined && slots.has(holder)) giveBack(returned, holder)
  })

  function grantOne({ counter, amount }: LimitClaim, holder: LeaseHolder, now: number): CounterState {
    counter.take(amount, now)
    const mayLease = amount > 0 && !holders.isShort(counter, now)
    const lease = mayLease ? Math.floor(counter.remaining(now) / (leaseDivisor * processes)) : 0
    counter.take(lease, now)
    if (counter.spec.kind === 'at_once') hold(counter, holder, amount + lease)
    if (lease > 0 || (amount > 0 && counter.spec.kind !== 'requests')) holders.add(counter, holder)
    return { lease, remaining: counter.remaining(now), resetMs: counter.resetMs(now) }
  }

  /** Counts the slots of a process. The counter is not forgotten while there are some. */
  function hold(counter: LimitCounter, holder: LeaseHolder, amount: number): void {
    const own = slots.get(holder)
    if (own === undefined) return
    counter.open += amount
    const total = (own.get(counter) ?? 0) + amount
    if (total === 0) own.delete(counter)
    else own.set(counter, total)
  }

  function giveBack(returned: Returned, holder: LeaseHolder): void {
    const now = clock()
    for (const [key, { amount, hasOpen }] of returned) {
      const counter = book.known(key)
      if (counter === undefined) continue
      if (amount < 0) counter.take(-amount, now)
      else counter.giveBack(amount)
      if (counter.spec.kind === 'at_once') hold(counter, holder, -amount)
      if (!hasOpen) holders.delete(counter, holder)
    }
  }

  /** Decides, if need be after leases were called back. The last look and the grant are one step. */
  async function decide(claims: readonly LimitClaim[], holder: LeaseHolder): Promise<ClaimDecision> {
    const called = new Set<LimitCounter>()
    for (;;) {
      if (!slots.has(holder)) throw new Error('the process has ended')
      const now = clock()
      const refused = longestWait(claims, now)
      if (refused === undefined) return { counters: claims.map((each) => grantOne(each, holder, now)) }
      const refusing = claims.flatMap(({ counter, amount }) =>
        !called.has(counter) && counter.waitMs(amount, now) > 0 && holders.has(counter) ? [counter] : [],
      )
      if (refusing.length === 0) return refusal(refused, claims, now)
      for (const counter of refusing) called.add(counter)
      holders.noteShort(refusing, now)
      await holders.callBack(refusing)
    }
  }

  async function claim(asked: readonly AskedClaim[], holder: LeaseHolder): Promise<ClaimDecision> {
    book.makeRoom(clock())
    const claims = asked.map(({ spec, amount }): LimitClaim => ({ counter: book.find(spec), amount }))
    // While processes are asked to return leases, nothing else may let these counters be forgotten.
    for (const { counter } of claims) counter.open += 1
    try {
      return await decide(claims, holder)
    } finally {
      for (const { counter } of claims) counter.open -= 1
    }
  }

  return {
    joined(holder) {
      slots.set(holder, new Map())
      return {
        claim: (claims) => claim(claims, holder),
        giveBack: (returned) => giveBack(returned, holder),
        left() {
          // Leases of a rate may have been used: the amount returns with time.
          for (const [counter, amount] of slots.get(holder) ?? []) {
            counter.giveBack(amount)
            counter.open -= amount
            holders.delete(counter, holder)
          }
          slots.delete(holder)
        },
      }
    },
  }
}

function refusal({ counter: refusing, waitMs }: Refused, claims: readonly LimitClaim[], now: number): ClaimDecision {
  return {
    refused: { index: claims.findIndex(({ counter }) => counter === refusing), waitMs },
    counters: claims.map(({ counter }) => ({
      lease: 0,
      remaining: counter.remaining(now),
      resetMs: counter.resetMs(now),
    })),
  }
}
