import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { say } from '../texts/say.ts'
import { formatCost, markEstimate } from '../ui/format.ts'

const sources = say.requests.sources

/** The cost of a request, shortly: `$0.0012`, `no price`; `–` if the provider reported no tokens, or none answered. */
export function shortCost(request: RequestEntry): string {
  const { cost, isEstimated } = request
  if (cost !== undefined) return markEstimate(formatCost(cost), isEstimated)
  return hasNoPrice(request) ? say.requests.noPrice : '–'
}

/** Whether an answer has tokens, and no price is known for them. */
export function hasNoPrice({ provider, cost, promptTokens, completionTokens }: RequestEntry): boolean {
  const hasTokens = promptTokens !== undefined && completionTokens !== undefined
  return cost === undefined && provider !== undefined && hasTokens
}

/** The cost of a request, and where its price is from. */
export function costInWords(request: RequestEntry): string {
  const { provider, cost, saved, costSource, hasConflict } = request
  if (cost !== undefined) {
    const doubt = hasConflict === true ? say.requests.contradicting : ''
    const caches = saved === undefined ? '' : say.requests.savedByCaches(formatCost(saved))
    return `${shortCost(request)}${costSource === undefined ? '' : sources[costSource]}${doubt}${caches}`
  }
  if (provider === undefined) return say.requests.noProviderAnswered
  return hasNoPrice(request) ? say.requests.noPriceKnown : say.requests.noTokens
}
