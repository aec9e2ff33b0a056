import type { ChatService } from '../protocols/protocol.ts'
import type { Candidate } from '../service/failover.ts'

/** A model as a provider offers it. */
export interface OfferedModel {
  /** What clients ask for. */
  readonly name: string
  /** What the provider calls it. */
  readonly upstream: string
  readonly aliases: readonly string[]
  /** Tokens. */
  readonly context?: number
  /** Tokens. */
  readonly maxOutput?: number
  readonly input?: readonly string[]
  readonly price?: ModelPrice
}

/** USD per million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cachedInput?: number
}

/** One provider ready to serve one model: its service with all layers around it. */
export interface ChatCandidate extends Candidate {
  /** The upstream's name for the model. */
  readonly model: string
  readonly price?: ModelPrice | undefined
  readonly chat: ChatService
  /** It goes on where a trailing assistant message stops. */
  readonly continues: boolean
}

/** A named upstream and the models it offers. */
export interface Provider {
  readonly id: string
  readonly models: ModelList
  /** The same candidate for the same model, each time. */
  candidate(model: string): ChatCandidate
}

/** What a provider offers: written down by its owner, or learned from the provider itself. */
export interface ModelList {
  /** `undefined`: not known (yet). Such a provider is asked for a model that nobody is known to offer. */
  current(): readonly OfferedModel[] | undefined
  /** Changes when the list does. */
  readonly version: number
  /** Resolves when the list was asked for once, whatever came of it; `undefined` once it was. */
  readonly pending: Promise<void> | undefined
  /** Why it could not be learned, the last time it was tried; `undefined`: it could. */
  readonly failure?: string | undefined
}

/** The models an owner wrote down. */
export function fixedModels(models: readonly OfferedModel[]): ModelList {
  return { current: () => models, version: 0, pending: undefined }
}
