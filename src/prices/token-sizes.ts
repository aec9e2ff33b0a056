import { usualBytesPerToken } from '../formats/estimate-tokens.ts'
import type { Usage } from '../formats/usage.ts'
import { measureUnits } from './units.ts'

/**
 * Bytes of text for a token before enough texts are known: less than any text has but one made for it. Base64 has 1.46,
 * English 3.7.
 */
const leastBytesFirst = 1.4
const textsMin = 100
/** After these the counts are halved, so that old texts lose their weight. */
const textsMax = 10_000
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

/** A young scale learns from every text, an older one from each of this number. */
const learnedEvery = 16
const youngTexts = 1_000

/** Learns how many bytes of text a model turns into a token. */
export interface TokenScale {
  learn(textBytes: number, tokens: number): void
  /** The 5th percentile of bytes for a token; 1.4 before 100 texts. */
  least(): number
  /** The mean of bytes for a token, by the length of texts; 4 before 100 texts. */
  usual(): number
  /** It has learned from fewer than 1,000 texts. */
  readonly isYoung: boolean
}

/** The sizes of a model's tokens in prompts and in answers. */
export interface ModelSizes {
  readonly prompts: TokenScale
  readonly answers: TokenScale
}

/** A model of a provider. */
export interface ServedModel {
  readonly provider: string
  readonly model: string
}

/** Bytes of the text of a prompt, and of its answer; 0: not known, or not of text alone. */
export interface TextBytes {
  readonly prompt: number
  readonly answer: number
}

/** The sizes of tokens of all models. */
export interface LearnedSizes {
  of(served: ServedModel): ModelSizes
  /**
   * Whether to learn from an answer, so that its prompt must be measured: from all while little is known, then from
   * each 16th.
   *
   * @param bytes as far as known: the text of the prompt has these at most
   */
  isDue(served: ServedModel, bytes: TextBytes): boolean
  /** Learns from an answer that its provider counted. */
  learn(served: ServedModel, usage: Usage, bytes: TextBytes): void
}

/** Knows nothing at first. */
export function learnedSizes(): LearnedSizes {
  /** By provider, then by model. */
  const known = new Map<string, Map<string, LearningSizes>>()
  let models = 0

  function add({ provider, model }: ServedModel): LearningSizes {
    if (models >= modelsMax) forgetFirst()
    models += 1
    const made = { prompts: tokenScale(promptBytesMin), answers: tokenScale(answerBytesMin), turn: 0 }
    const ofProvider = known.get(provider)
    if (ofProvider === undefined) known.set(provider, new Map([[model, made]]))
    else ofProvider.set(model, made)
    return made
  }

  function forgetFirst(): void {
    for (const [provider, ofProvider] of known) {
      for (const model of ofProvider.keys()) {
        ofProvider.delete(model)
        break
      }
      models -= 1
      if (ofProvider.size === 0) known.delete(provider)
      return
    }
  }

  function find({ provider, model }: ServedModel): LearningSizes | undefined {
    return known.get(provider)?.get(model)
  }

  return {
    of: (served) => find(served) ?? unknownSizes,
    isDue(served, { prompt, answer }) {
      const sizes = find(served) ?? add(served)
      sizes.turn = (sizes.turn + 1) % learnedEvery
      const isTurn = sizes.turn === 0
      return (
        (prompt >= promptBytesMin && (isTurn || sizes.prompts.isYoung)) ||
        (answer >= answerBytesMin && (isTurn || sizes.answers.isYoung))
      )
    },
    learn(served, usage, bytes) {
      if (bytes.prompt < promptBytesMin && bytes.answer < answerBytesMin) return
      const { units, hasConflict } = measureUnits(usage)
      if (hasConflict) return
      const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut } = units
      const sizes = find(served) ?? add(served)
      if (audioIn + imageIn === 0) sizes.prompts.learn(bytes.prompt, input + cached + write5 + write60)
      if (audioOut === 0) sizes.answers.learn(bytes.answer, output + reasoning)
    },
  }
}

interface LearningSizes extends ModelSizes {
  /** Counts answers up to {@link learnedEvery}. */
  turn: number
}

/** @param textBytesMin shorter texts are not learned from */
export function tokenScale(textBytesMin: number): TokenScale {
  return new LearnedScale(textBytesMin)
}

class LearnedScale implements TokenScale {
  readonly #textBytesMin: number
  readonly #counts = new Uint32Array(steps)
  #texts = 0
  /** Sums over these texts. */
  #bytes = 0
  #tokens = 0

  constructor(textBytesMin: number) {
    this.#textBytesMin = textBytesMin
  }

  get isYoung(): boolean {
    return this.#texts < youngTexts
  }

  learn(textBytes: number, tokens: number): void {
    if (textBytes < this.#textBytesMin || !(tokens > 0)) return
    const step = Math.floor(Math.log2(textBytes / tokens) * stepsPerDoubling)
    const place = Math.min(steps - 1, Math.max(0, step))
    this.#counts[place] = (this.#counts[place] ?? 0) + 1
    this.#texts += 1
    this.#bytes += textBytes
    this.#tokens += Math.min(textBytes / bytesPerTokenMin, Math.max(textBytes / bytesPerTokenMax, tokens))
    if (this.#texts >= textsMax) this.#halve()
  }

  least(): number {
    if (this.#texts < textsMin) return leastBytesFirst
    const wanted = this.#texts * percentile
    let below = 0
    for (let step = 0; step < steps; step += 1) {
      below += this.#counts[step] ?? 0
      if (below >= wanted) return 2 ** (step / stepsPerDoubling)
    }
    return leastBytesFirst
  }

  usual(): number {
    return this.#texts < textsMin ? usualBytesPerToken : this.#bytes / this.#tokens
  }

  #halve(): void {
    this.#texts = 0
    this.#bytes /= 2
    this.#tokens /= 2
    for (let step = 0; step < steps; step += 1) {
      const half = (this.#counts[step] ?? 0) >>> 1
      this.#counts[step] = half
      this.#texts += half
    }
  }
}

// After its class: in one executable it is made before what follows.
const unknownSizes: ModelSizes = { prompts: tokenScale(promptBytesMin), answers: tokenScale(answerBytesMin) }
