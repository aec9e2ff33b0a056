import type { BudgetUse } from '../budgets/budget-account.ts'
import type { BudgetAuthority, BudgetDecision } from '../budgets/budget-authority.ts'
import { openedBudgets, type Accounts, type AskedBudget, type SpendingSource } from '../budgets/opened-budgets.ts'
import { admitScript, buryScript, budgetStateScript, releaseScript, updateScript } from './budget-scripts.ts'
import { hashedKey, type Peer } from './peer.ts'

/** A change of a hold that the server does not know of yet. */
interface Update {
  readonly kind: 'raise' | 'settle' | 'book'
  readonly amount: number
  readonly budgets: readonly AskedBudget[]
}

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
export function sharedBudgets(peer: Peer, source: SpendingSource): BudgetAuthority {
  /** At least spent, by budget. */
  const known = new Map<string, number>()
  const accounts: Accounts = {
    has: (id) => known.has(id),
    open: ({ key }, spent) => know(key, spent),
    sweep(isOver) {
      for (const id of known.keys()) if (isOver(id)) known.delete(id)
    },
    get size() {
      return known.size
    },
  }
  const opening = openedBudgets(accounts, source)
  /** Open holds, by number. */
  const holds = new Map<number, readonly AskedBudget[]>()
  /** Holds of this process alone. */
  const aloneHolds = new Map<number, readonly AskedBudget[]>()
  /** Costs without a hold that were not sent yet, by budget, with their numbers among the changes. */
  const unbooked = new Map<string, { readonly number: number; readonly amount: number }>()
  /** By numbers of holds. */
  const updates = new Map<number, Update>()
  let lastHold = 0
  let isUpdating = false
  /** Numbers of holds that were asked for. */
  const asking = new Set<number>()
  /** An admission failed, so that the server may have holds that this process does not know. */
  let mayHoldMore = false
  peer.onBeat(async () => {
    await update()
    await peer.send(buryScript, [], [])
  })

  function know(id: string, spent: number): void {
    known.set(id, Math.max(spent, known.get(id) ?? 0))
  }

  function learn(budgets: readonly AskedBudget[], spent: readonly number[]): void {
    if (spent.length !== budgets.length) throw new Error('not an answer about these budgets')
    for (const [index, { key }] of budgets.entries()) know(key, spent[index] ?? 0)
  }

  function lifeOf({ window: { end } }: AskedBudget): string {
    return String(end === Infinity ? endlessMs : Math.max(0, end - source.now()) + keptMs)
  }

  async function admit(budgets: readonly AskedBudget[], most: number, alone = most): Promise<BudgetDecision> {
    await opening(budgets)
    const hold = (lastHold += 1)
    asking.add(hold)
    try {
      const [refusing = 0, amount = 0, dearest = 0, ...spent] = await peer.send(admitScript, budgets.map(keyOf), [
        String(hold),
        wholeText(most),
        wholeText(alone),
        ...budgets.flatMap((budget) => [wholeText(budget.most), wholeText(known.get(budget.key) ?? 0), lifeOf(budget)]),
      ])
      learn(budgets, spent)
      if (refusing > 0) return { kind: 'refused', by: refusing - 1, isBusy: amount > 0 }
      holds.set(hold, budgets)
      if (mayHoldMore || updates.size > 0) void update().catch(() => undefined)
      return { kind: 'held', hold, amount, dearest }
    } catch (error) {
      mayHoldMore = true
      if (budgets.every(({ isOpenWhenAway }) => isOpenWhenAway)) return admitAlone(budgets, alone)
      throw error
    } finally {
      asking.delete(hold)
    }
  }

  /** Without a hold. What this process knows to be used up stays so. */
  function admitAlone(budgets: readonly AskedBudget[], estimate: number): BudgetDecision {
    const by = budgets.findIndex(
      ({ key, most }) => (known.get(key) ?? 0) + (unbooked.get(key)?.amount ?? 0) >= most && estimate > 0,
    )
    if (by !== -1) return { kind: 'refused', by, isBusy: false }
    const hold = (lastHold += 1)
    aloneHolds.set(hold, budgets)
    return { kind: 'held', hold, amount: estimate, dearest: 0 }
  }

  function noteCost(budgets: readonly AskedBudget[], cost: number): void {
    for (const budget of budgets) {
      const { amount = 0, number = (lastHold += 1) } = unbooked.get(budget.key) ?? {}
      unbooked.set(budget.key, { number, amount: amount + cost })
      updates.set(number, { kind: 'book', amount: amount + cost, budgets: [budget] })
    }
  }

  function change(hold: number, next: Update): void {
    updates.set(hold, next)
    void update().catch(() => undefined)
  }

  /** Sends the changes that wait, one message after the other: each one then begins with what all before have spent. */
  async function update(): Promise<void> {
    if (isUpdating) return
    isUpdating = true
    try {
      if (mayHoldMore) await releaseUnknown()
      while (updates.size > 0) await sendUpdates([...updates].slice(0, updatesPerMessage))
    } finally {
      isUpdating = false
    }
  }

  /** Ends the holds of admissions that failed: the server may have held them. */
  async function releaseUnknown(): Promise<void> {
    mayHoldMore = false
    const kept = [...holds.keys(), ...asking, ...updates.keys()]
    await peer.send(releaseScript, [], kept.map(String)).catch((error: unknown) => {
      mayHoldMore = true
      throw error
    })
  }

  async function sendUpdates(sent: readonly (readonly [hold: number, next: Update])[]): Promise<void> {
    // Costs that come meanwhile are sent later.
    for (const [, { kind, budgets }] of sent) if (kind === 'book') for (const { key } of budgets) unbooked.delete(key)
    const budgets = [
      ...new Map(sent.flatMap(([, next]) => next.budgets.map((budget) => [budget.key, budget]))).values(),
    ]
    const places = new Map(budgets.map(({ key }, index) => [key, index + 1]))
    const sending = peer.send(updateScript, budgets.map(keyOf), [
      ...budgets.flatMap((budget) => [wholeText(known.get(budget.key) ?? 0), lifeOf(budget)]),
      ...sent.flatMap(([hold, next]) => [
        String(hold),
        next.kind,
        wholeText(next.amount),
        next.budgets.map(({ key }) => places.get(key)).join(' '),
      ]),
    ])
    const spent = await sending.catch((error: unknown) => {
      unsend(sent)
      throw error
    })
    learn(budgets, spent)
    // A hold may have changed again meanwhile.
    for (const [hold, next] of sent) if (updates.get(hold) === next) updates.delete(hold)
  }

  /** Costs of a message that failed are counted again with those that came meanwhile. */
  function unsend(sent: readonly (readonly [hold: number, next: Update])[]): void {
    for (const [number, { kind, amount, budgets }] of sent)
      if (kind === 'book') {
        updates.delete(number)
        noteCost(budgets, amount)
      }
  }

  return {
    admit,
    raise(hold, estimate) {
      const budgets = holds.get(hold)
      if (budgets !== undefined) change(hold, { kind: 'raise', amount: estimate, budgets })
    },
    settle(hold, cost) {
      const alone = aloneHolds.get(hold)
      if (alone !== undefined) {
        aloneHolds.delete(hold)
        noteCost(alone, cost)
        void update().catch(() => undefined)
      }
      const budgets = holds.get(hold)
      if (budgets === undefined) return
      holds.delete(hold)
      change(hold, { kind: 'settle', amount: cost, budgets })
    },
    async uses(budgets) {
      await opening(budgets)
      const state: number[] = []
      for (let from = 0; from < budgets.length; from += budgetsPerMessage) {
        const keys = budgets.slice(from, from + budgetsPerMessage).map(keyOf)
        // Without the server, the numbers that this process knows.
        const unknown = () => keys.flatMap(() => [0, 0])
        state.push(...(await peer.send(budgetStateScript, keys, []).catch(unknown)))
      }
      return budgets.map(({ key }, index): BudgetUse => {
        const [spent = 0, held = 0] = state.slice(2 * index)
        return { used: Math.max(spent, known.get(key) ?? 0), held }
      })
    },
  }
}

function keyOf({ key }: AskedBudget): string {
  return hashedKey(`budget ${key}`)
}

/** A whole number that a double of Lua holds exactly. */
function wholeText(amount: number): string {
  return String(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(amount))))
}
