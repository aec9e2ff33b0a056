import type { ServedModel } from '../../prices/token-sizes.ts'

/** Answers in a generation. The largest surplus of the last two generations counts. */
const answersMax = 64
const surplusesMax = 3_000
/** Of a model that was billed beyond what was expected, answers until it is trusted again. */
const calmAnswers = 16
/** Beyond the part of the expected cost that texts differ by, a bill is unexpected. */
const expectedShare = 1.25

/** What an attempt asks for: providers bill each in its own way. */
export type AskedContent = 'text' | 'media' | 'references'

/** What a model was seen to bill beyond estimates. */
export interface Surplus {
  /** The largest of late, in nano-USD, at least 0. */
  readonly nanoUsd: number
  /** An answer was counted. */
  readonly isKnown: boolean
  /** Nothing unexpected was billed of late: the next bill is taken to be like those before. */
  readonly isSteady: boolean
  note(bill: ComparedBill): void
}

/** A bill, and what the same answer would have cost by the estimate of its prompt. Both in nano-USD. */
export interface ComparedBill {
  readonly billed: number
  readonly expected: number
}

/** What providers bill beyond estimates: hidden prompts, ignored limits, fees. By content, and model at a provider. */
export interface LearnedSurpluses {
  of(served: ServedModel, content: AskedContent): Surplus
}

class SeenSurplus implements Surplus {
  #largest = 0
  #before = 0
  #answers = 0
  #needed = 1
  #calm = 0
  /** A generation has ended. */
  #isOld = false

  get nanoUsd(): number {
    return Math.max(this.#largest, this.#before)
  }

  get isKnown(): boolean {
    return this.#answers > 0 || this.#isOld
  }

  get isSteady(): boolean {
    return this.#calm >= this.#needed
  }

  note({ billed, expected }: ComparedBill): void {
    if (billed <= expectedShare * (expected + this.nanoUsd)) this.#calm += 1
    else {
      this.#calm = 0
      this.#needed = calmAnswers
    }
    this.#largest = Math.max(this.#largest, billed - expected)
    this.#answers += 1
    if (this.#answers < answersMax) return
    this.#before = this.#largest
    this.#largest = 0
    this.#answers = 0
    this.#isOld = true
  }
}

/** Knows nothing at first. It begins anew after 3,000 surpluses. */
export function learnedSurpluses(): LearnedSurpluses {
  /** By provider, then by model. */
  const known: Readonly<Record<AskedContent, Known>> = { text: new Map(), media: new Map(), references: new Map() }
  let count = 0

  function made({ provider, model }: ServedModel, content: AskedContent): Surplus {
    if (count >= surplusesMax) {
      for (const each of Object.values(known)) each.clear()
      count = 0
    }
    count += 1
    const surplus = new SeenSurplus()
    const models = known[content].get(provider)
    if (models === undefined) known[content].set(provider, new Map([[model, surplus]]))
    else models.set(model, surplus)
    return surplus
  }

  return {
    of: (served, content) => known[content].get(served.provider)?.get(served.model) ?? made(served, content),
  }
}

type Known = Map<string, Map<string, Surplus>>
