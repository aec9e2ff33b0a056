import { existsSync } from 'node:fs'
import { ledgerPlace } from '../app/ledger-place.ts'
import type { CommandContext } from '../base/command-line/command.ts'
import { UsageError } from '../base/start-errors.ts'
import type { BilledFacts } from '../formats/answer.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { KeptRow, PricedRow, RepriceOptions, RepriceReport } from '../ledger/use/repricing.ts'
import { usdOf } from '../prices/money.ts'
import { gatewayAccess } from './gateway-access.ts'

export interface RepriceFlags {
  readonly since: string | undefined
  readonly model: string | undefined
  readonly dryRun: boolean
}

/** `svc usage reprice` (docs/ledger.md#prices-that-were-wrong). */
export async function reprice({ since, model, dryRun }: RepriceFlags, context: CommandContext): Promise<number> {
  const { environment, stdout } = context
  const place = ledgerPlace(environment)
  if (place.kind === 'file' && !existsSync(place.path))
    throw new Error(`${place.path} does not exist: nothing was used`)
  const options = { since: timeOf(since), model, isDryRun: dryRun, now: Date.now }
  const config = await gatewayAccess.load(undefined, context)
  const gateway = await gatewayAccess.open(config, environment, { isFresh: false })
  try {
    const { repriceUse } = await import('../ledger/use/open-use.ts')
    const priceOf = (row: PricedRow) => costAtPricesOfNow(gateway, row)
    stdout.write(textOf(await repriceUse(place, { ...options, priceOf }), options))
    return 0
  } finally {
    gateway.close()
  }
}

/** @throws {UsageError} */
function timeOf(since: string | undefined): number {
  const allowed = 'allowed: a date such as 2026-11-01, or a time such as 2026-11-01T10:00:00Z'
  if (since === undefined) throw new UsageError(`--since is missing, ${allowed}`)
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(since) ? Date.parse(since) : Number.NaN
  if (Number.isNaN(time)) throw new UsageError(`--since: found "${since}", ${allowed}`)
  return time
}

/** Facts of a bill that rows do not have. */
function unstoredFacts({ usage }: PricedRow): readonly BilledFacts[] {
  const { promptTokens, completionTokens } = usage
  return [
    { serviceTier: 'flex' },
    { serviceTier: 'priority' },
    { searches: 1 },
    { audioIn: promptTokens },
    { imageIn: promptTokens },
    { audioOut: completionTokens },
  ]
}

/** A cost stays if the answer had units that are not stored, or, in rows of an earlier svc, may have had them. */
export function costAtPricesOfNow(gateway: Pick<Gateway, 'costAt'>, row: PricedRow): number | KeptRow {
  const costOf = gateway.costAt(row.model, row.provider)
  const cost = costOf?.(row.usage)
  if (costOf === undefined || cost === undefined || cost.source === 'reports') return 'no price'
  if (row.bill === 'plain') return cost.nanoUsd
  if (row.bill === 'more') return 'not stored'
  const isExact = unstoredFacts(row)
    .flatMap((billed) => costOf({ ...row.usage, billed: { ...row.usage.billed, ...billed } })?.nanoUsd ?? [])
    .every((nanoUsd) => nanoUsd === cost.nanoUsd)
  return row.hasCost && !isExact ? 'not stored' : cost.nanoUsd
}

function textOf(
  { changed, unpriced, before, after, kept }: RepriceReport,
  { isDryRun }: Pick<RepriceOptions, 'isDryRun'>,
) {
  const [was, is] = [before, after].map((nano) => `$${usdOf(nano).toFixed(4)}`)
  const lines = [
    `${changed} requests ${isDryRun ? 'would get' : 'have'} another cost, ${was} before and ${is} now; ` +
      `${unpriced} of them had no price`,
    ...(kept['no price'] > 0 ? [`${kept['no price']} keep theirs: no price is known now`] : []),
    ...(kept.reported > 0 ? [`${kept.reported} keep theirs: the provider reported it`] : []),
    ...(kept['not stored'] > 0
      ? [`${kept['not stored']} keep theirs: they may have had tiers, searches, tools or media, which are not stored`]
      : []),
    ...(kept['no sum'] > 0
      ? [`${kept['no sum']} keep theirs: their hour is not in the sums any more, or was cut in another time zone`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}
