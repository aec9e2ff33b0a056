import type { Ask, FormatName } from '../formats/ask.ts'
import type { OfferedModel } from '../formats/model.ts'
import type { Reply } from '../formats/reply.ts'
import type { CostOf } from '../prices/cost.ts'
import type { Candidate } from '../service/failover.ts'
import type { Service } from '../service/service.ts'

/** Answers requests in any format: one provider, or all of them with failover. */
export type AnswerService = Service<Ask, Reply>

/** One provider for one model: its service with all layers around it. */
export interface ModelCandidate extends Candidate {
  /** The upstream's name for the model. */
  readonly model: string
  /** Cost of an answer there. Absent: not known. */
  readonly costOf?: CostOf | undefined
  /** Most tokens of an answer, as the configuration or the provider's list states them. Absent: not known. */
  readonly maxOutput?: (() => number | undefined) | undefined
  /** Most tokens of a prompt and its answer, as for `maxOutput`. Absent: not known. */
  readonly context?: (() => number | undefined) | undefined
  readonly answer: AnswerService
  /** Whether it serves requests in this format. */
  readonly speaks: (format: FormatName) => boolean
  /** Prompts are cached there for this long, and pay a move from these bytes of a request on. Absent: not known. */
  readonly promptCache?: { readonly bytesMin: number; readonly ms: number } | undefined
  /** It continues a trailing assistant message. */
  readonly continues: boolean
}

/** A named upstream and the models it offers. */
export interface Provider {
  readonly id: string
  readonly models: ModelList
  /** Returns the same candidate each time for the same model. */
  candidate(model: string): ModelCandidate
}

/** The models of a provider: configured, or fetched from the provider itself. */
export interface ModelList {
  /** `undefined`: not known (yet). Such a provider is asked for models that no list has. */
  current(): readonly OfferedModel[] | undefined
  /** Changes when the list does. */
  readonly version: number
  /** Resolves after the first fetch, successful or not; `undefined` from then on. */
  readonly pending: Promise<void> | undefined
  /** Why the last fetch failed; `undefined` after a success. */
  readonly failure?: Error | undefined
}

/** The list of models that the configuration names. */
export function fixedModels(models: readonly OfferedModel[]): ModelList {
  return { current: () => models, version: 0, pending: undefined }
}
