import type { Accounts, AskedBudget, OnCrossed } from '../budgets/opened-budgets.ts'
import { budgetAlert } from '../budgets/thresholds.ts'
import type { CounterSpec } from '../counter.ts'
import type { AskedClaim, ClaimDecision, SpentMoney } from '../lease-messages.ts'
import { hashedKey } from './peer.ts'

/** The part of a limit that this process has. */
interface OwnCounter {
  /** The key in the server. */
  readonly hash: string
  spec: CounterSpec
  /** Slots. */
  held: number
  /** Of a rate: the amount that goes back with the next message. Below 0: more was taken than granted. */
  returned: number
}

/** The part of a budget that this process has, in nano-USD. */
interface OwnBudget {
  readonly hash: string
  spec: AskedBudget
  held: number
  /** Cost of all attempts that ended here. */
  total: number
  /** The cost of this process in {@link known}, with bookings. -1: the server has not answered yet. */
  acked: number
  /** Spent by all, at least: by the last answer of the server, or by sums. */
  known: number
  /** Held by all, by the last answer of the server. */
  heldByAll: number
  /** The highest cost of an attempt here. */
  dearest: number
  /** The likely cost of this process's short hold beyond its amount. -1: it has none. */
  beyond: number
}

export type OwnAccount = OwnCounter | OwnBudget

/** The state of an account in a message to the script. */
export type AccountStatement =
  | ({ readonly kind: CounterSpec['kind']; readonly most: number; readonly period: number } & Pick<
      OwnCounter,
      'held' | 'returned'
    >)
  | ({ readonly kind: 'usd'; readonly most: number; readonly life: number } & Omit<
      OwnBudget,
      'hash' | 'spec' | 'heldByAll'
    >)

const dayMs = 86_400_000
/** The server keeps a budget for this time after the end of its window; one without an end after its last use. */
const keptMs = 7 * dayMs
const endlessMs = 400 * dayMs
/** Counters whose debts are remembered. */
export const countersMax = 10_000

/** The accounts of which this process has something, and its budgets. */
export class OwnAccounts implements Accounts {
  /** By their keys. */
  readonly #counters = new Map<string, OwnCounter>()
  readonly #budgets = new Map<string, OwnBudget>()
  readonly #now: () => number
  readonly #onCrossed: OnCrossed | undefined
  /** Accounts with something that the server does not know yet. */
  readonly changed = new Set<OwnAccount>()

  /** @param now Unix milliseconds */
  constructor(now: () => number, onCrossed?: OnCrossed) {
    this.#now = now
    this.#onCrossed = onCrossed
  }

  has(key: string): boolean {
    return this.#budgets.has(key)
  }

  open(spec: AskedBudget, spent: number): void {
    const own = this.budget(spec)
    own.known = Math.max(own.known, spent)
  }

  sweep(isOver: (key: string) => boolean): void {
    for (const [key, own] of this.#budgets)
      if (isOver(key) && own.held === 0 && !this.changed.has(own)) this.#budgets.delete(key)
  }

  get size(): number {
    return this.#budgets.size
  }

  /** The number of slots that are held. */
  slots(spec: CounterSpec): number {
    return this.#counters.get(spec.key)?.held ?? 0
  }

  /** The server may have lost all, and forgets slots that are not stated again. */
  restate(): void {
    for (const own of [...this.#counters.values(), ...this.#budgets.values()]) if (own.held !== 0) this.changed.add(own)
  }

  /** @param isAway the server does not answer: only the debt of amounts granted meanwhile becomes less */
  giveBack(spec: CounterSpec, returned: number, isAway: boolean): void {
    const isRate = isOfRate(spec)
    if (isRate && this.#counters.size >= countersMax && !this.#counters.has(spec.key)) return
    const own = this.counter(spec)
    if (!isRate) own.held -= returned
    else own.returned = isAway ? Math.min(0, own.returned + returned) : own.returned + returned
    this.changed.add(own)
  }

  spend(key: string, returned: number, { spent, dearest, endsShort, raised }: SpentMoney): void {
    const own = this.#budgets.get(key)
    if (own === undefined) return
    const before = spentOf(own)
    own.total += spent
    this.#alert(own, before)
    own.held -= returned + spent
    own.dearest = Math.max(own.dearest, dearest)
    if (own.beyond >= 0) own.beyond = endsShort ? -1 : Math.max(0, own.beyond - raised)
    this.changed.add(own)
  }

  /** Takes over what the server knows of a budget. The first answer may say what others spent before. */
  learn(own: OwnBudget, { known, heldByAll, acked }: Pick<OwnBudget, 'known' | 'heldByAll' | 'acked'>): void {
    const before = spentOf(own)
    const isFirst = own.acked < 0
    // Sums may have been read meanwhile.
    Object.assign(own, { known: Math.max(known, own.known), heldByAll, acked })
    if (!isFirst) this.#alert(own, before)
  }

  #alert(own: OwnBudget, before: number): void {
    const alert = this.#onCrossed && budgetAlert(own.spec, before, spentOf(own))
    if (alert !== undefined) this.#onCrossed?.(alert)
  }

  granted(claims: readonly AskedClaim[], { refused, counters }: ClaimDecision): void {
    if (refused !== undefined) return
    for (const [index, { spec, amount, alone = amount }] of claims.entries()) {
      const { lease = 0, held } = counters[index] ?? {}
      if (spec.kind === 'at_once') this.counter(spec).held += amount + lease
      else if (spec.kind === 'usd' && held !== undefined) {
        const own = this.budget(spec)
        own.held += held.amount
        if (held.isShort) own.beyond = alone - held.amount
      }
    }
  }

  forgetIfNone(own: OwnAccount): void {
    if (!isOfBudget(own) && own.held === 0 && !this.changed.has(own)) this.#counters.delete(own.spec.key)
  }

  statementOf(own: OwnAccount): AccountStatement {
    if (isOfBudget(own)) {
      const { spec, held, total, acked, known, dearest, beyond } = own
      const life = spec.window.end === Infinity ? endlessMs : Math.max(0, spec.window.end - this.#now()) + keptMs
      const amounts = { most: whole(spec.most), held: whole(held), total: whole(total), known: whole(known) }
      return { kind: 'usd', life, acked, ...amounts, dearest: whole(dearest), beyond: beyond < 0 ? -1 : whole(beyond) }
    }
    const { kind, most, perMs } = own.spec
    return { kind, most, period: perMs * 1_000, held: own.held, returned: own.returned }
  }

  of(spec: AskedClaim['spec']): OwnCounter | OwnBudget {
    return spec.kind === 'usd' ? this.budget(spec) : this.counter(spec)
  }

  counter(spec: CounterSpec): OwnCounter {
    const own = this.#counters.get(spec.key) ?? { hash: hashedKey(spec.key), spec, held: 0, returned: 0 }
    own.spec = spec
    this.#counters.set(spec.key, own)
    return own
  }

  budget(spec: AskedBudget): OwnBudget {
    const nothing = { held: 0, total: 0, acked: -1, known: 0, heldByAll: 0, dearest: 0, beyond: -1 }
    const own = this.#budgets.get(spec.key) ?? { hash: hashedKey(`budget ${spec.key}`), spec, ...nothing }
    own.spec = spec
    this.#budgets.set(spec.key, own)
    return own
  }
}

/** Spent by all, at least. */
export function spentOf({ known, total, acked }: OwnBudget): number {
  return known + Math.max(0, total - Math.max(0, acked))
}

/** A whole number that a double of Lua holds exactly. */
export function whole(amount: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(amount)))
}

export function isOfRate(spec: AskedClaim['spec']): spec is CounterSpec & { readonly kind: 'requests' | 'tokens' } {
  return spec.kind === 'requests' || spec.kind === 'tokens'
}

export function isOfBudget(own: OwnAccount): own is OwnBudget {
  return own.spec.kind === 'usd'
}
