import { anonymous, type Caller } from '../people/person.ts'
import { openPolicy, type AccessPolicy } from './access-policy.ts'
import { LimitAdmission, type CallerCounters } from './admission.ts'
import { counterBook, type CounterBook } from './counter-book.ts'
import type { CounterKind, LimitCounter } from './counter.ts'
import { callerKey, limitsNaming, type NamedLimit } from './named-limits.ts'
import { slotQueue } from './slot-queue.ts'
import { takeAll, type TakeAll } from './take-all.ts'

/** The active limits, from access.json. */
export interface Limiter {
  /**
   * Takes a request's amounts from all limits that name its caller, or from none. `undefined`: no limit names the
   * caller. A promise when another process decides, or while the request waits for a slot.
   *
   * @param signal aborts when the client has left. Absent: the request does not wait
   */
  admit(caller: Caller, signal?: AbortSignal): LimitAdmission | undefined | Promise<LimitAdmission>
  /** The state of all limits that name a caller, for this caller to see. */
  stateOf(caller: Caller): readonly LimitState[] | Promise<readonly LimitState[]>
  /** The state of these limits, for owners to see. */
  statesOf(limits: readonly NamedLimit[]): Promise<readonly LimitState[]>
  /**
   * Activates a policy. Unchanged limits keep their state; open requests return their amounts to the limits that
   * granted them.
   */
  replace(policy: AccessPolicy): void
}

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

/** A limiter without limits. */
export function limiter({ clock, counters = counterBook(), leases }: LimiterOptions): Limiter {
  const take = leases?.takeAll ?? takeAll
  let policy = openPolicy
  const queue = slotQueue()
  const callers = new Map<string | number, CallerCounters | undefined>()

  function countersOf(caller: Caller): CallerCounters | undefined {
    const id = callerKey(caller)
    if (callers.has(id)) return callers.get(id)
    if (counters.makeRoom(clock()) || callers.size >= callersMax) callers.clear()
    const found = findCounters(caller)
    callers.set(id, found)
    return found
  }

  function findCounters(caller: Caller): CallerCounters | undefined {
    const named = limitsNaming(caller, policy)
    if (named.length === 0) return undefined
    const all = named.map(({ spec, models }) => ({ counter: counters.find(spec), models }))
    const ofAllModels = all.flatMap(({ counter, models }) => (models === undefined ? [counter] : []))
    return {
      early: ofAllModels.map((counter) => ({ counter, amount: counter.spec.kind === 'tokens' ? 0 : 1 })),
      tokens: ofAllModels.filter(({ spec }) => spec.kind === 'tokens'),
      byModel: all.flatMap(({ counter, models }) => (models === undefined ? [] : [{ counter, models }])),
      waited: ofAllModels.filter(({ spec }) => spec.waitMs !== undefined),
      hasIetfHeaders: policy.hasIetfHeaders === true,
    }
  }

  return {
    admit(caller = anonymous, signal) {
      const found = countersOf(caller)
      if (found === undefined) return undefined
      const attempt = () => new LimitAdmission(found, take, clock, queue.freed).begin()
      if (signal === undefined || found.waited.length === 0) return attempt()
      const refused = (counter: LimitCounter) => (): LimitAdmission =>
        new LimitAdmission(found, take, clock).beginRefused({ counter, waitMs: counter.waitMs(1, clock()) || 1 })
      const waitFor = async (counter: LimitCounter): Promise<LimitAdmission> => {
        const started = clock()
        const admission = await queue.wait(counter, { attempt, refused: refused(counter), signal })
        admission.waited = { counter, ms: clock() - started }
        return admission
      }
      const ahead = found.waited.find(queue.isWaitedFor)
      if (ahead !== undefined) return waitFor(ahead)
      const orWait = (admission: LimitAdmission): LimitAdmission | Promise<LimitAdmission> => {
        const full = admission.refused?.counter
        return full !== undefined && found.waited.includes(full) ? waitFor(full) : admission
      }
      const first = attempt()
      const decided = first instanceof Promise ? first.then(orWait) : orWait(first)
      return decided
    },
    stateOf(caller) {
      const { early = [], byModel = [] } = countersOf(caller) ?? {}
      const all: readonly OwnCounter[] = [...early, ...byModel]
      const refreshing = leases?.refresh(all.map(({ counter }) => counter))
      return refreshing === undefined ? statesOf(all, clock()) : refreshing.then(() => statesOf(all, clock()))
    },
    async statesOf(limits) {
      if (counters.makeRoom(clock())) callers.clear()
      const all = limits.map(({ spec, models }): OwnCounter => {
        const counter = counters.find(spec)
        return models === undefined ? { counter } : { counter, models }
      })
      for (let from = 0; from < all.length; from += refreshedTogether)
        await leases?.refresh(all.slice(from, from + refreshedTogether).map(({ counter }) => counter))
      return statesOf(all, clock())
    },
    replace(next) {
      policy = next
      callers.clear()
    },
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
