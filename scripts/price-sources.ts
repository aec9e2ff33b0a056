import { isRecord, type JsonObject } from '../src/base/json-value.ts'
import { modelsDevBrands, type PriceEntry } from '../src/config/file/models-dev.ts'
import { unitPriceNames } from '../src/formats/model.ts'

/** Names of our brands in LiteLLM's list. Brands that report costs, or bill nothing, are left out. */
const liteLlmBrands: Readonly<Record<string, string>> = {
  gemini: 'gemini',
  groq: 'groq',
  mistral: 'mistral',
  cerebras: 'cerebras',
  sambanova: 'sambanova',
  openai: 'openai',
  anthropic: 'anthropic',
  codestral: 'codestral',
  deepseek: 'deepseek',
  xai: 'xai',
  cohere: 'cohere_chat',
  perplexity: 'perplexity',
  moonshot: 'moonshot',
  dashscope: 'dashscope',
  zai: 'zai',
  minimax: 'minimax',
  fireworks: 'fireworks_ai',
  together: 'together_ai',
  nebius: 'nebius',
  deepinfra: 'deepinfra',
  hyperbolic: 'hyperbolic',
  novita: 'novita',
  scaleway: 'scaleway',
}

/** Names of our brands in both lists. */
export const sourceNames: Readonly<Record<string, { readonly modelsDev?: string; readonly liteLlm?: string }>> =
  Object.fromEntries(
    [...new Set([...Object.keys(modelsDevBrands), ...Object.keys(liteLlmBrands)])].map((brand) => [
      brand,
      {
        ...(modelsDevBrands[brand] === undefined ? {} : { modelsDev: modelsDevBrands[brand] }),
        ...(liteLlmBrands[brand] === undefined ? {} : { liteLlm: liteLlmBrands[brand] }),
      },
    ]),
  )

/** The name of each price in LiteLLM's list, where it is in USD for a token. */
const liteLlmNames = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cached_input: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  reasoning: 'output_cost_per_reasoning_token',
  audio_input: 'input_cost_per_audio_token',
  audio_output: 'output_cost_per_audio_token',
  image_input: 'input_cost_per_image_token',
  image_output: 'output_cost_per_image_token',
} as const

const tokenModes = ['chat', 'responses', 'completion', 'embedding']

/** The price in an entry of LiteLLM's list; `undefined` when it is not billed by the token. */
export function fromLiteLlm(entry: JsonObject): PriceEntry | undefined {
  if (!tokenModes.includes(String(entry['mode']))) return undefined
  const base = unitsOf(entry, '')
  const embeds = entry['mode'] === 'embedding'
  if (typeof base['input'] !== 'number' || (typeof base['output'] !== 'number' && !embeds)) return undefined
  const above = stepsOf(entry, '')
  const searches = entry['search_context_cost_per_query']
  const search =
    isRecord(searches) && entry['litellm_provider'] === 'anthropic' ? searches['search_context_size_medium'] : 0
  return {
    ...base,
    output: base['output'] ?? 0,
    ...(search === 0 || typeof search !== 'number' ? {} : { search }),
    ...(above.length === 0 ? {} : { above }),
    ...tierOf(entry, 'flex'),
    ...tierOf(entry, 'priority'),
  }
}

function tierOf(entry: JsonObject, tier: 'flex' | 'priority'): PriceEntry {
  const units = unitsOf(entry, `_${tier}`)
  const above = stepsOf(entry, `_${tier}`)
  if (Object.keys(units).length === 0) return {}
  return { [tier]: { ...units, ...(above.length === 0 ? {} : { above }) } }
}

function stepsOf(entry: JsonObject, tier: string): readonly PriceEntry[] {
  const sizes = new Set(
    Object.keys(entry).flatMap((name) => {
      const found = new RegExp(`_above_(\\d+)k_tokens${tier}$`).exec(name)
      return found === null ? [] : [Number(found[1])]
    }),
  )
  return [...sizes]
    .toSorted((one, other) => one - other)
    .map((size) => ({ tokens: size * 1_000, ...unitsOf(entry, `_above_${size}k_tokens${tier}`) }))
}

function unitsOf(entry: JsonObject, suffix: string): PriceEntry {
  return Object.fromEntries(
    Object.entries(liteLlmNames).flatMap(([ours, theirs]) => {
      const usd = entry[`${theirs}${suffix}`]
      return typeof usd === 'number' ? [[ours, perMillion(usd)]] : []
    }),
  )
}

/** 12 digits: the product of 2.5e-7 is 0.24999999999999997. */
function perMillion(usd: number): number {
  return Number((usd * 1e6).toPrecision(12))
}

/** The price by both lists, or by one; or `conflict` when they differ in the price of input or output. */
export function agreed(
  liteLlm: PriceEntry | undefined,
  modelsDev: PriceEntry | undefined,
): PriceEntry | 'conflict' | undefined {
  if (liteLlm === undefined || modelsDev === undefined) return sound(liteLlm ?? modelsDev)
  for (const name of ['input', 'output']) if (!isNear(liteLlm[name], modelsDev[name])) return 'conflict'
  return sound({ ...modelsDev, ...liteLlm })
}

/** In the order of prices.json. A price of 0 for both is mostly one that is not known. */
function sound(price: PriceEntry | undefined): PriceEntry | undefined {
  if (price === undefined || (price['input'] === 0 && price['output'] === 0)) return undefined
  const names = [...unitPriceNames.map(([name]) => name), 'above', 'flex', 'priority']
  return Object.fromEntries(names.flatMap((name) => (price[name] === undefined ? [] : [[name, price[name]]])))
}

function isNear(one: unknown, other: unknown): boolean {
  return Math.abs(Number(one) - Number(other)) <= 0.005 * Math.max(Number(one), Number(other))
}
