import type { JsonObject } from '../../base/json-value.ts'
import type { Effort } from '../conversation.ts'

/** Abilities of one of Google's models. */
export interface GeminiModel {
  /** Returns `thinkingConfig` for an effort; undefined for a model that does not think. */
  thinkingConfig(effort: Effort): JsonObject | undefined
  /** Function calls carry ids, and must come back with a thought signature: Gemini 3 and later. */
  readonly signsCalls: boolean
}

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** The lowest budget of the 2.5 Pro models. */
const proBudgetMin = 128

/**
 * Finds the abilities of a model by its name. Names without a version (`gemini-flash-latest`) count as the newest.
 * Gemma, image and speech models do not think. Budgets and levels are those of Google's OpenAI compatibility
 * (https://ai.google.dev/gemini-api/docs/openai).
 */
export function geminiModel(name: string): GeminiModel {
  const normal = name.toLowerCase()
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(normal)?.[1] ?? (normal.includes('gemini') ? 3.5 : 0))
  const isPro = normal.includes('pro')
  if (/image|tts/.test(normal)) return { thinkingConfig: () => undefined, signsCalls: version >= 3 }
  const hasMinimal = !isPro && version < 3.7
  if (version >= 3)
    return { thinkingConfig: (effort) => levelConfig(effort, hasMinimal, isPro && version === 3), signsCalls: true }
  if (version >= 2.5) return { thinkingConfig: (effort) => budgetConfig(effort, isPro), signsCalls: false }
  return { thinkingConfig: () => undefined, signsCalls: false }
}

function budgetConfig(effort: Effort, isPro: boolean): JsonObject {
  if (effort === 'none') return { thinkingBudget: isPro ? proBudgetMin : 0 }
  return { thinkingBudget: budgets[effort], includeThoughts: true }
}

/** These models always think. Pro, and Flash from 3.7, have no `MINIMAL`; 3.0 Pro has no `MEDIUM`. */
function levelConfig(effort: Effort, hasMinimal: boolean, isFirstPro: boolean): JsonObject {
  const least = hasMinimal ? 'MINIMAL' : 'LOW'
  switch (effort) {
    case 'none':
      return { thinkingLevel: least }
    case 'minimal':
      return { thinkingLevel: least, includeThoughts: true }
    case 'low':
      return { thinkingLevel: 'LOW', includeThoughts: true }
    case 'medium':
      return { thinkingLevel: isFirstPro ? 'HIGH' : 'MEDIUM', includeThoughts: true }
    case 'high':
    case 'xhigh':
    case 'max':
      return { thinkingLevel: 'HIGH', includeThoughts: true }
  }
}

/** The name of a model as Google writes it: `models/gemini-3.5-pro`. */
export function resourceName(model: string): string {
  return `models/${model.replace(/^models\//, '')}`
}
