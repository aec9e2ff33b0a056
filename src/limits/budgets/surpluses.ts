import type { ServedModel } from '../../prices/token-sizes.ts'

/** Answers in a generation. The largest surplus of the last two generations counts. */
const answersMax = 64
const modelsMax = 1_000

/** What providers bill beyond estimates: hidden prompts, ignored limits, fees. By model at a provider. */
export interface LearnedSurpluses {
  /** The largest of late, in nano-USD, at least 0. Undefined: no answer was counted yet. */
  of(served: ServedModel): number | undefined
  /** Takes the cost of an answer that its provider counted. @param estimated the estimate of its cost, in nano-USD */
  noting(served: ServedModel, estimated: number): (billed: number) => void
}

class Surplus {
  largest = 0
  before = 0
  answers = 0

  note(nanoUsd: number): void {
    this.largest = Math.max(this.largest, nanoUsd)
    this.answers += 1
    if (this.answers < answersMax) return
    this.before = this.largest
    this.largest = 0
    this.answers = 0
  }
}

/** Knows nothing at first, and at most 1,000 models. */
export function learnedSurpluses(): LearnedSurpluses {
  const known = new Map<string, Surplus>()

  function keyOf({ provider, model }: ServedModel): string {
    return `${provider} ${model}`
  }

  function made(key: string): Surplus {
    if (known.size >= modelsMax) for (const first of known.keys().take(1)) known.delete(first)
    const surplus = new Surplus()
    known.set(key, surplus)
    return surplus
  }

  return {
    of(served) {
      const surplus = known.get(keyOf(served))
      return surplus && Math.max(surplus.largest, surplus.before)
    },
    noting(served, estimated) {
      const key = keyOf(served)
      return (billed) => (known.get(key) ?? made(key)).note(billed - estimated)
    },
  }
}
