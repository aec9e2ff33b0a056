import { anonymous, type Caller } from '../people/person.ts'
import { openPolicy, type AccessPolicy } from './access-policy.ts'
import { LimitAdmission, type CallerCounters } from './admission.ts'
import { CounterBook } from './counter-book.ts'
import type { CounterKind, LimitCounter } from './counter.ts'
import { callerId, callerKey, limitsNaming, type NamedLimit } from './named-limits.ts'
import { SlotQueue } from './slot-queue.ts'
import { takeAll, type TakeAll } from './take-all.ts'

/** The state of one limit. */
export interface LimitState {
  /** As in access.json, such as `each person`. */
  readonly subject: string
  readonly kind: CounterKind
  readonly limit: number
  readonly perMs: number
  readonly models: readonly string[] | undefined
  readonly remaining: number
  /** Until all of it is left. */
  readonly resetMs: number
}

export interface LimiterOptions {
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
  readonly counters?: CounterBook
  /** Absent: the counters of this process decide. */
  readonly leases?: {
    readonly takeAll: TakeAll
    /** Brings the state of counters up to date. */
    refresh(counters: readonly LimitCounter[]): Promise<void>
  }
}

/** Callers whose counters are remembered. They can be found again at any time. */
const callersMax = 10_000

/** Counters that are brought up to date together: one message to the process that decides. */
const refreshedTogether = 100

/** The active limits, from access.json. At first there are none. */
export class Limiter {
  readonly #clock: () => number
  readonly #counters: CounterBook
  readonly #leases: LimiterOptions['leases']
  readonly #take: TakeAll
  readonly #queue = new SlotQueue()
  readonly #callers = new Map<string | number, CallerCounters | undefined>()
  #policy = openPolicy
  #countsSessions = false
  readonly #freed = (counter: LimitCounter): void => this.#queue.freed(counter)

  constructor({ clock, counters = new CounterBook(), leases }: LimiterOptions) {
    this.#clock = clock
    this.#counters = counters
    this.#leases = leases
    this.#take = leases?.takeAll ?? takeAll
  }

  /**
   * Takes a request's amounts from all limits that name its caller, or from none. `undefined`: no limit names the
   * caller. A promise when another process decides, or while the request waits for a slot.
   *
   * @param signal aborts when the client has left. Absent: the request does not wait
   */
  admit(caller: Caller = anonymous, signal?: AbortSignal): LimitAdmission | undefined | Promise<LimitAdmission> {
    const found = this.#countersOf(caller)
    if (found === undefined) return undefined
    const { waited } = found
    if (signal === undefined || waited.length === 0) return this.#admission(found).begin()
    const ahead = waited.find((counter) => this.#queue.isWaitedFor(counter))
    if (ahead !== undefined) return this.#waitFor(ahead, found, signal)
    const orWait = (admission: LimitAdmission): LimitAdmission | Promise<LimitAdmission> => {
      const full = admission.refused?.counter
      return full !== undefined && waited.includes(full) ? this.#waitFor(full, found, signal) : admission
    }
    const first = this.#admission(found).begin()
    return first instanceof Promise ? first.then(orWait) : orWait(first)
  }

  /** The state of all limits that name a caller, for this caller to see. */
  stateOf(caller: Caller): readonly LimitState[] | Promise<readonly LimitState[]> {
    const { early = [], byModel = [] } = this.#countersOf(caller) ?? {}
    const all: readonly OwnCounter[] = [...early, ...byModel]
    const refreshing = this.#leases?.refresh(all.map(({ counter }) => counter))
    return refreshing === undefined ? statesOf(all, this.#clock()) : refreshing.then(() => statesOf(all, this.#clock()))
  }

  /** The state of these limits, for owners to see. */
  async statesOf(limits: readonly NamedLimit[]): Promise<readonly LimitState[]> {
    if (this.#counters.makeRoom(this.#clock())) this.#callers.clear()
    const all = limits.map(({ spec, models }): OwnCounter => {
      const counter = this.#counters.find(spec)
      return models === undefined ? { counter } : { counter, models }
    })
    for (let from = 0; from < all.length; from += refreshedTogether)
      await this.#leases?.refresh(all.slice(from, from + refreshedTogether).map(({ counter }) => counter))
    return statesOf(all, this.#clock())
  }

  /**
   * Activates a policy. Unchanged limits keep their state; open requests return their amounts to the limits that
   * granted them.
   */
  replace(policy: AccessPolicy): void {
    this.#policy = policy
    this.#countsSessions = policy.limits.some(({ subject }) => subject.kind === 'each session')
    this.#callers.clear()
  }

  #admission(found: CallerCounters): LimitAdmission {
    return new LimitAdmission(found, this.#take, this.#clock, this.#freed)
  }

  async #waitFor(counter: LimitCounter, found: CallerCounters, signal: AbortSignal): Promise<LimitAdmission> {
    const started = this.#clock()
    const admission = await this.#queue.wait(counter, {
      attempt: () => this.#admission(found).begin(),
      refused: () => this.#admission(found).beginRefused({ counter, waitMs: counter.waitMs(1, this.#clock()) || 1 }),
      signal,
    })
    admission.waited = { counter, ms: this.#clock() - started }
    return admission
  }

  #countersOf(caller: Caller): CallerCounters | undefined {
    const { session } = caller
    const id =
      session !== undefined && this.#countsSessions ? `${callerId(caller)} session:${session}` : callerKey(caller)
    if (this.#callers.has(id)) return this.#callers.get(id)
    if (this.#counters.makeRoom(this.#clock()) || this.#callers.size >= callersMax) this.#callers.clear()
    const found = this.#findCounters(caller)
    this.#callers.set(id, found)
    return found
  }

  #findCounters(caller: Caller): CallerCounters | undefined {
    const named = limitsNaming(caller, this.#policy)
    if (named.length === 0) return undefined
    const all = named.map(({ spec, models }) => ({ counter: this.#counters.find(spec), models }))
    const ofAllModels = all.flatMap(({ counter, models }) => (models === undefined ? [counter] : []))
    return {
      early: ofAllModels.map((counter) => ({ counter, amount: counter.spec.kind === 'tokens' ? 0 : 1 })),
      tokens: ofAllModels.filter(({ spec }) => spec.kind === 'tokens'),
      byModel: all.flatMap(({ counter, models }) => (models === undefined ? [] : [{ counter, models }])),
      waited: ofAllModels.filter(({ spec }) => spec.waitMs !== undefined),
      hasIetfHeaders: this.#policy.hasIetfHeaders === true,
    }
  }
}

interface OwnCounter {
  readonly counter: LimitCounter
  readonly models?: readonly string[]
}

function statesOf(all: readonly OwnCounter[], now: number): readonly LimitState[] {
  return all.map(({ counter, models }) => ({
    subject: counter.spec.subject,
    kind: counter.spec.kind,
    limit: counter.spec.most,
    perMs: counter.spec.perMs,
    models,
    remaining: counter.remaining(now),
    resetMs: counter.resetMs(now),
  }))
}
