import type { Price } from '../../src/formats/model.ts'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { language } from '../texts/locale.ts'
import { say } from '../texts/say.ts'

/** Formats tokens shortly: `128k`, `1.05M`, `512`. */
export function formatContext(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${shortest(tokens / 1_000_000)}M`
}

/** Formats the price of a million tokens, input and output: `$0.15 / $0.60`, `free`. */
export function formatPrice(price: Price): string {
  const { input, output, request = 0 } = price
  if (isFreePrice(price)) return say.models.freePrice
  return input === 0 && output === 0
    ? say.models.aRequest(formatDollars(request))
    : `${formatDollars(input)} / ${formatDollars(output)}`
}

/** Whether neither tokens nor requests cost anything. */
export function isFreePrice({ input, output, request = 0 }: Price): boolean {
  return input === 0 && output === 0 && request === 0
}

/** The price as a screen reader should read it. */
export function spokenPrice(price: Price): string {
  return hasNoTokenPrice(price) ? formatPrice(price) : say.models.perMillion(priceInWords(price))
}

function hasNoTokenPrice({ input, output }: Price): boolean {
  return input === 0 && output === 0
}

const dollars = { style: 'currency', currency: 'USD', useGrouping: false } as const
const wholeDollars = new Intl.NumberFormat(language, { ...dollars, maximumFractionDigits: 0 })
const dollarsAndLess = new Intl.NumberFormat(language, {
  ...dollars,
  minimumFractionDigits: 2,
  maximumFractionDigits: 8,
})

/** At most four significant digits, which hides rounding errors. */
function formatDollars(amount: number): string {
  const rounded = Number(amount.toPrecision(4))
  return (Number.isInteger(rounded) ? wholeDollars : dollarsAndLess).format(rounded)
}

function shortest(value: number): string {
  return String(Number(value.toFixed(2)))
}

/** A price as shown, and as read by screen readers. */
export interface PriceText {
  readonly text: string
  readonly spoken: string
}

/** Price range of the providers that may answer: `free – $0.15 / $0.60`. `undefined` if no price is known. */
export function priceRange({ offers }: Pick<ModelEntry, 'offers'>): PriceText | undefined {
  const prices = offers
    .flatMap(({ price }) => price ?? [])
    .toSorted((one, other) => one.input + one.output - other.input - other.output)
  const low = prices[0],
    high = prices.at(-1)
  if (low === undefined || high === undefined) return undefined
  const isOne = formatPrice(low) === formatPrice(high),
    isPartial = prices.length < offers.length
  const text = isOne ? formatPrice(low) : `${formatPrice(low)} – ${formatPrice(high)}`
  const spoken = isOne ? spokenPrice(low) : say.models.to(priceInWords(low), spokenPrice(high))
  return {
    text: isPartial ? say.models.orUnknown(text) : text,
    spoken: [
      spoken,
      isPartial ? say.models.orNotKnown : '',
      isOne && !isPartial ? '' : say.models.dependsOnProvider,
    ].join(''),
  }
}

/** A price in words, without its unit: `$0.15 in, $0.60 out`, `free`. */
export function priceInWords(price: Price): string {
  return hasNoTokenPrice(price)
    ? formatPrice(price)
    : say.common.inAndOut(formatDollars(price.input), formatDollars(price.output))
}

/** Whether every provider is known to serve it for free. */
export function isFree({ offers }: ModelEntry): boolean {
  return offers.length > 0 && offers.every(({ price }) => price !== undefined && isFreePrice(price))
}

/** Whether a provider accepts images for it. */
export function takesImages({ offers }: ModelEntry): boolean {
  return offers.some(({ input }) => input?.includes('image') === true)
}

/** Inputs besides text and images that a provider accepts: `audio`, `file`. */
export function otherInputs({ offers }: ModelEntry): readonly string[] {
  return [...new Set(offers.flatMap(({ input = [] }) => input))].filter((kind) => kind !== 'text' && kind !== 'image')
}
