import { isRecord, type JsonObject } from '../../base/json-value.ts'

/** A price as in prices.json: names of `unitPriceNames`, `above`, `flex`, `priority`. USD per million tokens. */
export type PriceEntry = JsonObject

/** Names of our brands at models.dev. Brands that report costs, or bill nothing, are left out. */
export const modelsDevBrands: Readonly<Record<string, string>> = {
  gemini: 'google',
  groq: 'groq',
  mistral: 'mistral',
  cerebras: 'cerebras',
  openai: 'openai',
  anthropic: 'anthropic',
  deepseek: 'deepseek',
  xai: 'xai',
  cohere: 'cohere',
  perplexity: 'perplexity',
  moonshot: 'moonshotai',
  dashscope: 'alibaba',
  zai: 'zai',
  minimax: 'minimax',
  fireworks: 'fireworks-ai',
  together: 'togetherai',
  nebius: 'nebius',
  deepinfra: 'deepinfra',
  novita: 'novita-ai',
  chutes: 'chutes',
  siliconflow: 'siliconflow',
  scaleway: 'scaleway',
}

/**
 * The prices in the list of models.dev, as in prices.json: brand → model → price. A price of 0 for all is not known,
 * and is left out.
 */
export function modelsDevPrices(list: JsonObject): Readonly<Record<string, Readonly<Record<string, PriceEntry>>>> {
  return Object.fromEntries(
    Object.entries(modelsDevBrands).flatMap(([brand, name]) => {
      const provider = Object.hasOwn(list, name) ? list[name] : undefined
      const models = isRecord(provider) ? provider['models'] : undefined
      if (!isRecord(models)) return []
      const prices = Object.entries(models).flatMap(([model, facts]) => {
        const price = modelsDevPrice(facts)
        return price === undefined || (price['input'] === 0 && price['output'] === 0) ? [] : [[model, price] as const]
      })
      return prices.length === 0 ? [] : [[brand, Object.fromEntries(prices)]]
    }),
  )
}

/** The price in a model of models.dev; `undefined` when it has none. */
export function modelsDevPrice(model: unknown): PriceEntry | undefined {
  const cost = isRecord(model) ? model['cost'] : undefined
  if (!isRecord(cost)) return undefined
  const base = modelsDevUnits(cost)
  if (typeof base['input'] !== 'number' || typeof base['output'] !== 'number') return undefined
  const tiers: readonly unknown[] = Array.isArray(cost['tiers']) ? cost['tiers'] : []
  const steps = tiers.flatMap((tier) => {
    const size = isRecord(tier) && isRecord(tier['tier']) ? tier['tier']['size'] : undefined
    return isRecord(tier) && typeof size === 'number' ? [{ tokens: size, ...modelsDevUnits(tier) }] : []
  })
  const long = cost['context_over_200k']
  const above = steps.length > 0 || !isRecord(long) ? steps : [{ tokens: 200_000, ...modelsDevUnits(long) }]
  return { ...base, ...(above.length === 0 ? {} : { above }) }
}

const modelsDevNames = {
  input: 'input',
  output: 'output',
  cached_input: 'cache_read',
  cache_write: 'cache_write',
  reasoning: 'reasoning',
  audio_input: 'input_audio',
  audio_output: 'output_audio',
} as const

function modelsDevUnits(cost: JsonObject): PriceEntry {
  return Object.fromEntries(
    Object.entries(modelsDevNames).flatMap(([ours, theirs]) => {
      const usd = cost[theirs]
      return typeof usd === 'number' ? [[ours, usd]] : []
    }),
  )
}
