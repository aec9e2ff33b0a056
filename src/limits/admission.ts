import { matchesAny } from '../base/name-pattern.ts'
import type { MetLimit } from '../observe/request-entry.ts'
import type { LimitCounter, CounterKind } from './counter.ts'
import { metCounter } from './met-limit.ts'
import { giveBackAll, type LimitClaim, type Refused, type TakeAll } from './take-all.ts'

/** The counters of one caller. */
export interface CallerCounters {
  /** What each request takes as soon as it arrives: 1 of requests and slots, 0 of tokens, of limits for all models. */
  readonly early: readonly LimitClaim[]
  /** Counters of tokens of limits for all models. */
  readonly tokens: readonly LimitCounter[]
  /** Counters of limits for some models. */
  readonly byModel: readonly ModelCounter[]
  /** Counters of slots that a request waits for. */
  readonly waited: readonly LimitCounter[]
  /** As in `AccessPolicy`. */
  readonly hasIetfHeaders: boolean
}

/** A counter, and the models that it counts. */
export interface ModelCounter {
  readonly models: readonly string[]
  readonly counter: LimitCounter
}

/** Facts that only the body of a request has. */
export interface AskedFor {
  /** All names of the model, such as those that an alias stands for. */
  readonly models: readonly string[]
  /** Estimated tokens of prompt and answer. */
  readonly tokens: number
}

/** A wait for a slot. */
export interface WaitedSlot {
  readonly counter: LimitCounter
  readonly ms: number
}

const none: readonly never[] = []

/** What one request has taken. A class: one object instead of many closures. */
export class LimitAdmission {
  /** Why the request is refused. Nothing is taken then. */
  refused: Refused | undefined
  /** The slot that it waited for, and for how long. */
  waited: WaitedSlot | undefined
  readonly #counters: CallerCounters
  readonly #takeAll: TakeAll
  readonly #clock: () => number
  readonly #onFreed: (counter: LimitCounter) => void
  /** Taken after the body was read. */
  #late: readonly LimitClaim[] = []
  #hasEnded = false
  #endedAt: number | undefined

  /** @param onFreed called with the counters of slots that it gives back */
  constructor(
    counters: CallerCounters,
    takeAll: TakeAll,
    clock: () => number,
    onFreed: (counter: LimitCounter) => void = () => undefined,
  ) {
    this.#counters = counters
    this.#takeAll = takeAll
    this.#clock = clock
    this.#onFreed = onFreed
  }

  /** Refuses a request without an attempt to take anything. Call it instead of {@link begin}. */
  beginRefused(refused: Refused): this {
    this.refused = refused
    this.#hasEnded = true
    return this
  }

  get hasIetfHeaders(): boolean {
    return this.#counters.hasIetfHeaders
  }

  /** Takes what needs no body. Call it once, and {@link end} at the request's end. */
  begin(): this | Promise<this> {
    const { early } = this.#counters
    for (const { counter } of early) counter.open += 1
    const refused = this.#takeAll(early, this.#clock())
    if (refused instanceof Promise) return this.#decided(refused)
    if (refused !== undefined) this.#refuse(refused)
    return this
  }

  async #decided(refusing: Promise<Refused | undefined>): Promise<this> {
    try {
      const refused = await refusing
      if (refused !== undefined) this.#refuse(refused)
    } catch (error) {
      this.#leave()
      throw error
    }
    return this
  }

  /** Whether a limit depends on the body, so that {@link ask} must be called. */
  get needsBody(): boolean {
    const { tokens, byModel } = this.#counters
    return tokens.length > 0 || byModel.length > 0
  }

  /** Takes the amounts that depend on the body. A refusal returns the amounts taken before. */
  ask(asked: AskedFor): void | Promise<void> {
    const { tokens, byModel } = this.#counters
    const claims = tokens.map((counter) => claimOf(counter, asked))
    for (const { models, counter } of byModel)
      if (matchesAny(models, asked.models)) claims.push(claimOf(counter, asked))
    for (const { counter } of claims) counter.open += 1
    const refused = this.#takeAll(claims, this.#clock())
    return refused instanceof Promise ? this.#deciding(claims, refused) : this.#askDecided(claims, refused)
  }

  async #deciding(claims: readonly LimitClaim[], refusing: Promise<Refused | undefined>): Promise<void> {
    let decided: Refused | undefined
    try {
      decided = await refusing
    } catch (error) {
      for (const { counter } of claims) counter.open -= 1
      throw error
    }
    this.#askDecided(claims, decided)
  }

  #askDecided(claims: readonly LimitClaim[], refused: Refused | undefined): void {
    if (refused === undefined && !this.#hasEnded) {
      this.#late = claims
      return
    }
    for (const { counter } of claims) counter.open -= 1
    if (refused === undefined) return giveBackAll(claims)
    if (this.#hasEnded) return
    giveBackAll(this.#counters.early)
    this.#refuse(refused)
  }

  #refuse(refused: Refused): void {
    this.refused = refused
    this.#leave()
  }

  #leave(): void {
    this.#hasEnded = true
    for (const { counter } of this.#counters.early) counter.open -= 1
  }

  /**
   * Frees slots, and settles tokens. Further calls do nothing.
   *
   * @param tokens those that the request took in fact; `undefined`: not known, so the estimate stands
   * @param isPart they are a part: the estimate stands if it is larger
   */
  end(tokens: number | undefined, isPart = false): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const now = (this.#endedAt = this.#clock())
    for (const claim of this.#counters.early) endClaim(claim, undefined, now)
    for (const claim of this.#late) {
      const isLess = isPart && tokens !== undefined && tokens < claim.amount
      endClaim(claim, isLess ? undefined : tokens, now)
    }
    for (const counter of this.#counters.waited) this.#onFreed(counter)
  }

  /** The counter with the least left, of limits that count this request. @param now by {@link now} */
  nearest(kind: Exclude<CounterKind, 'at_once'>, now: number): LimitCounter | undefined {
    let nearest: LimitCounter | undefined
    for (const { counter } of this.#counters.early) if (isNearer(counter, kind, nearest, now)) nearest = counter
    for (const { counter } of this.#late) if (isNearer(counter, kind, nearest, now)) nearest = counter
    return nearest
  }

  /** The limits that it waited for and was refused by. */
  met(): readonly MetLimit[] {
    const { refused, waited } = this
    if (refused === undefined && waited === undefined) return none
    return [
      ...(waited === undefined ? [] : [metCounter('waited', waited.counter)]),
      ...(refused === undefined ? [] : [metCounter('refused', refused.counter, this.#modelsOf(refused.counter))]),
    ]
  }

  #modelsOf({ spec }: LimitCounter): readonly string[] | undefined {
    return this.#counters.byModel.find(({ counter }) => counter.spec.key === spec.key)?.models
  }

  /** The time by the clock of the counters; after {@link end}, that of the end. */
  now(): number {
    return this.#endedAt ?? this.#clock()
  }
}

function isNearer(counter: LimitCounter, kind: CounterKind, than: LimitCounter | undefined, now: number): boolean {
  // Limits of tokens are among the early and the late ones.
  if (counter.spec.kind !== kind || counter === than) return false
  return than === undefined || counter.remaining(now) < than.remaining(now)
}

function claimOf(counter: LimitCounter, { tokens }: AskedFor): LimitClaim {
  return { counter, amount: counter.spec.kind === 'tokens' ? tokens : 1 }
}

function endClaim({ counter, amount }: LimitClaim, tokens: number | undefined, now: number): void {
  counter.open -= 1
  if (counter.spec.kind === 'at_once') counter.giveBack(amount)
  if (counter.spec.kind !== 'tokens' || tokens === undefined) return
  if (tokens > amount) counter.take(tokens - amount, now)
  else counter.giveBack(amount - tokens)
}
