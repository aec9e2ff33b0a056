import { usualBytesPerToken } from '../formats/estimate-tokens.ts'
import type { Usage } from '../formats/usage.ts'
import { measureUnits } from './units.ts'

/**
 * Bytes of text for a token before enough answers are known: less than any text has but one made for it. Base64 has
 * 1.46, English 3.7.
 */
const leastBytesFirst = 1.4
const answersMin = 100
/** After these the counts are halved, so that old answers lose their weight. */
const answersMax = 10_000
/** In shorter prompts the words of the format outweigh the rest. */
const promptBytesMin = 1_000
const answerBytesMin = 100
const modelsMax = 1_000
/** A twentieth of the texts has fewer bytes a token than the result. */
const percentile = 0.05
/** Steps of the scale for each doubling, from 1 byte for a token to 16. */
const stepsPerDoubling = 16
const steps = 4 * stepsPerDoubling
/** Other sizes count as these: hidden reasoning is billed, and has no text. */
const bytesPerTokenMin = 1 / 64
const bytesPerTokenMax = 16

/** Learns how many bytes of text each model turns into a token. */
export interface TokenSizes {
  /** @param model with its provider */
  learn(model: string, textBytes: number, tokens: number): void
  /** The 5th percentile of bytes for a token; 1.4 before 100 texts. */
  least(model: string): number
  /** The mean of bytes for a token, by the length of texts; 4 before 100 texts. */
  usual(model: string): number
}

/** The sizes of tokens in prompts and in answers. */
export interface LearnedSizes {
  readonly prompts: TokenSizes
  readonly answers: TokenSizes
}

/** Knows nothing at first. */
export function learnedSizes(): LearnedSizes {
  return { prompts: tokenSizes(promptBytesMin), answers: tokenSizes(answerBytesMin) }
}

/** A model of a provider. */
export interface ServedModel {
  readonly provider: string
  readonly model: string
}

/** The name of a model in {@link TokenSizes}. */
export function sizeKey({ provider, model }: ServedModel): string {
  return `${provider}/${model}`
}

/**
 * Learns from an answer that its provider counted.
 *
 * @param bytes of the text of the prompt, and of the answer; 0: not known, or not of text alone
 */
export function learnSizes(
  sizes: LearnedSizes,
  served: ServedModel,
  usage: Usage,
  bytes: { readonly prompt: number; readonly answer: number },
): void {
  if (bytes.prompt < promptBytesMin && bytes.answer < answerBytesMin) return
  const { units, hasConflict } = measureUnits(usage)
  if (hasConflict) return
  const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut } = units
  const key = sizeKey(served)
  if (audioIn + imageIn === 0) sizes.prompts.learn(key, bytes.prompt, input + cached + write5 + write60)
  if (audioOut === 0) sizes.answers.learn(key, bytes.answer, output + reasoning)
}

interface Sizes {
  readonly counts: Uint32Array
  answers: number
  /** Sums over these answers. */
  bytes: number
  tokens: number
}

/** @param textBytesMin shorter texts are not learned from */
export function tokenSizes(textBytesMin: number): TokenSizes {
  const models = new Map<string, Sizes>()

  function sizesOf(model: string): Sizes {
    const known = models.get(model)
    if (known !== undefined) return known
    const [oldest] = models.keys()
    if (models.size >= modelsMax && oldest !== undefined) models.delete(oldest)
    const made = { counts: new Uint32Array(steps), answers: 0, bytes: 0, tokens: 0 }
    models.set(model, made)
    return made
  }

  function knownSizes(model: string): Sizes | undefined {
    const sizes = models.get(model)
    return sizes === undefined || sizes.answers < answersMin ? undefined : sizes
  }

  return {
    learn(model, textBytes, tokens) {
      if (textBytes < textBytesMin || !(tokens > 0)) return
      const sizes = sizesOf(model)
      const step = Math.floor(Math.log2(textBytes / tokens) * stepsPerDoubling)
      const place = Math.min(steps - 1, Math.max(0, step))
      sizes.counts[place] = (sizes.counts[place] ?? 0) + 1
      sizes.answers += 1
      sizes.bytes += textBytes
      sizes.tokens += Math.min(textBytes / bytesPerTokenMin, Math.max(textBytes / bytesPerTokenMax, tokens))
      if (sizes.answers >= answersMax) halve(sizes)
    },
    least(model) {
      const sizes = knownSizes(model)
      if (sizes === undefined) return leastBytesFirst
      let below = 0
      for (const [step, count] of sizes.counts.entries()) {
        below += count
        if (below >= sizes.answers * percentile) return 2 ** (step / stepsPerDoubling)
      }
      return leastBytesFirst
    },
    usual(model) {
      const sizes = knownSizes(model)
      return sizes === undefined ? usualBytesPerToken : sizes.bytes / sizes.tokens
    },
  }
}

function halve(sizes: Sizes): void {
  sizes.answers = 0
  sizes.bytes /= 2
  sizes.tokens /= 2
  for (const [step, count] of sizes.counts.entries()) {
    sizes.counts[step] = count >>> 1
    sizes.answers += count >>> 1
  }
}
