import { BudgetAccount, type BudgetUse } from '../budgets/budget-account.ts'
import { BudgetHolds } from '../budgets/budget-authority.ts'
import { openedBudgets, type AskedBudget, type OpenBudgets, type SpendingSource } from '../budgets/opened-budgets.ts'
import { CounterBook } from '../counter-book.ts'
import { newCounter } from '../counter.ts'
import type { AskedClaim, ClaimDecision, CounterState } from '../lease-messages.ts'
import { Leases, type OwnReports, type RemoteAuthority } from '../leases.ts'
import { isOfMoney, longestWait, take, type AccountClaim } from '../take-all.ts'
import { accountScript } from './account-script.ts'
import {
  countersMax,
  isOfBudget,
  isOfRate,
  OwnAccounts,
  spentOf,
  whole,
  type OwnAccount,
  type AccountStatement,
} from './own-accounts.ts'
import type { Peer } from './peer.ts'

/** The accounts and questions of one message. */
interface Message {
  readonly accounts: ReadonlyMap<OwnAccount, AccountStatement>
  readonly questions: readonly Question[]
}

interface Question {
  readonly claims: readonly AskedClaim[]
  resolve(decision: ClaimDecision): void
  reject(error: unknown): void
}

/** The server does not answer. */
interface Away {
  readonly error: unknown
  triedAt: number
}

export interface SharedAccountsOptions {
  readonly peer: Peer
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
  /** Sums that budgets start with. Absent: there are no budgets. */
  readonly source?: SpendingSource
}

/** Accounts of one message: it blocks the server while it runs. */
const accountsPerMessage = 200
/** Between two attempts to reach the server while this process decides alone. */
const retryMs = 500

/**
 * The authority over the limits and budgets of all machines, in a server that runs scripts (docs/decisions/0024).
 *
 * One message at a time is under way: it states what this process has of each account that changed, and asks all
 * questions that came meanwhile. So an answer that was lost leaves nothing to find out: the next message states it.
 *
 * While the server does not answer, this process decides alone: by each limit ÷ the processes last seen, at least 1,
 * and by budgets only if their limits say so. The server counts that before it is asked again.
 */
export class SharedAccounts implements RemoteAuthority {
  readonly #peer: Peer
  readonly #clock: () => number
  readonly #opening: OpenBudgets | undefined
  readonly #own: OwnAccounts
  #questions: Question[] = []
  #isSending = false
  #sending = Promise.resolve()
  /** Rates while this process decides alone. */
  readonly #alone = new CounterBook(countersMax)
  #away: Away | undefined

  constructor({ peer, clock, source }: SharedAccountsOptions) {
    this.#peer = peer
    this.#clock = clock
    this.#own = new OwnAccounts(source?.now ?? Date.now, source?.onCrossed)
    this.#opening = source && openedBudgets(this.#own, source)
    peer.onBeat(() => this.#restate())
  }

  async claim(claims: readonly AskedClaim[]): Promise<ClaimDecision> {
    const budgets = claims.flatMap(({ spec }) => (spec.kind === 'usd' ? [spec] : []))
    if (budgets.length > 0) await this.#opening?.(budgets)
    const away = this.#away
    if (away !== undefined) {
      // No request waits for a server that did not answer.
      if (this.#clock() - away.triedAt >= retryMs) this.#tryAgain(away)
      return this.#decideAlone(claims, away.error)
    }
    const { promise, resolve, reject } = Promise.withResolvers<ClaimDecision>()
    this.#questions.push({ claims, resolve, reject })
    void this.#send()
    return promise
  }

  report(reports: OwnReports): void {
    for (const [key, { spec, returned, money }] of reports)
      if (money !== undefined) this.#own.spend(key, returned, money)
      else if (spec !== undefined && returned !== 0) {
        this.#alone.known(key)?.giveBack(returned)
        this.#own.giveBack(spec, returned, this.#away !== undefined)
      }
    if (this.#away === undefined && this.#own.changed.size > 0) void this.#send()
  }

  /** The state of budgets. Without the server, the numbers that this process knows. */
  async uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]> {
    for (let from = 0; from < budgets.length; from += accountsPerMessage) {
      const claims = budgets.slice(from, from + accountsPerMessage).map((spec) => ({ spec, amount: 0, recent: 0 }))
      await this.#opening?.(claims.map(({ spec }) => spec))
      await this.claim(claims).catch(() => undefined)
    }
    return budgets.map((spec) => {
      const own = this.#own.budget(spec)
      return { used: spentOf(own), held: this.#away === undefined ? own.heldByAll : own.held }
    })
  }

  #tryAgain(away: Away): void {
    away.triedAt = this.#clock()
    void this.#peer.beat()
  }

  /** The server answers. */
  async #restate(): Promise<void> {
    this.#own.restate()
    this.#away = undefined
    if (this.#own.changed.size > 0) await this.#send()
  }

  #send(): Promise<void> {
    if (!this.#isSending) this.#sending = this.#sendAll()
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    // What changes in the same turn goes together.
    await Promise.resolve()
    do await this.#sendNext()
    while (this.#away === undefined && (this.#own.changed.size > 0 || this.#questions.length > 0))
    this.#isSending = false
  }

  async #sendNext(): Promise<void> {
    const message = this.#nextMessage()
    const { accounts, questions } = message
    const positions = new Map(Array.from(accounts.keys(), (own, index) => [own, index + 1]))
    const asked = questions.map(({ claims }) =>
      claims.map(({ spec, amount, alone = amount, recent }) => {
        const position = positions.get(this.#own.of(spec))
        return spec.kind === 'usd' ? [position, whole(amount), whole(alone)] : [position, amount, 2 * recent]
      }),
    )
    const words = [JSON.stringify([...accounts.values()]), JSON.stringify(asked)]
    try {
      const keys = Array.from(accounts.keys(), ({ hash }) => hash)
      this.#learn(message, await this.#peer.send(accountScript, keys, words))
    } catch (error) {
      this.#failed(message, error)
    }
  }

  /** Questions are asked when all that has changed before is stated. */
  #nextMessage(): Message {
    const chosen = new Set([...this.#own.changed].slice(0, accountsPerMessage))
    let count = 0
    if (chosen.size === this.#own.changed.size)
      for (const { claims } of this.#questions) {
        if (count > 0 && chosen.size + claims.length > accountsPerMessage) break
        for (const { spec } of claims) chosen.add(this.#own.of(spec))
        count += 1
      }
    const accounts = new Map(Array.from(chosen, (own) => [own, this.#own.statementOf(own)]))
    for (const own of chosen) {
      if ('returned' in own) own.returned = 0
      this.#own.changed.delete(own)
    }
    return { accounts, questions: this.#questions.splice(0, count) }
  }

  /** In one step with the decisions: others follow. @throws for the answer of another script */
  #learn({ accounts, questions }: Message, reply: readonly number[]): void {
    const claims = questions.reduce((sum, each) => sum + each.claims.length, 0)
    if (reply.length !== 2 * questions.length + 3 * (accounts.size + claims))
      throw new Error('not an answer about these accounts')
    let at = 0
    for (const { claims: asked, resolve } of questions) {
      const decision = decisionOf(asked, reply.slice(at, (at += 2 + 3 * asked.length)))
      this.#own.granted(asked, decision)
      resolve(decision)
    }
    for (const own of accounts.keys()) {
      const [known = 0, heldByAll = 0, acked = 0] = reply.slice(at, (at += 3))
      if (isOfBudget(own)) this.#own.learn(own, { known, heldByAll, acked })
      else this.#own.forgetIfNone(own)
    }
  }

  /** The connection logs why. The server may have counted the message: of a rate only debts are counted again. */
  #failed({ accounts, questions }: Message, error: unknown): void {
    this.#away = { error, triedAt: this.#clock() }
    for (const [own, statement] of accounts) {
      if ('returned' in own && statement.kind !== 'usd') own.returned += Math.min(0, statement.returned)
      if (!isOfRate(own.spec) || ('returned' in own && own.returned !== 0)) this.#own.changed.add(own)
      this.#own.forgetIfNone(own)
    }
    for (const { claims, resolve, reject } of [...questions, ...this.#questions.splice(0)])
      try {
        resolve(this.#decideAlone(claims, error))
      } catch (reason) {
        reject(reason)
      }
  }

  /** @throws if there is a budget that is closed without the server */
  #decideAlone(claims: readonly AskedClaim[], error: unknown): ClaimDecision {
    const now = this.#clock()
    this.#alone.makeRoom(now)
    if (claims.some(({ spec }) => spec.kind === 'usd' && !spec.isOpenWhenAway)) throw error
    const own = claims.map((claim) => this.#ownClaim(claim, now))
    const refused = longestWait(own, now)
    const counters = own.map((claim, index): CounterState => {
      const spec = claims[index]?.spec
      if (refused === undefined) {
        take(claim, now)
        if (spec !== undefined && isOfRate(spec)) this.#own.giveBack(spec, -claim.amount, true)
      }
      const { counter } = claim
      const state = { lease: 0, remaining: counter.remaining(now), resetMs: counter.resetMs(now) }
      return isOfMoney(claim) ? { ...state, held: { amount: claim.amount, isShort: false, dearest: 0 } } : state
    })
    const index = own.findIndex(({ counter }) => counter === refused?.counter)
    const decision = refused === undefined ? { counters } : { refused: { index, waitMs: refused.waitMs }, counters }
    this.#own.granted(claims, decision)
    return decision
  }

  /** Of the share of this process. Slots count wherever they were granted. Money that is known to be spent stays so. */
  #ownClaim({ spec, amount, alone = amount }: AskedClaim, now: number): AccountClaim {
    if (spec.kind === 'usd') {
      const most = spentOf(this.#own.budget(spec)) < spec.most ? Infinity : 0
      return { counter: new BudgetAccount({ ...spec, most }, 0), amount: alone, alone, isShort: false, dearest: 0 }
    }
    const most = spec.most === 0 ? 0 : Math.max(1, Math.floor(spec.most / this.#peer.processes))
    if (isOfRate(spec)) return { counter: this.#alone.find({ ...spec, most }), amount }
    const counter = newCounter({ ...spec, most })
    counter.take(this.#own.slots(spec), now)
    return { counter, amount }
  }
}

/** The holds of this process in the budgets of all machines. */
export function sharedBudgets(authority: SharedAccounts, clock: () => number): BudgetHolds {
  const leases = new Leases({ authority, clock, isCalledBack: false })
  return new BudgetHolds({
    find: (budget) => leases.budget(budget),
    takeAll: leases.takeAll,
    uses(budgets) {
      leases.flush()
      return authority.uses(budgets)
    },
  })
}

function decisionOf(claims: readonly AskedClaim[], reply: readonly number[]): ClaimDecision {
  const [position = 0, waitUs = 0, ...states] = reply
  const counters = claims.map(({ spec }, index): CounterState => {
    const [one = 0, other = 0, third = 0] = states.slice(3 * index)
    if (spec.kind !== 'usd') return { lease: one, remaining: other, resetMs: third / 1_000 }
    return { lease: 0, remaining: 0, resetMs: 0, held: { amount: one, isShort: other === 1, dearest: third } }
  })
  const refusing = claims[position - 1]
  if (refusing === undefined) return { counters }
  const isEndless = refusing.spec.kind === 'usd' || refusing.spec.most === 0
  const isBusy = counters[position - 1]?.held?.isShort
  return { refused: { index: position - 1, waitMs: isEndless ? Infinity : waitUs / 1_000, isBusy }, counters }
}
