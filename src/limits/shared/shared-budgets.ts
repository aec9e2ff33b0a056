import type { BudgetAuthority, BudgetDecision, BudgetUse } from '../budgets/budget-authority.ts'
import { openedBudgets, type Accounts, type AskedBudget, type Spending } from '../budgets/opened-budgets.ts'
import { admitScript, buryScript, budgetStateScript, updateScript } from './budget-scripts.ts'
import { hashedKey, type Peer } from './peer.ts'

/** A change of a hold that the server does not know of yet. */
interface Update {
  readonly kind: 'raise' | 'settle' | 'book'
  readonly amount: number
  readonly budgets: readonly AskedBudget[]
}

/** Options of {@link sharedBudgets}. */
export interface SharedBudgetsOptions {
  readonly peer: Peer
  readonly spending: Spending
  /** Unix milliseconds. */
  readonly now: () => number
}

const dayMs = 86_400_000
/** The server keeps a budget for this time after the end of its window; one without an end after its last use. */
const keptMs = 7 * dayMs
const endlessMs = 400 * dayMs
/** Changes of one message: it blocks the server while it runs. */
const updatesPerMessage = 100

/**
 * The authority over the budgets of all machines, in a server that runs scripts (docs/decisions/0020-budgets.md).
 *
 * While the server does not answer, nothing is admitted. Ends of holds wait until it does. This process remembers what
 * was spent, by its own sums and by the answers of the server: a server that has lost its data starts with that.
 */
export function sharedBudgets({ peer, spending, now }: SharedBudgetsOptions): BudgetAuthority {
  /** At least spent, by budget. */
  const known = new Map<string, number>()
  const accounts: Accounts = {
    has: (id) => known.has(id),
    open: know,
    sweep(isOver) {
      for (const id of known.keys()) if (isOver(id)) known.delete(id)
    },
    get budgets() {
      return known.size
    },
  }
  const opening = openedBudgets({ accounts, spending, now })
  /** Open holds, by number. */
  const holds = new Map<number, readonly AskedBudget[]>()
  /** By numbers of holds. */
  const updates = new Map<number, Update>()
  let lastHold = 0
  let isUpdating = false
  peer.onBeat(async () => {
    await update()
    await peer.send(buryScript, [], [])
  })

  function know(id: string, spent: number): void {
    known.set(id, Math.max(spent, known.get(id) ?? 0))
  }

  function learn(budgets: readonly AskedBudget[], spent: readonly number[]): void {
    if (spent.length !== budgets.length) throw new Error('not an answer about these budgets')
    for (const [index, { id }] of budgets.entries()) know(id, spent[index] ?? 0)
  }

  function lifeOf({ window: { end } }: AskedBudget): string {
    return String(end === Infinity ? endlessMs : Math.max(0, end - now()) + keptMs)
  }

  async function admit(budgets: readonly AskedBudget[], estimate: number): Promise<BudgetDecision> {
    await opening(budgets)
    const hold = (lastHold += 1)
    try {
      const [refusing = 0, amount = 0, ...spent] = await peer.send(admitScript, budgets.map(keyOf), [
        String(hold),
        wholeText(estimate),
        ...budgets.flatMap((budget) => [
          wholeText(budget.nanoUsd),
          wholeText(known.get(budget.id) ?? 0),
          lifeOf(budget),
        ]),
      ])
      learn(budgets, spent)
      if (refusing > 0) return { kind: 'refused', by: refusing - 1 }
      holds.set(hold, budgets)
      return { kind: 'held', hold, amount }
    } catch (error) {
      // The server may have held it.
      change(hold, { kind: 'settle', amount: 0, budgets })
      throw error
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
      while (updates.size > 0) await sendUpdates([...updates].slice(0, updatesPerMessage))
    } finally {
      isUpdating = false
    }
  }

  async function sendUpdates(sent: readonly (readonly [hold: number, next: Update])[]): Promise<void> {
    const budgets = [...new Map(sent.flatMap(([, next]) => next.budgets.map((budget) => [budget.id, budget]))).values()]
    const places = new Map(budgets.map(({ id }, index) => [id, index + 1]))
    const spent = await peer.send(updateScript, budgets.map(keyOf), [
      ...budgets.flatMap((budget) => [wholeText(known.get(budget.id) ?? 0), lifeOf(budget)]),
      ...sent.flatMap(([hold, next]) => [
        String(hold),
        next.kind,
        wholeText(next.amount),
        next.budgets.map(({ id }) => places.get(id)).join(' '),
      ]),
    ])
    learn(budgets, spent)
    // A hold may have changed again meanwhile.
    for (const [hold, next] of sent) if (updates.get(hold) === next) updates.delete(hold)
  }

  return {
    admit,
    raise(hold, estimate) {
      const budgets = holds.get(hold)
      if (budgets !== undefined) change(hold, { kind: 'raise', amount: estimate, budgets })
    },
    settle(hold, cost) {
      const budgets = holds.get(hold)
      if (budgets === undefined) return
      holds.delete(hold)
      change(hold, { kind: 'settle', amount: cost, budgets })
    },
    async uses(budgets) {
      await opening(budgets)
      if (budgets.length === 0) return []
      const state = await peer.send(budgetStateScript, budgets.map(keyOf), [])
      return budgets.map(({ id }, index): BudgetUse => {
        const [spent = 0, held = 0] = state.slice(2 * index)
        return { used: Math.max(spent, known.get(id) ?? 0), held }
      })
    },
  }
}

function keyOf({ id }: AskedBudget): string {
  return hashedKey(`budget ${id}`)
}

/** A whole number that a double of Lua holds exactly. */
function wholeText(amount: number): string {
  return String(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(amount))))
}
