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
    const [first] = known
    if (first === undefined) return
    const [provider, ofProvider] = first
    const [model = ''] = ofProvider.keys()
    ofProvider.delete(model)
    models -= 1
    if (ofProvider.size === 0) known.delete(provider)
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
      const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut, imageOut } = units
      const sizes = find(served) ?? add(served)
      if (audioIn + imageIn === 0) sizes.prompts.learn(bytes.prompt, input + cached + write5 + write60)
      if (audioOut + imageOut === 0) sizes.answers.learn(bytes.answer, output + reasoning)
    },
  }
}

interface LearningSizes extends ModelSizes {
  /** Counts answers up to {@link learnedEvery}. */
  turn: number
}

const unknownSizes: ModelSizes = { prompts: tokenScale(promptBytesMin), answers: tokenScale(answerBytesMin) }

/** @param textBytesMin shorter texts are not learned from */
export function tokenScale(textBytesMin: number): TokenScale {
  const counts = new Uint32Array(steps)
  let texts = 0,
    // Sums over these texts.
    bytes = 0,
    tokens = 0

  function halve(): void {
    texts = 0
    bytes /= 2
    tokens /= 2
    for (const [step, count] of counts.entries()) {
      counts[step] = count >>> 1
      texts += count >>> 1
    }
  }

  return {
    get isYoung() {
      return texts < youngTexts
    },
    learn(textBytes, counted) {
      if (textBytes < textBytesMin || !(counted > 0)) return
      const step = Math.floor(Math.log2(textBytes / counted) * stepsPerDoubling)
      const place = Math.min(steps - 1, Math.max(0, step))
      counts[place] = (counts[place] ?? 0) + 1
      texts += 1
      bytes += textBytes
      tokens += Math.min(textBytes / bytesPerTokenMin, Math.max(textBytes / bytesPerTokenMax, counted))
      if (texts >= textsMax) halve()
    },
    least() {
      if (texts < textsMin) return assumed.bytesPerToken.low
      const wanted = texts * percentile
      let below = 0
      for (let step = 0; step < steps; step += 1) {
        below += counts[step] ?? 0
        if (below >= wanted) return 2 ** (step / stepsPerDoubling)
      }
      return assumed.bytesPerToken.low
    },
    usual: () => (texts < textsMin ? assumed.bytesPerToken.usual : bytes / tokens),
  }
}
