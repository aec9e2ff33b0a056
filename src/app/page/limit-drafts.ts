import type { AccessEditor } from '../../config/edit/access-editor.ts'
import type { Provider } from '../../gateway/provider.ts'
import { allCallers, type KnownCallers } from '../../http/page/limits-api.ts'
import type { LimitDraftAnswer, LimitDraftChange, LimitEffectEntry } from '../../http/page/page-api.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { AccessPolicy } from '../../limits/access-policy.ts'
import type { BudgetScope } from '../../limits/budgets/named-budgets.ts'
import { usdOf } from '../../prices/money.ts'
import { filterOfBudget } from '../ledger-spending.ts'
import { unpricedModels } from '../unpriced-models.ts'

const modelsShownMax = 20

export interface LimitDraftOptions extends KnownCallers {
  readonly editor: Pick<AccessEditor, 'draft'>
  readonly use: () => UseAsker | undefined
  readonly providers: () => readonly Provider[]
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Shows owners a limit before it is saved: its line in access.json, and its effect now. */
export function limitDrafts(options: LimitDraftOptions): (change: LimitDraftChange) => Promise<LimitDraftAnswer> {
  return async ({ version, ...draft }) => {
    const { base, text, faults, policy, ...rest } = await options.editor.draft(draft, version)
    const place = draft.place ?? (policy?.limits.length ?? 0) - 1
    const isShown = policy !== undefined && draft.limit !== null
    const effect = isShown ? await effectOf(policy, place, options) : undefined
    return { base, ...rest, text, faults, ...(effect === undefined ? {} : { effect }) }
  }
}

async function effectOf(
  policy: AccessPolicy,
  place: number,
  options: LimitDraftOptions,
): Promise<LimitEffectEntry | undefined> {
  const { draftEffect } = await import('../../limits/draft-effect.ts')
  const use = options.use()
  const sumSince = use && ((scope: BudgetScope, since: number) => use.costSince(filterOfBudget(scope), since))
  const asked = { policy, place, callers: await allCallers(options), now: options.now() }
  const effect = await draftEffect({ ...asked, sumSince }).catch((error: unknown) => {
    if (!(error instanceof LedgerUnavailable)) throw error
    return draftEffect({ ...asked, sumSince: undefined })
  })
  if (effect === undefined) return undefined
  const alone = { ...policy, limits: policy.limits.slice(place, place + 1) }
  return {
    counted: effect.counted,
    besides: effect.besides,
    ...(effect.above && { above: effect.above.map(({ name, used }) => ({ name, used: usdOf(used) })) }),
    unpriced: options.providers().flatMap((provider) => {
      const found = unpricedModels(alone, provider)
      if (found === undefined) return []
      return [{ provider: provider.id, models: found.names.slice(0, modelsShownMax), areRefused: found.areRefused }]
    }),
  }
}
