import { CounterBook } from '../counter-book.ts'
import { newCounter, type CounterSpec, type LimitCounter } from '../counter.ts'
import type { AskedClaim, ClaimDecision, CounterState } from '../lease-messages.ts'
import type { OwnReport } from '../leased-accounts.ts'
import type { OwnReports, RemoteAuthority } from '../leases.ts'
import { longestWait } from '../take-all.ts'
import { claimScript, returnScript, stateScript } from './counter-scripts.ts'
import { hashedKey, type Peer } from './peer.ts'

/** The slots of one limit that this process holds. */
interface HeldSlots {
  readonly spec: CounterSpec
  held: number
  /** Questions without a decision. Until then the server may count more. */
  asking: number
  /** The server may count another number: a message about them failed. */
  isDoubtful: boolean
}

type CounterClaim = AskedClaim & { readonly spec: CounterSpec }

/** A report about a counter. */
type CounterReport = OwnReport & { readonly spec: CounterSpec }

/** An amount of a rate that was taken without the server. */
interface Debt {
  readonly spec: CounterSpec
  readonly amount: number
}

/** Counters of one message: it blocks the server while it runs. */
const countersPerMessage = 200
/** Between two attempts to reach the server while this process decides alone. */
const retryMs = 500
/** Counters whose debts are remembered, and counters of this process alone. */
const countersMax = 10_000

/**
 * The authority over the limits of all machines, in a server that runs scripts (docs/decisions/0018-limits.md).
 *
 * While the server does not answer, this process decides alone, by each limit ÷ the processes last seen, at least 1. It
 * counts that at the server before it asks the server again.
 */
export class SharedCounters implements RemoteAuthority {
  readonly #peer: Peer
  readonly #clock: () => number
  /** By the keys of counters. */
  readonly #slots = new Map<string, HeldSlots>()
  readonly #debts = new Map<string, Debt>()
  /** Rates while this process decides alone. */
  readonly #alone = new CounterBook(countersMax)
  #isAlone = false
  #triedAt = Number.NEGATIVE_INFINITY

  /** @param clock a monotonic clock, in milliseconds */
  constructor(peer: Peer, clock: () => number) {
    this.#peer = peer
    this.#clock = clock
    peer.onBeat(async () => {
      await this.#stateSlots()
      await this.#payDebts()
      this.#isAlone = false
    })
  }

  async claim(claims: readonly AskedClaim[]): Promise<ClaimDecision> {
    if (!claims.every(isCounterClaim)) throw new Error('Redis leases no budgets')
    const held = claims.flatMap(({ spec }) => this.#slotsOf(spec) ?? [])
    for (const each of held) each.asking += 1
    const decision = await this.#decide(claims)
    for (const each of held) {
      each.asking -= 1
      this.#forgetIfNone(each)
    }
    return decision
  }

  report(reports: OwnReports): void {
    const changed = [...reports.values()].filter(isOfCounter)
    if (changed.length === 0) return
    for (const { spec, returned } of changed) {
      const own = this.#slots.get(spec.key)
      if (own !== undefined) own.held -= returned
      this.#alone.known(spec.key)?.giveBack(returned)
    }
    if (this.#isAlone) return this.#settleAlone(changed)
    this.#send(returnScript, changed, ({ spec, returned }) => [spec, returned, 0]).then(
      () => {
        for (const { spec } of changed) this.#forgetIfNone(this.#slots.get(spec.key))
      },
      // The server may have counted it: of a rate only debts are counted again.
      () => this.#settleAlone(changed.filter(({ spec, returned }) => spec.kind === 'at_once' || returned < 0)),
    )
  }

  #settleAlone(reports: readonly CounterReport[]): void {
    for (const { spec, returned } of reports)
      if (spec.kind === 'at_once') this.#doubt(spec.key)
      else this.#owe(spec, -returned)
  }

  async #decide(claims: readonly CounterClaim[]): Promise<ClaimDecision> {
    if (this.#isAlone) {
      // No request waits for a server that did not answer.
      if (this.#clock() - this.#triedAt >= retryMs) this.#tryAgain()
      return this.#decideAlone(claims)
    }
    try {
      const reply = await this.#send(claimScript, claims, ({ spec, amount, recent }) => [spec, amount, 2 * recent])
      return this.#noteSlots(claims, decisionOf(reply, claims))
    } catch {
      // The connection logs why. The server may have counted the question.
      this.#isAlone = true
      this.#triedAt = this.#clock()
      for (const { spec } of claims) this.#doubt(spec.key)
      return this.#decideAlone(claims)
    }
  }

  /** In one step with the decision: others follow. */
  #noteSlots(claims: readonly CounterClaim[], decision: ClaimDecision): ClaimDecision {
    if (decision.refused !== undefined) return decision
    for (const [index, { spec, amount }] of claims.entries()) {
      const own = this.#slots.get(spec.key)
      if (own !== undefined) own.held += amount + (decision.counters[index]?.lease ?? 0)
    }
    return decision
  }

  #tryAgain(): void {
    this.#triedAt = this.#clock()
    void this.#peer.beat()
  }

  #decideAlone(claims: readonly CounterClaim[]): ClaimDecision {
    const now = this.#clock()
    this.#alone.makeRoom(now)
    const own = claims.map(({ spec, amount }) => ({ counter: this.#ownShare(spec, now), amount }))
    const refused = longestWait(own, now)
    if (refused === undefined)
      for (const [index, { spec, amount }] of claims.entries()) {
        own[index]?.counter.take(amount, now)
        if (spec.kind !== 'at_once') this.#owe(spec, amount)
      }
    const states = own.map(({ counter }): CounterState => {
      return { lease: 0, remaining: counter.remaining(now), resetMs: counter.resetMs(now) }
    })
    if (refused === undefined) return this.#noteSlots(claims, { counters: states })
    const index = own.findIndex(({ counter }) => counter === refused.counter)
    return { refused: { index, waitMs: refused.waitMs }, counters: states }
  }

  /** The share of this process. Slots count wherever they were granted. */
  #ownShare(spec: CounterSpec, now: number): LimitCounter {
    const most = spec.most === 0 ? 0 : Math.max(1, Math.floor(spec.most / this.#peer.processes))
    if (spec.kind !== 'at_once') return this.#alone.find({ ...spec, most })
    const counter = newCounter({ ...spec, most })
    counter.take(this.#slots.get(spec.key)?.held ?? 0, now)
    return counter
  }

  /** The server forgets slots that are not stated again. It may have lost them, too. */
  async #stateSlots(): Promise<void> {
    for (const stated of chunks([...this.#slots.values()].filter(({ asking }) => asking === 0))) {
      for (const each of stated) each.isDoubtful = false
      const stating = this.#send(stateScript, stated, ({ spec, held }) => [spec, held, 0])
      await stating.catch((error: unknown) => {
        for (const each of stated) each.isDoubtful = true
        throw error
      })
      for (const each of stated) this.#forgetIfNone(each)
    }
  }

  async #payDebts(): Promise<void> {
    for (const paid of chunks([...this.#debts.values()])) {
      for (const { spec } of paid) this.#debts.delete(spec.key)
      const paying = this.#send(returnScript, paid, ({ spec, amount }) => [spec, -amount, 0])
      await paying.catch((error: unknown) => {
        for (const { spec, amount } of paid) this.#owe(spec, amount)
        throw error
      })
    }
  }

  /** @param amount below 0: less is owed */
  #owe(spec: CounterSpec, amount: number): void {
    const sum = amount + (this.#debts.get(spec.key)?.amount ?? 0)
    if (sum <= 0) this.#debts.delete(spec.key)
    else if (this.#debts.size < countersMax || this.#debts.has(spec.key))
      this.#debts.set(spec.key, { spec, amount: sum })
  }

  #send<Each>(
    script: string,
    all: readonly Each[],
    wordsOf: (each: Each) => readonly [spec: CounterSpec, amount: number, more: number],
  ): Promise<readonly number[]> {
    const keys: string[] = []
    const words: string[] = []
    for (const each of all) {
      const [{ key, kind, most, perMs }, amount, more] = wordsOf(each)
      keys.push(hashedKey(key))
      words.push(kind, String(most), String(perMs * 1_000), String(amount), String(more))
    }
    return this.#peer.send(script, keys, words)
  }

  #slotsOf(spec: CounterSpec): HeldSlots | undefined {
    if (spec.kind !== 'at_once') return undefined
    const own = this.#slots.get(spec.key) ?? { spec, held: 0, asking: 0, isDoubtful: false }
    this.#slots.set(spec.key, own)
    return own
  }

  #doubt(key: string): void {
    const own = this.#slots.get(key)
    if (own !== undefined) own.isDoubtful = true
  }

  #forgetIfNone(own: HeldSlots | undefined): void {
    if (own !== undefined && own.held <= 0 && own.asking === 0 && !own.isDoubtful) this.#slots.delete(own.spec.key)
  }
}

function* chunks<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let from = 0; from < all.length; from += countersPerMessage) yield all.slice(from, from + countersPerMessage)
}

/** @throws for the answer of another script */
function decisionOf(reply: readonly number[], claims: readonly CounterClaim[]): ClaimDecision {
  const [position = 0, waitUs = 0, ...states] = reply
  if (states.length !== 3 * claims.length) throw new Error('not an answer about these limits')
  const counters = claims.map((_, index): CounterState => {
    const [lease = 0, remaining = 0, resetUs = 0] = states.slice(3 * index)
    return { lease, remaining, resetMs: resetUs / 1_000 }
  })
  const refusing = claims[position - 1]
  if (refusing === undefined) return { counters }
  const waitMs = refusing.spec.most === 0 ? Number.POSITIVE_INFINITY : waitUs / 1_000
  return { refused: { index: position - 1, waitMs }, counters }
}

function isCounterClaim(claim: AskedClaim): claim is CounterClaim {
  return claim.spec.kind !== 'usd'
}

function isOfCounter(report: OwnReport): report is CounterReport {
  return report.spec !== undefined && report.returned !== 0
}
