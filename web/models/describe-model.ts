import type { ModelEntry, Price } from '../../src/http/page-api.ts'

/** Tokens as people say them: `128k`, `1.05M`, `512`. */
export function formatContext(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${shortest(tokens / 1_000_000)}M`
}

/** What a million tokens cost, in and out: `$0.15 / $0.60`, `free`. */
export function formatPrice({ input, output }: Price): string {
  return input === 0 && output === 0 ? 'free' : `${formatDollars(input)} / ${formatDollars(output)}`
}

/** The same, for ears. */
export function spokenPrice({ input, output }: Price): string {
  return input === 0 && output === 0
    ? 'free'
    : `${formatDollars(input)} in, ${formatDollars(output)} out per million tokens`
}

const wholeDollars = new Intl.NumberFormat('en', { maximumFractionDigits: 0, useGrouping: false })
const dollarsAndLess = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 8,
  useGrouping: false,
})

/** Four digits that say something at most: reckoning may have left more. */
function formatDollars(amount: number): string {
  const rounded = Number(amount.toPrecision(4))
  return `$${(Number.isInteger(rounded) ? wholeDollars : dollarsAndLess).format(rounded)}`
}

function shortest(value: number): string {
  return String(Number(value.toFixed(2)))
}

/** Whether it costs nothing where it is asked first. */
export function isFree({ offers }: ModelEntry): boolean {
  const price = offers[0]?.price
  return price !== undefined && price.input === 0 && price.output === 0
}

/** Whether somebody serves it with pictures. */
export function takesImages({ offers }: ModelEntry): boolean {
  return offers.some(({ input }) => input?.includes('image') === true)
}

/** What it takes beside text and pictures, by whoever serves it: `audio`, `file`. */
export function otherInputs({ offers }: ModelEntry): readonly string[] {
  return [...new Set(offers.flatMap(({ input = [] }) => input))].filter((kind) => kind !== 'text' && kind !== 'image')
}

/**
 * Whether a name asks for something that is offered: a model, or one pinned to a provider (`groq/llama`). Case does not
 * matter.
 */
export function isOffered(models: readonly ModelEntry[], name: string): boolean {
  const wanted = name.toLowerCase()
  return models.some((model) => {
    const known = model.name.toLowerCase()
    return (
      known === wanted ||
      (wanted.endsWith(`/${known}`) && model.offers.some(({ provider }) => `${provider}/${known}` === wanted))
    )
  })
}
