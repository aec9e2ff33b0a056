import type { Ask } from './ask.ts'
import type { Demand } from './demand.ts'
import { formats } from './format-list.ts'

const known = new WeakMap<Ask, Demand>()

/** The demand of a checked request. Its body is searched once, however many limits and attempts ask. */
export function demandOf(ask: Ask): Demand {
  const found = known.get(ask)
  if (found !== undefined) return found
  const demand = formats[ask.format].demand(ask)
  known.set(ask, demand)
  return demand
}
