import type { Rates } from './rates.ts'
import type { Units } from './units.ts'

export const picoPerNano = 1_000
const nanoPerUsd = 1e9

/**
 * The amount for these units in nano-USD (10⁻⁹ USD): a whole number, rounded up once. At most 2⁵³ − 1, which is
 * 9,007,199 USD. Each rate is multiplied in two parts, since pico-USD for many tokens exceed 2⁵³.
 *
 * @param fees in nano-USD, beside the units
 */
export function amountOf(units: Units, rates: Rates, fees = 0): number {
  // Member by member: a loop over the names of units costs several times as much.
  const nano =
    nanoOf(units.input, rates.input) +
    nanoOf(units.cached, rates.cached) +
    nanoOf(units.write5, rates.write5) +
    nanoOf(units.write60, rates.write60) +
    nanoOf(units.output, rates.output) +
    nanoOf(units.reasoning, rates.reasoning) +
    nanoOf(units.audioIn, rates.audioIn) +
    nanoOf(units.audioOut, rates.audioOut) +
    nanoOf(units.imageIn, rates.imageIn) +
    nanoOf(units.imageOut, rates.imageOut) +
    nanoOf(units.request, rates.request) +
    nanoOf(units.search, rates.search) +
    nanoOf(units.searchRequest, rates.searchRequest)
  const pico =
    picoOf(units.input, rates.input) +
    picoOf(units.cached, rates.cached) +
    picoOf(units.write5, rates.write5) +
    picoOf(units.write60, rates.write60) +
    picoOf(units.output, rates.output) +
    picoOf(units.reasoning, rates.reasoning) +
    picoOf(units.audioIn, rates.audioIn) +
    picoOf(units.audioOut, rates.audioOut) +
    picoOf(units.imageIn, rates.imageIn) +
    picoOf(units.imageOut, rates.imageOut) +
    picoOf(units.request, rates.request) +
    picoOf(units.search, rates.search) +
    picoOf(units.searchRequest, rates.searchRequest)
  return atMost(nano + Math.ceil(pico / picoPerNano) + fees)
}

/** The whole nano-USD of the rate, for all units. */
function nanoOf(count: number, rate: number): number {
  return count === 0 ? 0 : count * Math.floor(rate / picoPerNano)
}

/** The rest of the rate, for all units. */
function picoOf(count: number, rate: number): number {
  return count === 0 ? 0 : count * (rate % picoPerNano)
}

/** An amount as decimal text in USD: `0.00006`. @param nanoUsd whole */
export function usdText(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
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
