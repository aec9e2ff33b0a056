import type { Alert } from '../../observe/webhook/webhook.ts'
import type { AskedBudget } from './opened-budgets.ts'

/** In percent of the limit, the largest first. */
const shares = [100, 80, 50] as const
const nanoPerUsd = 1e9

/**
 * The largest share of a limit that spending has reached by a step. It keeps no state: while the limit stays the same,
 * each share is reached once. A restart begins with the sum of the ledger.
 *
 * @param before spent before the step, in nano-USD
 */
export function crossedShare(before: number, after: number, most: number): (typeof shares)[number] | undefined {
  return shares.find((share) => before * 100 < share * most && after * 100 >= share * most)
}

/** @returns `undefined`: no share was reached */
export function budgetAlert(budget: AskedBudget, before: number, after: number): Alert | undefined {
  const { key, most, text, window, scope } = budget
  const percent = crossedShare(before, after, most)
  if (percent === undefined) return undefined
  const [, keyId] = /^key:(\d+)$/.exec(scope.caller) ?? []
  return {
    identity: `budget ${percent} ${most} ${key}`,
    type: 'budget.threshold',
    data: {
      limit: text,
      ...(keyId === undefined ? {} : { key: Number(keyId) }),
      percent,
      limit_usd: most / nanoPerUsd,
      spent_usd: after / nanoPerUsd,
      window_start: dateOf(window.start),
      window_end: window.end === Infinity ? null : dateOf(window.end),
    },
  }
}

function dateOf(time: number): string {
  return new Date(time).toISOString()
}
