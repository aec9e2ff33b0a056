import { findBrand } from '../../catalogue.ts'
import type { FoundAccount } from '../planner.ts'

/** Names that other gateways have for brands of the catalogue. */
const otherNames: Readonly<Record<string, string>> = {
  google: 'gemini',
  'google-ai': 'gemini',
  'google-generative-ai': 'gemini',
  'together-ai': 'together',
  together_ai: 'together',
  'fireworks-ai': 'fireworks',
  fireworks_ai: 'fireworks',
  'mistral-ai': 'mistral',
  mistralai: 'mistral',
  'perplexity-ai': 'perplexity',
  'x-ai': 'xai',
  'nvidia-nim': 'nvidia',
  'lm-studio': 'lmstudio',
  hf: 'huggingface',
  'hugging-face': 'huggingface',
}

/** Clouds whose protocols svc does not speak. */
const clouds = /azure|bedrock|vertex|sagemaker|workers-?ai|^aws$|snowflake|replicate/

export type NamedProvider = Pick<FoundAccount, 'brand' | 'protocol'>

/** The brand of a name, and its protocol. Undefined: svc does not know it. */
export function providerNamed(name: string): NamedProvider | undefined {
  const lowered = name.toLowerCase()
  if (clouds.test(lowered)) return undefined
  const brand = findBrand(Object.hasOwn(otherNames, lowered) ? (otherNames[lowered] ?? '') : lowered)
  if (brand === undefined || brand.protocol === 'echo') return undefined
  return { brand: brand.id, protocol: brand.protocol }
}
