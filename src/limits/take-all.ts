import type { MoneyClaim } from './budgets/budget-account.ts'
import type { LimitCounter } from './counter.ts'

/** An amount to take of a counter. 0: it must not owe. */
export interface LimitClaim {
  readonly counter: LimitCounter
  readonly amount: number
}

export type AccountClaim = LimitClaim | MoneyClaim

/** The account that an amount does not fit in for the longest time. */
export interface Refused<Asked extends AccountClaim = LimitClaim> {
  readonly counter: Asked['counter']
  /** Until the amount fits. Infinity: it never will. */
  readonly waitMs: number
  /** Of money: an attempt that does not fit is under way, and may leave something. */
  readonly isBusy?: boolean | undefined
}

/** Takes all amounts, or none. A promise when another process decides. */
export type TakeAll = <Asked extends AccountClaim>(
  claims: readonly Asked[],
  now: number,
) => Refused<Asked> | undefined | Promise<Refused<Asked> | undefined>

/** Takes all amounts if each fits, else none: a refusal by one limit uses up nothing of another. */
export function takeAll<Asked extends AccountClaim>(claims: readonly Asked[], now: number): Refused<Asked> | undefined {
  const refused = longestWait(claims, now)
  if (refused !== undefined) return refused
  for (const claim of claims) take(claim, now)
  return undefined
}

export function take(claim: AccountClaim, now: number): void {
  if (isOfMoney(claim)) claim.counter.hold(claim)
  else claim.counter.take(claim.amount, now)
}

export function isOfMoney(claim: AccountClaim): claim is MoneyClaim {
  return 'alone' in claim
}

/** The account in which its amount fits last; `undefined`: all fit now. */
export function longestWait<Asked extends AccountClaim>(
  claims: readonly Asked[],
  now: number,
): Refused<Asked> | undefined {
  let refused: Refused<Asked> | undefined
  for (const claim of claims) {
    const waitMs = claim.counter.waitMs(claim.amount, now, isOfMoney(claim) ? claim.alone : undefined)
    if (waitMs > (refused?.waitMs ?? 0)) refused = { counter: claim.counter, waitMs, isBusy: claim.counter.isBusy }
  }
  return refused
}

/** Returns the amounts. */
export function giveBackAll(claims: readonly LimitClaim[]): void {
  for (const { counter, amount } of claims) counter.giveBack(amount)
}
