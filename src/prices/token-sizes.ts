import { assumed } from '../formats/size.ts'
import type { Usage } from '../formats/usage.ts'
import { measureUnits } from './units.ts'

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
export class LearnedSizes {
  /** By provider, then by model. */
  readonly #known = new Map<string, Map<string, LearningSizes>>()
  #models = 0

  of(served: ServedModel): ModelSizes {
    return this.#find(served) ?? unknownSizes
  }

  /**
   * Whether to learn from an answer, so that its prompt must be measured: from all while little is known, then from
   * each 16th.
   *
   * @param bytes as far as known: the text of the prompt has these at most
   */
  isDue(served: ServedModel, { prompt, answer }: TextBytes): boolean {
    const sizes = this.#find(served) ?? this.#add(served)
    sizes.turn = (sizes.turn + 1) % learnedEvery
    const isTurn = sizes.turn === 0
    return (
      (prompt >= promptBytesMin && (isTurn || sizes.prompts.isYoung)) ||
      (answer >= answerBytesMin && (isTurn || sizes.answers.isYoung))
    )
  }

  /** Learns from an answer that its provider counted. */
  learn(served: ServedModel, usage: Usage, bytes: TextBytes): void {
    if (bytes.prompt < promptBytesMin && bytes.answer < answerBytesMin) return
    const { units, hasConflict } = measureUnits(usage)
    if (hasConflict) return
    const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut, imageOut } = units
    const sizes = this.#find(served) ?? this.#add(served)
    if (audioIn + imageIn === 0) sizes.prompts.learn(bytes.prompt, input + cached + write5 + write60)
    if (audioOut + imageOut === 0) sizes.answers.learn(bytes.answer, output + reasoning)
  }

  #find({ provider, model }: ServedModel): LearningSizes | undefined {
    return this.#known.get(provider)?.get(model)
  }

  #add({ provider, model }: ServedModel): LearningSizes {
    if (this.#models >= modelsMax) this.#forgetFirst()
    this.#models += 1
    const made = { prompts: new TokenScale(promptBytesMin), answers: new TokenScale(answerBytesMin), turn: 0 }
    const ofProvider = this.#known.get(provider)
    if (ofProvider === undefined) this.#known.set(provider, new Map([[model, made]]))
    else ofProvider.set(model, made)
    return made
  }

  #forgetFirst(): void {
    const [first] = this.#known
    if (first === undefined) return
    const [provider, ofProvider] = first
    const [model = ''] = ofProvider.keys()
    ofProvider.delete(model)
    this.#models -= 1
    if (ofProvider.size === 0) this.#known.delete(provider)
  }
}

interface LearningSizes extends ModelSizes {
  /** Counts answers up to {@link learnedEvery}. */
  turn: number
}

/** Learns how many bytes of text a model turns into a token. */
export class TokenScale {
  readonly #textBytesMin: number
  readonly #counts = new Uint32Array(steps)
  #texts = 0
  /** Sums over these texts. */
  #bytes = 0
  #tokens = 0

  /** @param textBytesMin shorter texts are not learned from */
  constructor(textBytesMin: number) {
    this.#textBytesMin = textBytesMin
  }

  /** It has learned from fewer than 1,000 texts. */
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

  /** The 5th percentile of bytes for a token; 1.4 before 100 texts. */
  least(): number {
    if (this.#texts < textsMin) return assumed.bytesPerToken.low
    const wanted = this.#texts * percentile
    let below = 0
    for (let step = 0; step < steps; step += 1) {
      below += this.#counts[step] ?? 0
      if (below >= wanted) return 2 ** (step / stepsPerDoubling)
    }
    return assumed.bytesPerToken.low
  }

  /** The mean of bytes for a token, by the length of texts; 4 before 100 texts. */
  usual(): number {
    return this.#texts < textsMin ? assumed.bytesPerToken.usual : this.#bytes / this.#tokens
  }

  #halve(): void {
    this.#texts = 0
    this.#bytes /= 2
    this.#tokens /= 2
    for (const [step, count] of this.#counts.entries()) {
      this.#counts[step] = count >>> 1
      this.#texts += count >>> 1
    }
  }
}

const unknownSizes: ModelSizes = { prompts: new TokenScale(promptBytesMin), answers: new TokenScale(answerBytesMin) }
