import type { BudgetUse } from '../budgets/budget-account.ts'
import type { BudgetAuthority, BudgetDecision } from '../budgets/budget-authority.ts'
import {
  openedBudgets,
  type Accounts,
  type AskedBudget,
  type OpenBudgets,
  type SpendingSource,
} from '../budgets/opened-budgets.ts'
import { admitScript, buryScript, budgetStateScript, releaseScript, updateScript } from './budget-scripts.ts'
import { hashedKey, type Peer } from './peer.ts'

/** A change of a hold that the server does not know of yet. */
interface Update {
  readonly kind: 'raise' | 'settle' | 'book'
  readonly amount: number
  readonly budgets: readonly AskedBudget[]
}

type NumberedUpdate = readonly [hold: number, next: Update]

const dayMs = 86_400_000
/** The server keeps a budget for this time after the end of its window; one without an end after its last use. */
const keptMs = 7 * dayMs
const endlessMs = 400 * dayMs
/** Changes and budgets of one message: it blocks the server while it runs. */
const updatesPerMessage = 100
const budgetsPerMessage = 200

/**
 * The authority over the budgets of all machines, in a server that runs scripts (docs/decisions/0020-budgets.md).
 *
 * While the server does not answer, nothing is admitted but by limits that say so. Ends of holds wait until it does.
 * This process remembers what was spent, by its own sums and by the answers of the server: a server that has lost its
 * data starts with that.
 */
export class SharedBudgets implements BudgetAuthority {
  readonly #peer: Peer
  readonly #now: () => number
  readonly #opening: OpenBudgets
  /** At least spent, by budget. */
  readonly #known = new Map<string, number>()
  /** Open holds, by number. */
  readonly #holds = new Map<number, readonly AskedBudget[]>()
  /** Holds of this process alone. */
  readonly #aloneHolds = new Map<number, readonly AskedBudget[]>()
  /** Costs without a hold that were not sent yet, by budget, with their numbers among the changes. */
  readonly #unbooked = new Map<string, { readonly number: number; readonly amount: number }>()
  /** By numbers of holds. */
  readonly #updates = new Map<number, Update>()
  #lastHold = 0
  #isUpdating = false
  /** Numbers of holds that were asked for. */
  readonly #asking = new Set<number>()
  /** An admission failed, so that the server may have holds that this process does not know. */
  #mayHoldMore = false

  constructor(peer: Peer, source: SpendingSource) {
    this.#peer = peer
    this.#now = source.now
    this.#opening = openedBudgets(this.#accounts(), source)
    peer.onBeat(async () => {
      await this.#update()
      await peer.send(buryScript, [], [])
    })
  }

  #accounts(): Accounts {
    const known = this.#known
    return {
      has: (key) => known.has(key),
      open: ({ key }, spent) => this.#know(key, spent),
      sweep(isOver) {
        for (const key of known.keys()) if (isOver(key)) known.delete(key)
      },
      get size() {
        return known.size
      },
    }
  }

  #know(key: string, spent: number): void {
    this.#known.set(key, Math.max(spent, this.#known.get(key) ?? 0))
  }

  #learn(budgets: readonly AskedBudget[], spent: readonly number[]): void {
    if (spent.length !== budgets.length) throw new Error('not an answer about these budgets')
    for (const [index, { key }] of budgets.entries()) this.#know(key, spent[index] ?? 0)
  }

  /** The words of a message about what is known to be spent of a budget, and how long to keep it. */
  #wordsOf({ key, window: { end } }: AskedBudget): readonly string[] {
    const life = end === Infinity ? endlessMs : Math.max(0, end - this.#now()) + keptMs
    return [wholeText(this.#known.get(key) ?? 0), String(life)]
  }

  async admit(budgets: readonly AskedBudget[], most: number, alone = most): Promise<BudgetDecision> {
    await this.#opening(budgets)
    const hold = (this.#lastHold += 1)
    this.#asking.add(hold)
    try {
      return await this.#ask(hold, budgets, [most, alone])
    } catch (error) {
      this.#mayHoldMore = true
      if (budgets.every(({ isOpenWhenAway }) => isOpenWhenAway)) return this.#admitAlone(budgets, alone)
      throw error
    } finally {
      this.#asking.delete(hold)
    }
  }

  async #ask(
    hold: number,
    budgets: readonly AskedBudget[],
    amounts: readonly [most: number, alone: number],
  ): Promise<BudgetDecision> {
    const [refusing = 0, amount = 0, dearest = 0, ...spent] = await this.#peer.send(admitScript, budgets.map(keyOf), [
      String(hold),
      ...amounts.map(wholeText),
      ...budgets.flatMap((budget) => [wholeText(budget.most), ...this.#wordsOf(budget)]),
    ])
    this.#learn(budgets, spent)
    if (refusing > 0) return { kind: 'refused', by: refusing - 1, isBusy: amount > 0 }
    this.#holds.set(hold, budgets)
    if (this.#mayHoldMore || this.#updates.size > 0) this.#updateSoon()
    return { kind: 'held', hold, amount, dearest }
  }

  /** Without a hold. What this process knows to be used up stays so. */
  #admitAlone(budgets: readonly AskedBudget[], estimate: number): BudgetDecision {
    const spentOf = (key: string) => (this.#known.get(key) ?? 0) + (this.#unbooked.get(key)?.amount ?? 0)
    const by = budgets.findIndex(({ key, most }) => spentOf(key) >= most && estimate > 0)
    if (by !== -1) return { kind: 'refused', by, isBusy: false }
    const hold = (this.#lastHold += 1)
    this.#aloneHolds.set(hold, budgets)
    return { kind: 'held', hold, amount: estimate, dearest: 0 }
  }

  raise(hold: number, estimate: number): void {
    const budgets = this.#holds.get(hold)
    if (budgets !== undefined) this.#change(hold, { kind: 'raise', amount: estimate, budgets })
  }

  settle(hold: number, cost: number): void {
    const alone = this.#aloneHolds.get(hold)
    if (alone !== undefined) {
      this.#aloneHolds.delete(hold)
      this.#noteCost(alone, cost)
      this.#updateSoon()
    }
    const budgets = this.#holds.get(hold)
    if (budgets === undefined) return
    this.#holds.delete(hold)
    this.#change(hold, { kind: 'settle', amount: cost, budgets })
  }

  async uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]> {
    await this.#opening(budgets)
    const state: number[] = []
    for (let from = 0; from < budgets.length; from += budgetsPerMessage) {
      const keys = budgets.slice(from, from + budgetsPerMessage).map(keyOf)
      // Without the server, the numbers that this process knows.
      const unknown = () => keys.flatMap(() => [0, 0])
      state.push(...(await this.#peer.send(budgetStateScript, keys, []).catch(unknown)))
    }
    return budgets.map(({ key }, index): BudgetUse => {
      const [spent = 0, held = 0] = state.slice(2 * index)
      return { used: Math.max(spent, this.#known.get(key) ?? 0), held }
    })
  }

  #noteCost(budgets: readonly AskedBudget[], cost: number): void {
    for (const budget of budgets) {
      const { amount = 0, number = (this.#lastHold += 1) } = this.#unbooked.get(budget.key) ?? {}
      this.#unbooked.set(budget.key, { number, amount: amount + cost })
      this.#updates.set(number, { kind: 'book', amount: amount + cost, budgets: [budget] })
    }
  }

  #change(hold: number, next: Update): void {
    this.#updates.set(hold, next)
    this.#updateSoon()
  }

  #updateSoon(): void {
    void this.#update().catch(() => undefined)
  }

  /** Sends the changes that wait, one message after the other: each one then begins with what all before have spent. */
  async #update(): Promise<void> {
    if (this.#isUpdating) return
    this.#isUpdating = true
    try {
      if (this.#mayHoldMore) await this.#releaseUnknown()
      while (this.#updates.size > 0) await this.#sendUpdates([...this.#updates].slice(0, updatesPerMessage))
    } finally {
      this.#isUpdating = false
    }
  }

  /** Ends the holds of admissions that failed: the server may have held them. */
  async #releaseUnknown(): Promise<void> {
    this.#mayHoldMore = false
    const kept = [...this.#holds.keys(), ...this.#asking, ...this.#updates.keys()]
    await this.#peer.send(releaseScript, [], kept.map(String)).catch((error: unknown) => {
      this.#mayHoldMore = true
      throw error
    })
  }

  async #sendUpdates(sent: readonly NumberedUpdate[]): Promise<void> {
    // Costs that come meanwhile are sent later.
    for (const [, { kind, budgets }] of sent)
      if (kind === 'book') for (const { key } of budgets) this.#unbooked.delete(key)
    const budgets = [...new Map(sent.flatMap(([, next]) => next.budgets.map((each) => [each.key, each]))).values()]
    const places = new Map(budgets.map(({ key }, index) => [key, index + 1]))
    const sending = this.#peer.send(updateScript, budgets.map(keyOf), [
      ...budgets.flatMap((budget) => this.#wordsOf(budget)),
      ...sent.flatMap(([hold, next]) => [
        String(hold),
        next.kind,
        wholeText(next.amount),
        next.budgets.map(({ key }) => places.get(key)).join(' '),
      ]),
    ])
    const spent = await sending.catch((error: unknown) => {
      this.#unsend(sent)
      throw error
    })
    this.#learn(budgets, spent)
    // A hold may have changed again meanwhile.
    for (const [hold, next] of sent) if (this.#updates.get(hold) === next) this.#updates.delete(hold)
  }

  /** Costs of a message that failed are counted again with those that came meanwhile. */
  #unsend(sent: readonly NumberedUpdate[]): void {
    for (const [number, { kind, amount, budgets }] of sent)
      if (kind === 'book') {
        this.#updates.delete(number)
        this.#noteCost(budgets, amount)
      }
  }
}

function keyOf({ key }: AskedBudget): string {
  return hashedKey(`budget ${key}`)
}

/** A whole number that a double of Lua holds exactly. */
function wholeText(amount: number): string {
  return String(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(amount))))
}
