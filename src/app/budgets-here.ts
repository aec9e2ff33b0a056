import type { MoneyLimits } from '../limits/budgets/money-limits.ts'
import type { LearnedSizes } from '../prices/token-sizes.ts'
import type { Runtime } from './runtime.ts'
import type { SharedLedger } from './shared-ledger.ts'

/** The limits of money of this process. Their code is loaded only now. */
export async function budgetsHere({
  runtime,
  ledger,
  tokenSizes,
}: {
  readonly runtime: Pick<Runtime, 'storeHolds' | 'makeBudgetAuthority'>
  readonly ledger: Pick<SharedLedger, 'open'>
  readonly tokenSizes: LearnedSizes
}): Promise<MoneyLimits> {
  // Spending is a sum of the ledger.
  await ledger.open()
  const [{ moneyLimits }, { openHolds }] = await Promise.all([
    import('../limits/budgets/money-limits.ts'),
    import('../limits/budgets/open-holds.ts'),
  ])
  const holds = openHolds()
  holds.onChange(runtime.storeHolds(holds.sums))
  const authority = await runtime.makeBudgetAuthority()
  return moneyLimits({ authority, now: Date.now, tokenSizes, openHolds: holds })
}
