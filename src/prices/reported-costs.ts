import type { Price } from '../formats/model.ts'
import type { Units } from './units.ts'

/** More than 99 of 100 models of the list of prices cost. */
const assumedPrice: Price = { input: 15, output: 75 }
/** An answer's token costs as much as these of the prompt, at most models. */
const answerFactor = 5
/** Of these weighted tokens. Above them the sums are halved, so that old reports lose their weight. */
const tokensMax = 100_000_000
const nanoPerMicroUsd = 1_000

/** The costs that a provider has reported for one model without a known price. */
export interface ReportedCosts {
  add(units: Units, nanoUsd: number): void
  /** The mean price by all reports; USD 15 and 75 per million before the first. */
  price(): Price
}

/** Knows no report at first. */
export function reportedCosts(): ReportedCosts {
  let tokens = 0
  let cost = 0
  return {
    add(units, nanoUsd) {
      const { input, cached, write5, write60, audioIn, imageIn, output, reasoning, audioOut, imageOut } = units
      const answer = output + reasoning + audioOut + imageOut
      tokens += input + cached + write5 + write60 + audioIn + imageIn + answerFactor * answer
      cost += nanoUsd
      if (tokens <= tokensMax) return
      tokens /= 2
      cost /= 2
    },
    price() {
      if (tokens === 0) return assumedPrice
      const input = cost / tokens / nanoPerMicroUsd
      return { input, output: answerFactor * input }
    },
  }
}
