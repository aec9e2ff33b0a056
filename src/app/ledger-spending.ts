import { shortened } from '../ledger/use/shortened.ts'
import type { UseAsker } from '../ledger/use/use-asker.ts'
import type { UseFilter } from '../ledger/use/use-question.ts'
import type { BudgetScope } from '../limits/budgets/named-budgets.ts'
import type { Spending } from '../limits/budgets/opened-budgets.ts'
import type { UseKeeper } from './use-keeper.ts'
import { useOfPeople } from './use-of-people.ts'

/** Time for writing the use that is known here, before sums are read. */
const flushMs = 2_000

/** Spending by the sums of the ledger, which the keeper writes. */
export function ledgerSpending(use: Pick<UseKeeper, 'place' | 'flush'>): Spending {
  let asker: UseAsker | undefined
  return {
    async sumSince(scope, since) {
      const { place } = use
      if (place === undefined) throw new Error('the database of use is not open')
      const { useAsker } = await import('../ledger/use/use-asker.ts')
      asker ??= useAsker({ place })
      await use.flush(flushMs)
      return asker.costSince(filterOfBudget(scope), since)
    },
  }
}

/** The use that counts in a budget. */
export function filterOfBudget({ subject, caller, members, models }: BudgetScope): UseFilter {
  const ofModels = models === undefined ? {} : { models }
  switch (subject.kind) {
    case 'everyone':
    // access.json has no money of sessions.
    case 'each session':
      return ofModels
    case 'each person':
      return { ...ofModels, people: [shortened(caller.slice('person:'.length))] }
    case 'each key':
      return { ...ofModels, line: Number(caller.slice('key:'.length)) }
    case 'person':
      return { ...ofModels, ...useOfPeople([subject.name]) }
    case 'team':
      return { ...ofModels, ...useOfPeople(members), team: subject.name }
    case 'key':
      return { ...ofModels, line: subject.line }
    case 'provider':
      return { ...ofModels, provider: subject.id }
  }
}
