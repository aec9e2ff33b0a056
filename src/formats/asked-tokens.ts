import type { Ask, FormatName } from './ask.ts'
import { demandOf } from './demand-of.ts'
import { promptSizeReader, usualTokens } from './estimate-tokens.ts'

/** The tokens that a request may take, as far as the request tells. */
export interface AskedTokens {
  /** Estimated from the length of its texts. */
  readonly prompt: number
  /**
   * Limit of the tokens of all its answers, at most 131,072; 1,024 for each answer without a limit in the request. 0
   * for answers that are not text.
   */
  readonly answer: number
}

const answerTokensDefault = 1_024
/** Requests may ask for any number, and the estimate stays where a provider tells no usage. */
const answerTokensMax = 131_072

/** Formats whose answers are text. */
const textFormats: ReadonlySet<FormatName> = new Set(['chat', 'messages', 'responses', 'gemini', 'completions'])

const plainSize = promptSizeReader()

/** The tokens that a checked request may take. */
export function askedTokens(ask: Ask): AskedTokens {
  const { answerTokens, answers, prompt } = demandOf(ask)
  const tokens = answerTokens ?? (textFormats.has(ask.format) ? answerTokensDefault : 0)
  return { prompt: usualTokens(prompt ?? plainSize(ask)), answer: Math.min(answerTokensMax, tokens * answers) }
}
