import type { ServedModel } from '../../prices/token-sizes.ts'

/** Numbers in a generation. The largest of the last two generations counts. */
const answersMax = 64
const modelsMax = 3_000
/** Of a model that was billed beyond what was expected, answers until it is trusted again. */
const calmAnswers = 16
/** Beyond the part of the expected cost that texts differ by, a bill is unexpected. */
const expectedShare = 1.25

/** Kinds of attempts: providers bill each in its own way. */
export type AskedContent = 'text' | 'media' | 'references'

/** A bill, and what the same answer would have cost by the estimate of its prompt. Both in nano-USD. */
export interface ComparedBill {
  readonly billed: number
  readonly expected: number
}

/** The largest of some numbers of late: of the last 64 at least. */
export class LargestOfLate {
  #largest = 0
  #before = 0
  #count = 0
  /** It has a number. */
  isKnown = false

  /** 0: there was none. */
  get value(): number {
    return Math.max(this.#largest, this.#before)
  }

  note(number: number): void {
    this.isKnown = true
    this.#largest = Math.max(this.#largest, number)
    this.#count += 1
    if (this.#count < answersMax) return
    this.#before = this.#largest
    this.#largest = 0
    this.#count = 0
  }
}

/** Amounts that a model billed beyond estimates. */
export class Surplus {
  readonly #late = new LargestOfLate()
  #needed = 1
  #calm = 0

  /** The largest of late, in nano-USD, at least 0. */
  get nanoUsd(): number {
    return this.#late.value
  }

  /** An answer was counted. */
  get isKnown(): boolean {
    return this.#late.isKnown
  }

  /** Nothing unexpected was billed of late: the next bill is taken to be like those before. */
  get isSteady(): boolean {
    return this.#calm >= this.#needed
  }

  note({ billed, expected }: ComparedBill): void {
    if (billed <= expectedShare * (expected + this.nanoUsd)) this.#calm += 1
    else {
      this.#calm = 0
      this.#needed = calmAnswers
    }
    this.#late.note(billed - expected)
  }
}

/** A value for each model. It begins anew after 3,000 models. */
class OfModels<Value> {
  /** By provider, then by model. */
  readonly #known = new Map<string, Map<string, Value>>()
  readonly #make: () => Value
  #count = 0

  constructor(make: () => Value) {
    this.#make = make
  }

  of({ provider, model }: ServedModel): Value {
    const known = this.#known.get(provider)?.get(model)
    if (known !== undefined) return known
    if (this.#count >= modelsMax) {
      this.#known.clear()
      this.#count = 0
    }
    this.#count += 1
    const value = this.#make()
    const models = this.#known.get(provider)
    if (models === undefined) this.#known.set(provider, new Map([[model, value]]))
    else models.set(model, value)
    return value
  }
}

/** What providers bill beyond estimates: hidden prompts, ignored limits, fees. By content, and model at a provider. */
export class LearnedSurpluses {
  readonly #known: Readonly<Record<AskedContent, OfModels<Surplus>>>
  readonly #openAnswers = new OfModels(() => new LargestOfLate())

  constructor() {
    const made = (): OfModels<Surplus> => new OfModels(() => new Surplus())
    this.#known = { text: made(), media: made(), references: made() }
  }

  of(served: ServedModel, content: AskedContent): Surplus {
    return this.#known[content].of(served)
  }

  /** Tokens of answers whose requests stated no limit. */
  openAnswers(served: ServedModel): LargestOfLate {
    return this.#openAnswers.of(served)
  }
}
