import type { Price } from '../src/formats/model.ts'

/** Parts of prices that neither list has, or has under another name. */
interface PriceFacts {
  readonly brand: string
  readonly models: RegExp
  readonly price: Partial<Price>
}

const openAiTools = { file_search: 0.0025, code_interpreter: 0.03 }

/**
 * Later facts are before earlier ones. Free allowances are left out.
 *
 * - Google bills searches of models before Gemini 3 by the answer, later ones by the search. Pictures have a price of
 *   their own beside text (https://ai.google.dev/gemini-api/docs/pricing).
 * - OpenAI bills tools by the use, and searches of models without reasoning higher
 *   (https://developers.openai.com/api/docs/pricing).
 * - Anthropic: https://platform.claude.com/docs/en/about-claude/pricing, and …/build-with-claude/fast-mode.
 * - Perplexity bills requests, and searches of deep research (https://docs.perplexity.ai/getting-started/pricing).
 */
const facts: readonly PriceFacts[] = [
  { brand: 'gemini', models: /^gemini-[3-9](?!.*image)/, price: { search: 0.014 } },
  { brand: 'gemini', models: /^gemini-2/, price: { searchRequest: 0.035, tools: { maps: 0.025 } } },
  { brand: 'gemini', models: /^gemini-2\.5-flash-image/, price: { output: 2.5, imageOutput: 30 } },
  { brand: 'gemini', models: /^gemini-3-pro-image/, price: { output: 12, imageOutput: 120, search: 0.014 } },
  { brand: 'gemini', models: /^gemini-3\.1-flash-image/, price: { output: 3, imageOutput: 60, search: 0.014 } },
  { brand: 'openai', models: /^(?:gpt-[5-9]|o[34])/, price: { search: 0.01, tools: openAiTools } },
  { brand: 'openai', models: /^gpt-4(?:o|\.1)/, price: { search: 0.025, tools: openAiTools } },
  { brand: 'openai', models: /^gpt-4o.*-search-preview/, price: { request: 0.025 } },
  { brand: 'openai', models: /^gpt-5-search-api/, price: { request: 0.01 } },
  { brand: 'anthropic', models: /^claude-(?!3)/, price: { search: 0.01 } },
  { brand: 'anthropic', models: /^claude-(?:opus|sonnet)-4-[6-9]/, price: { multiples: { us: 1.1 } } },
  { brand: 'anthropic', models: /^claude-[a-z]+-[5-9]/, price: { multiples: { us: 1.1 } } },
  { brand: 'anthropic', models: /^claude-opus-(?:4-8|5)$/, price: { multiples: { us: 1.1, fast: 2 } } },
  { brand: 'xai', models: /^grok-4/, price: { search: 0.005 } },
  { brand: 'perplexity', models: /^sonar(?:$|-(?:reasoning|pro)$)/, price: { request: 0.005, search: 0 } },
  { brand: 'perplexity', models: /^sonar-(?:reasoning-)?pro$/, price: { request: 0.006, search: 0 } },
  { brand: 'perplexity', models: /^sonar-deep-research$/, price: { search: 0.005 } },
]

/** The price with its facts. */
export function withFacts(brand: string, model: string, price: Price): Price {
  const known = facts.filter((each) => each.brand === brand && each.models.test(model))
  return Object.assign({}, price, ...known.map((each) => each.price))
}

/** The name of a model in the list. Fine-tuned models have the name of their owner behind that of their base. */
export function listedName(model: string): string {
  return model.startsWith('ft:') && !model.endsWith('*') ? `${model}:*` : model
}
