import type { Rates } from './rates.ts'
import { unitNames, type Units } from './units.ts'

const picoPerNano = 1_000
const nanoPerUsd = 1e9

/**
 * The amount for these units in nano-USD (10⁻⁹ USD): a whole number, rounded up once. At most 2⁵³ − 1, which is
 * 9,007,199 USD. Each rate is multiplied in two parts, since pico-USD for many tokens exceed 2⁵³.
 */
export function amountOf(units: Units, rates: Rates): number {
  let nano = 0
  let pico = 0
  for (const name of unitNames) {
    const count = units[name]
    if (count === 0) continue
    const rate = rates[name]
    const whole = Math.floor(rate / picoPerNano)
    nano += count * whole
    pico += count * (rate - whole * picoPerNano)
  }
  return atMost(nano + Math.ceil(pico / picoPerNano))
}

/** An amount that a provider reported in USD, as nano-USD, rounded up; `undefined` unless it is 0 or more. */
export function reportedAmount(usd: number | undefined): number | undefined {
  if (usd === undefined || !(usd >= 0) || usd === Infinity) return undefined
  // 15 digits: the product of 0.00014 is 140000.00000000003.
  return atMost(Math.ceil(Number((usd * nanoPerUsd).toPrecision(15))))
}

/** An amount in USD, for people and JSON. */
export function usdOf(nanoUsd: number): number {
  return nanoUsd / nanoPerUsd
}

function atMost(nano: number): number {
  return Math.min(nano, Number.MAX_SAFE_INTEGER)
}
