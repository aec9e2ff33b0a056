import type { Price, PriceSource } from '../formats/model.ts'
import type { Usage } from '../formats/usage.ts'
import { amountOf, picoPerNano, reportedAmount } from './money.ts'
import { hasOneOutput, rateCard, ratesFor, toolFees, type RateCard, type Rates } from './rates.ts'
import { measureUnits, type MeasuredUnits, type Units } from './units.ts'

/*
 * What an answer costs. `units.ts` divides the counts of a provider into disjoint units; `rates.ts` finds the rates of
 * a price for them (tiers, service tiers, fees of tools); `money.ts` sums in whole nano-USD. A price is from the
 * owner's configuration, prices.json, the fetched list, or the shipped one (`price-book.ts`), and a provider that
 * reports its costs is believed where it has no own price. A cost that is not known is `undefined`, never 0.
 *
 * Where a provider counted nothing, `estimated-usage.ts` estimates tokens from bytes, by what `token-sizes.ts` has
 * learned of the model.
 */

/** What one answer cost. */
export interface Cost {
  /** Whole nano-USD (10⁻⁹ USD). */
  readonly nanoUsd: number
  readonly source: PriceSource
  /** The provider's counts contradict each other, and the larger ones were taken. */
  readonly hasConflict?: true
  /** The price is that of the model that answered, which is not the one that was asked for. */
  readonly isOfServed?: true
  /**
   * What caches of the prompt saved in nano-USD: reads at their price instead of that of input, less the surcharge of
   * writes. Below 0 where more was written than read. Absent: neither, or not known.
   */
  readonly savedNanoUsd?: number
}

/** The price of a model at a provider, and its source. */
export interface SourcedPrice {
  readonly price: Price
  readonly source: Exclude<PriceSource, 'reported' | 'reports'>
}

/** Computes the cost of an answer. */
export interface CostOf {
  /** The cost of an answer with this usage; `undefined` when it is not known, which is not 0. */
  (usage: Usage | undefined): Cost | undefined
  /** All kinds of tokens of an answer cost the same. Absent: they may not. */
  readonly hasOneOutput?: boolean
  /** The provider may be asked to cache a prompt for this long, at a surcharge. Absent: only if its caller says so. */
  readonly cacheWrite?: 'minutes' | 'hour' | undefined
}

/**
 * Makes the function that computes costs of one model at one provider.
 *
 * @param priced absent: no price is known. Of a provider that reports costs, estimated tokens cost what its reports
 *   show, and USD 15 and 75 per million before the first
 * @param reportsCost costs that the provider reports count, unless the price is from the configuration
 */
export function costFunction(priced: SourcedPrice | undefined, reportsCost: boolean): CostOf {
  const card = priced && rateCard(priced.price)
  const trustsReport = reportsCost && priced?.source !== 'config'
  const reports = reportsCost && priced === undefined ? reportedCosts() : undefined

  function computed(usage: Usage | undefined): Cost | undefined {
    const isEstimated = usage?.isEstimated === true
    if (trustsReport && !isEstimated) {
      const nanoUsd = reportedAmount(usage?.billed?.cost)
      // Beside a price, 0 stands for a cost that the provider does not know.
      if (nanoUsd !== undefined && (nanoUsd > 0 || priced === undefined)) {
        reports?.add(measureUnits(usage).units, nanoUsd)
        return { nanoUsd, source: 'reported' }
      }
    }
    if (reports !== undefined) return isEstimated ? costBy(rateCard(reports.price()), 'reports', usage) : undefined
    return priced === undefined || card === undefined ? undefined : costBy(card, priced.source, usage)
  }

  let last: Usage | undefined
  let lastCost: Cost | undefined
  /** The usage of an answer is asked for twice, by limits of money and for the record. */
  function costOf(usage: Usage | undefined): Cost | undefined {
    if (usage === undefined || usage !== last) {
      lastCost = computed(usage)
      last = usage
    }
    return lastCost
  }
  return Object.assign(costOf, { hasOneOutput: card === undefined || hasOneOutput(card) })
}

function costBy(card: RateCard, source: PriceSource, usage: Usage | undefined): Cost | undefined {
  const measured = measureUnits(usage)
  const rates = ratesFor(card, measured.units, usage?.billed)
  const fees = toolFees(card, usage?.billed)
  if (rates === undefined || fees === undefined || !isPayable(measured, rates)) return undefined
  const nanoUsd = amountOf(measured.units, rates, fees)
  const savedNanoUsd = savedBy(measured.units, rates)
  if (!measured.hasConflict && savedNanoUsd === 0) return { nanoUsd, source }
  return {
    ...{ nanoUsd, source },
    ...(measured.hasConflict ? { hasConflict: true } : {}),
    ...(savedNanoUsd === 0 ? {} : { savedNanoUsd }),
  }
}

function savedBy({ cached, write5, write60 }: Units, rates: Rates): number {
  if (cached + write5 + write60 === 0) return 0
  const { input } = rates
  const pico = cached * (input - rates.cached) - write5 * (rates.write5 - input) - write60 * (rates.write60 - input)
  return Math.round(pico / picoPerNano)
}

/** Whether all units are known that are not free. */
function isPayable({ isPromptKnown, isAnswerKnown }: MeasuredUnits, rates: Rates): boolean {
  const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut, imageOut } = rates
  return (
    (isPromptKnown || Math.max(input, cached, write5, write60, audioIn, imageIn) === 0) &&
    (isAnswerKnown || Math.max(output, reasoning, audioOut, imageOut) === 0)
  )
}

/** More than 99 of 100 models of the list of prices cost. */
const assumedPrice: Price = { input: 15, output: 75 }
/** An answer's token costs as much as these of the prompt, at most models. */
const answerFactor = 5
/** Of these weighted tokens. Above them the sums are halved, so that old reports lose their weight. */
const tokensMax = 100_000_000
const nanoPerMicroUsd = 1_000

/** The costs that a provider has reported for one model without a known price. */
interface ReportedCosts {
  add(units: Units, nanoUsd: number): void
  /** The mean price by all reports; USD 15 and 75 per million before the first. */
  price(): Price
}

/** Knows no report at first. */
function reportedCosts(): ReportedCosts {
  let tokens = 0
  let cost = 0
  return {
    add(units, nanoUsd) {
      const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut, imageOut } = units
      const answer = output + reasoning + audioOut + imageOut
      tokens += input + cached + write5 + write60 + audioIn + imageIn + answerFactor * answer
      cost += nanoUsd
      if (tokens <= tokensMax) return
      tokens /= 2
      cost /= 2
    },
    price() {
      if (tokens === 0) return assumedPrice
      const input = cost / tokens / nanoPerMicroUsd
      return { input, output: answerFactor * input }
    },
  }
}
