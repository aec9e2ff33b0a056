import { unitPriceNames, type Price, type PriceStep, type TierPrice, type UnitPrices } from '../formats/model.ts'

/** Between a price of a tier and the standard one. A list that says more has a slip. */
export const tierFactorMax = 5

type Units = Partial<UnitPrices>

const unitNames = unitPriceNames.map(([, name]) => name)
const ofOutput: ReadonlySet<keyof UnitPrices> = new Set(['output', 'reasoning', 'audioOutput', 'imageOutput'])
const eachNames: ReadonlySet<keyof UnitPrices> = new Set(['request', 'search', 'searchRequest'])

/**
 * A price of a public list without the slips of such lists: cached prices that are none, reasoning that repeats the
 * output and so stays the same in each tier, a price of a tier far from the standard one, and prices of sound,
 * pictures, caches and long prompts that do not follow their tier.
 */
export function mendedPrice({ flex, priority, ...given }: Price): Price {
  const base = mendedBase(given)
  const tiers = { flex: flex && mendedTier(flex, base), priority: priority && mendedTier(priority, base) }
  return {
    ...base,
    ...(tiers.flex === undefined ? {} : { flex: tiers.flex }),
    ...(tiers.priority === undefined ? {} : { priority: tiers.priority }),
  }
}

function mendedBase({ reasoning, cachedInput, cacheWrite, ...others }: Price): Price {
  const { input, output } = others
  // A list has them under each other's name.
  const isSwapped = cachedInput === undefined && cacheWrite !== undefined && cacheWrite > 0 && cacheWrite < input
  const cached = isSwapped ? cacheWrite : cachedInput
  const written = cacheWrite === 0 ? input : cacheWrite
  return {
    ...others,
    ...(isCachedPrice(cached, input) && { cachedInput: cached }),
    ...(written !== undefined && written >= input && { cacheWrite: written }),
    ...(reasoning !== undefined && reasoning !== output && { reasoning }),
  }
}

/** Whether a price of cached tokens is lower than that of others, and not 0 by mistake. */
export function isCachedPrice(cached: number | undefined, input: number): cached is number {
  return cached !== undefined && cached < input && cached > 0
}

/** Undefined: nothing of the tier is left. */
function mendedTier({ above, ...given }: TierPrice, base: Price): TierPrice | undefined {
  const near = picked(given, (name, usd) => isNear(usd, standardOf(base, name)))
  if (near.input === undefined && near.output === undefined) return undefined
  const input = factorOf(near.input, base.input)
  const output = factorOf(near.output, base.output)
  const follow = (units: Units) =>
    mapped(units, (name, usd) => exact(usd * (eachNames.has(name) ? 1 : ofOutput.has(name) ? output : input)))
  const parts = picked(follow(base), (name) => !eachNames.has(name) && name !== 'input' && name !== 'output')
  const units = { ...parts, ...near }
  const cheaper = picked(units, (name, usd) => name !== 'cachedInput' || usd < (units.input ?? base.input))
  const steps = above ?? base.above?.map((step): PriceStep => ({ ...follow(step), tokens: step.tokens }))
  return { ...cheaper, ...(steps === undefined ? {} : { above: steps }) }
}

/** The standard price of these tokens, by the defaults of prices. */
export function standardOf(base: Price, name: keyof UnitPrices): number {
  return base[name] ?? (ofOutput.has(name) ? base.output : base.input)
}

/** Whether a price of a tier is plausible. */
export function isNear(usd: number, standard: number): boolean {
  return usd <= tierFactorMax * standard && standard <= tierFactorMax * usd
}

function factorOf(usd: number | undefined, standard: number): number {
  return usd === undefined || standard === 0 ? 1 : usd / standard
}

function picked(units: Units, isRight: (name: keyof UnitPrices, usd: number) => boolean): Units {
  return Object.fromEntries(pairs(units).filter(([name, usd]) => isRight(name, usd)))
}

function mapped(units: Units, change: (name: keyof UnitPrices, usd: number) => number): Units {
  return Object.fromEntries(pairs(units).map(([name, usd]) => [name, change(name, usd)]))
}

function pairs(units: Units): readonly (readonly [keyof UnitPrices, number])[] {
  return unitNames.flatMap((name) => {
    const usd = units[name]
    return usd === undefined ? [] : [[name, usd] as const]
  })
}

/** 12 digits: products of prices are not exact. */
function exact(usd: number): number {
  return Number(usd.toPrecision(12))
}
