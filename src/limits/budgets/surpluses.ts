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
export interface SeenSurplus {
  /** The largest of late, in nano-USD, at least 0. */
  readonly nanoUsd: number
  /** Nothing unexpected was billed of late: the next bill is taken to be like those before. */
  readonly isSteady: boolean
}

/** A bill, and what the same answer would have cost by the estimate of its prompt. Both in nano-USD. */
export interface ComparedBill {
  readonly billed: number
  readonly expected: number
}

/** What providers bill beyond estimates: hidden prompts, ignored limits, fees. By model at a provider, and content. */
export interface LearnedSurpluses {
  /** Undefined: no answer was counted yet. */
  of(served: ServedModel, content: AskedContent): SeenSurplus | undefined
  note(served: ServedModel, content: AskedContent, bill: ComparedBill): void
}

class Surplus implements SeenSurplus {
  #largest = 0
  #before = 0
  #answers = 0
  #needed = 1
  #calm = 0

  get nanoUsd(): number {
    return Math.max(this.#largest, this.#before)
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
  }
}

/** Knows nothing at first, and at most 3,000 surpluses. */
export function learnedSurpluses(): LearnedSurpluses {
  const known = new Map<string, Surplus>()

  function keyOf({ provider, model }: ServedModel, content: AskedContent): string {
    return `${provider} ${content} ${model}`
  }

  function made(key: string): Surplus {
    if (known.size >= surplusesMax) for (const first of known.keys().take(1)) known.delete(first)
    const surplus = new Surplus()
    known.set(key, surplus)
    return surplus
  }

  return {
    of: (served, content) => known.get(keyOf(served, content)),
    note(served, content, bill) {
      const key = keyOf(served, content)
      ;(known.get(key) ?? made(key)).note(bill)
    },
  }
}
