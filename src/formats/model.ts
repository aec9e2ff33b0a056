/** A model as a provider offers it. */
export interface OfferedModel {
  /** Name that clients use. */
  readonly name: string
  /** The provider's name for the model. */
  readonly upstream: string
  readonly aliases: readonly string[]
  /** The aliases under which the model gives the same embeddings as the model of that name. */
  readonly embeddingAliases?: readonly string[]
  /** Context size in tokens. */
  readonly context?: number
  /** Maximum of output tokens. */
  readonly maxOutput?: number
  /** Modalities such as `text`, `image`. */
  readonly input?: readonly string[]
  readonly price?: Price
  /** The model is from the provider's own list, not from the configuration. */
  readonly isLearned?: true
}

/** One model and the providers that offer it, in try-order. */
export interface ListedModel {
  readonly name: string
  readonly offers: readonly [ListedOffer, ...ListedOffer[]]
}

/** A model as one provider describes it. */
export interface ListedOffer {
  /** Id of the provider. */
  readonly provider: string
  readonly model: OfferedModel
}

/** The facts of a model that its owner or its provider states, named as in the API. Unknown ones are left out. */
export function modelFacts({ context, maxOutput, price }: OfferedModel): Readonly<Record<string, unknown>> {
  return {
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { max_output: maxOutput }),
    ...(price === undefined ? {} : { price: priceFacts(price) }),
  }
}

function priceFacts({ input, output, cachedInput }: Price): Readonly<Record<string, number>> {
  return { input, output, ...(cachedInput === undefined ? {} : { cached_input: cachedInput }) }
}

/** USD per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Price of prompt tokens that the provider had in its cache. Default: `input`. */
  readonly cachedInput?: number
}
