/** The unit of a counter. */
export type CounterKind = 'requests' | 'tokens' | 'at_once'

/** A limit for one caller or group of callers, as plain JSON. */
export interface CounterSpec {
  /** The same for the same callers, models, kind and period in all processes, also after a change of the amount. */
  readonly key: string
  readonly kind: CounterKind
  /** The amount: most in a period, or most at the same time. 0: none. */
  readonly most: number
  /** The period in milliseconds; 0 for `at_once`. */
  readonly perMs: number
  /** Of `at_once`: how long a request waits for a slot, in milliseconds. Absent: it does not. */
  readonly waitMs?: number
  /** As in access.json, such as `each person`. */
  readonly subject: string
  /** In words, such as `60 requests a minute for each person`. */
  readonly text: string
}

/** The state of one limit. Times are of a monotonic clock, in milliseconds. */
export interface Account<Spec> {
  spec: Spec
  /** Requests under way that have taken something. */
  open: number
  /** The time until the amount fits: 0 for now, infinity for never. @param alone as in `MoneyClaim` */
  waitMs(amount: number, now: number, alone?: number): number
  /** Takes an amount, whether it fits or not: a counter may owe. */
  take(amount: number, now: number): void
  giveBack(amount: number): void
  /** The amount that is left: a whole number, 0 if the counter owes. */
  remaining(now: number): number
  /** The time until all of it is left, if no request follows. */
  resetMs(now: number): number
  /** No request uses it, and it holds nothing that must be given back. */
  mayForget(): boolean
  /** Of money: an attempt that does not fit is under way. */
  readonly isBusy?: boolean
}

/** A limit of requests, tokens or slots. */
export type LimitCounter = Account<CounterSpec>

/** A new counter with all of its amount left. */
export function newCounter(spec: CounterSpec): LimitCounter {
  return spec.kind === 'at_once' ? new SlotCounter(spec) : new RateCounter(spec)
}

/** Nothing depends on the counter's memory: a new one would have the same state. */
export function isIdle(counter: LimitCounter, now: number): boolean {
  return counter.mayForget() && counter.resetMs(now) === 0
}

/** Differences of times below it are errors of floating point, not time. */
const roundingMs = 1e-6

/**
 * A number a period, by the generic cell rate algorithm: the whole amount may be taken at once, and comes back evenly.
 * Its only state is the time at which all of it is back.
 */
class RateCounter implements LimitCounter {
  spec: CounterSpec
  open = 0
  #fullAt = Number.NEGATIVE_INFINITY

  constructor(spec: CounterSpec) {
    this.spec = spec
  }

  /** An amount above the limit fits when the counter is full, which then owes the rest. */
  waitMs(amount: number, now: number): number {
    const { most, perMs } = this.spec
    if (most === 0) return Number.POSITIVE_INFINITY
    const neededMs = (Math.min(amount, most) * perMs) / most
    const wait = Math.max(this.#fullAt, now) + neededMs - now - perMs
    return wait <= roundingMs ? 0 : wait
  }

  take(amount: number, now: number): void {
    this.#fullAt = Math.max(this.#fullAt, now) + this.#msOf(amount)
  }

  giveBack(amount: number): void {
    this.#fullAt -= this.#msOf(amount)
  }

  remaining(now: number): number {
    const { most, perMs } = this.spec
    if (most === 0) return 0
    return Math.max(0, Math.floor(((perMs - this.resetMs(now)) * most) / perMs + roundingMs))
  }

  resetMs(now: number): number {
    return Math.max(0, this.#fullAt - now)
  }

  mayForget(): boolean {
    return this.open === 0
  }

  #msOf(amount: number): number {
    const { most, perMs } = this.spec
    return most === 0 ? 0 : (amount * perMs) / most
  }
}

/** When a slot is free is not known: clients ask again after this time. */
const slotWaitMs = 1_000

class SlotCounter implements LimitCounter {
  spec: CounterSpec
  open = 0
  #used = 0

  constructor(spec: CounterSpec) {
    this.spec = spec
  }

  waitMs(amount: number): number {
    if (this.spec.most === 0) return Number.POSITIVE_INFINITY
    return this.#used + amount <= this.spec.most ? 0 : slotWaitMs
  }

  take(amount: number): void {
    this.#used += amount
  }

  giveBack(amount: number): void {
    this.#used -= amount
  }

  remaining(): number {
    return Math.max(0, this.spec.most - this.#used)
  }

  resetMs(): number {
    return this.#used === 0 ? 0 : slotWaitMs
  }

  mayForget(): boolean {
    return this.open === 0
  }
}
