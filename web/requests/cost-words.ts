import type { RequestEntry } from '../../src/http/page/page-api.ts'
import { formatCost, markEstimate } from '../ui/format.ts'

const sources = {
  config: ', by the price in providers.json',
  reported: ', as the provider reported it',
  reports: ', by the costs that the provider reported before',
  'prices.json': ', by prices.json',
  fetched: ', by the fetched list of prices',
  list: ', by the list of prices of svc',
  catalogue: ', a server on this machine',
} as const

/** The cost of a request, shortly: `$0.0012`, `no price`; `–` if the provider reported no tokens, or none answered. */
export function shortCost({ provider, cost, isEstimated, promptTokens, completionTokens }: RequestEntry): string {
  if (cost !== undefined) return markEstimate(formatCost(cost), isEstimated)
  const hasTokens = promptTokens !== undefined && completionTokens !== undefined
  return provider !== undefined && hasTokens ? 'no price' : '–'
}

/** The cost of a request, and where its price is from. */
export function costInWords(request: RequestEntry): string {
  const { provider, cost, costSource, hasConflict } = request
  if (cost !== undefined) {
    const doubt = hasConflict === true ? '; its counts contradict each other, the larger ones were taken' : ''
    return `${shortCost(request)}${costSource === undefined ? '' : sources[costSource]}${doubt}`
  }
  if (provider === undefined) return 'no provider answered'
  return shortCost(request) === 'no price' ? 'no price is known' : 'not known, since the provider reported no tokens'
}
