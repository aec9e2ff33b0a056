/**
 * Bytes of text for a token before enough answers are known: less than any text has but one made for it. Base64 has
 * 1.46, English 3.7.
 */
const bytesPerTokenFirst = 1.4
const answersMin = 100
/** After these the counts are halved, so that old answers lose their weight. */
const answersMax = 10_000
/** In shorter texts the words of the format outweigh the rest. */
const textBytesMin = 1_000
const modelsMax = 1_000
/** A twentieth of the texts has fewer bytes a token than the result. */
const percentile = 0.05
/** Steps of the scale for each doubling, from 1 byte for a token to 16. */
const stepsPerDoubling = 16
const steps = 4 * stepsPerDoubling

/** Learns how many bytes of text each model turns into a token. */
export interface TokenSizes {
  /** @param model with its provider */
  learn(model: string, textBytes: number, promptTokens: number): void
  /** The 5th percentile of bytes for a token; 1.4 before 100 answers. */
  least(model: string): number
}

interface Sizes {
  readonly counts: Uint32Array
  answers: number
}

export function tokenSizes(): TokenSizes {
  const models = new Map<string, Sizes>()

  function sizesOf(model: string): Sizes {
    const known = models.get(model)
    if (known !== undefined) return known
    const [oldest] = models.keys()
    if (models.size >= modelsMax && oldest !== undefined) models.delete(oldest)
    const made = { counts: new Uint32Array(steps), answers: 0 }
    models.set(model, made)
    return made
  }

  return {
    learn(model, textBytes, promptTokens) {
      if (textBytes < textBytesMin || !(promptTokens > 0)) return
      const sizes = sizesOf(model)
      const step = Math.floor(Math.log2(textBytes / promptTokens) * stepsPerDoubling)
      const place = Math.min(steps - 1, Math.max(0, step))
      sizes.counts[place] = (sizes.counts[place] ?? 0) + 1
      sizes.answers += 1
      if (sizes.answers >= answersMax) halve(sizes)
    },
    least(model) {
      const sizes = models.get(model)
      if (sizes === undefined || sizes.answers < answersMin) return bytesPerTokenFirst
      let below = 0
      for (const [step, count] of sizes.counts.entries()) {
        below += count
        if (below >= sizes.answers * percentile) return 2 ** (step / stepsPerDoubling)
      }
      return bytesPerTokenFirst
    },
  }
}

function halve(sizes: Sizes): void {
  sizes.answers = 0
  for (const [step, count] of sizes.counts.entries()) {
    sizes.counts[step] = count >>> 1
    sizes.answers += count >>> 1
  }
}
