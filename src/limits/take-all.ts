import type { LimitCounter } from './counter.ts'

/** An amount to take of a counter. 0: it must not owe. */
export interface LimitClaim {
  readonly counter: LimitCounter
  readonly amount: number
}

/** The counter that an amount does not fit in for the longest time. */
export interface Refused {
  readonly counter: LimitCounter
  /** Until the amount fits. Infinity: it never will. */
  readonly waitMs: number
}

/** Takes all amounts, or none. A promise when another process decides. */
export type TakeAll = (claims: readonly LimitClaim[], now: number) => Refused | undefined | Promise<Refused | undefined>

/** Takes all amounts if each fits, else none: a refusal by one limit uses up nothing of another. */
export function takeAll(claims: readonly LimitClaim[], now: number): Refused | undefined {
  const refused = longestWait(claims, now)
  if (refused !== undefined) return refused
  for (const { counter, amount } of claims) counter.take(amount, now)
  return undefined
}

/** The counter in which its amount fits last; `undefined`: all fit now. */
export function longestWait(claims: readonly LimitClaim[], now: number): Refused | undefined {
  let refused: Refused | undefined
  for (const { counter, amount } of claims) {
    const waitMs = counter.waitMs(amount, now)
    if (waitMs > (refused?.waitMs ?? 0)) refused = { counter, waitMs }
  }
  return refused
}

/** Returns the amounts. */
export function giveBackAll(claims: readonly LimitClaim[]): void {
  for (const { counter, amount } of claims) counter.giveBack(amount)
}
