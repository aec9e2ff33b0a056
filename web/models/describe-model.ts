import type { Price } from '../../src/formats/model.ts'
import type { ModelEntry, ModelOffer } from '../../src/http/page/page-api.ts'

/** Formats tokens shortly: `128k`, `1.05M`, `512`. */
export function formatContext(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${shortest(tokens / 1_000_000)}M`
}

/** Formats the price of a million tokens, input and output: `$0.15 / $0.60`, `free`. */
export function formatPrice(price: Price): string {
  const { input, output, request = 0 } = price
  if (isFreePrice(price)) return 'free'
  return input === 0 && output === 0
    ? `${formatDollars(request)} a request`
    : `${formatDollars(input)} / ${formatDollars(output)}`
}

function isFreePrice({ input, output, request = 0 }: Price): boolean {
  return input === 0 && output === 0 && request === 0
}

/** The price as a screen reader should read it. */
export function spokenPrice(price: Price): string {
  const { input, output } = price
  return input === 0 && output === 0
    ? formatPrice(price)
    : `${formatDollars(input)} in, ${formatDollars(output)} out per million tokens`
}

const wholeDollars = new Intl.NumberFormat('en', { maximumFractionDigits: 0, useGrouping: false })
const dollarsAndLess = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 8,
  useGrouping: false,
})

/** At most four significant digits, which hides rounding errors. */
function formatDollars(amount: number): string {
  const rounded = Number(amount.toPrecision(4))
  return `$${(Number.isInteger(rounded) ? wholeDollars : dollarsAndLess).format(rounded)}`
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
  const spoken = isOne ? spokenPrice(low) : `${spokenStart(low)} to ${spokenPrice(high)}`
  return {
    text: isPartial ? `${text} or unknown` : text,
    spoken: `${spoken}${isPartial ? ' or not known' : ''}${isOne && !isPartial ? '' : ', depending on the provider'}`,
  }
}

function spokenStart(price: Price): string {
  return spokenPrice(price).replace(' per million tokens', '')
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

/** Whether a name is a listed model, or a listed model pinned to a provider (`groq/llama`). Ignores case. */
export function isOffered(models: readonly ModelEntry[], name: string): boolean {
  return offersOf(models, name) !== undefined
}

/**
 * Returns the offers for a name: of a model, or of one provider (`groq/llama`). Ignores case. `undefined` if the name
 * is not listed.
 */
export function offersOf(models: readonly ModelEntry[], name: string): readonly ModelOffer[] | undefined {
  const wanted = name.toLowerCase()
  const named = models.find((model) => model.name.toLowerCase() === wanted)
  if (named !== undefined) return named.offers
  for (const model of models) {
    const known = model.name.toLowerCase()
    const offer = wanted.endsWith(`/${known}`)
      ? model.offers.find(({ provider }) => `${provider}/${known}` === wanted)
      : undefined
    if (offer !== undefined) return [offer]
  }
  return undefined
}
