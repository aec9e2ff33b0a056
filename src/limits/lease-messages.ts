import type { BudgetUse, MoneyClaim } from './budgets/budget-account.ts'
import type { AskedBudget } from './budgets/opened-budgets.ts'
import type { CounterSpec } from './counter.ts'

/** An amount that a process asks for. */
export interface AskedClaim {
  readonly spec: CounterSpec | AskedBudget
  readonly amount: number
  /** Of money: as in `MoneyClaim`. */
  readonly alone?: number
  /** The amount that the process took since the last decision, if that was within a second. */
  readonly recent: number
}

/** The decision about several claims: all are granted, or none. Lists are in the order of the claims. */
export interface ClaimDecision {
  readonly refused?: { readonly index: number; readonly waitMs: number; readonly isBusy?: boolean | undefined }
  readonly counters: readonly CounterState[]
}

/** The state of an account after a decision. */
export interface CounterState {
  /** Amount that the process may grant by itself, beyond its claim. */
  readonly lease: number
  readonly remaining: number
  readonly resetMs: number
  /** Of money. */
  readonly held?: Pick<MoneyClaim, 'amount' | 'isShort' | 'dearest'>
}

/** A process's report about a lease, since its last one. */
export interface LeaseReport {
  /** Below 0: its requests took more than was granted. */
  readonly returned: number
  /** The process may return more. */
  readonly mayReturn: boolean
  /** Of money, in nano-USD. */
  readonly money?: SpentMoney
}

export interface SpentMoney {
  /** Cost of attempts that ended. */
  readonly spent: number
  /** What more, or less, attempts under way hold. */
  readonly opened: number
  /** The highest cost of one of them. */
  readonly dearest: number
  /** What the short hold holds more. */
  readonly raised: number
  /** The short hold has ended. */
  readonly endsShort: boolean
}

/** By the keys of accounts. */
export type LeaseReports = ReadonlyMap<string, LeaseReport>

/** A process that holds leases. */
export interface LeaseHolder {
  /** Calls back the unused part of the process's leases. */
  callBack(keys: readonly string[]): Promise<LeaseReports>
}

/** One process at the authority. */
export interface JoinedProcess {
  claim(claims: readonly AskedClaim[]): Promise<ClaimDecision>
  report(reports: LeaseReports): void
  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
  /** The process has ended: its slots and leases are free, and its holds are booked at their estimates. */
  left(): void
}
