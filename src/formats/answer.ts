import type { JsonObject } from '../base/json-value.ts'
import type { Opaque, Sealed } from './conversation.ts'

/**
 * A piece of an answer, independent of its format. An answer, streamed or whole, is a sequence of events: `start`, then
 * for each choice its content and its `finish`, and last the `usage`. A choice that was cut off has no `finish`, and a
 * call that was cut off no `callEnd`.
 */
export type AnswerEvent =
  | StartEvent
  | TextEvent
  | SealedEvent
  | CallEvent
  | ArgumentsEvent
  | CallEndEvent
  | ImageEvent
  | LogprobsEvent
  | FinishEvent
  | UsageEvent
  | OwnEvent

/** The first event, once. Fields that the upstream left out are undefined; the writer fills them in. */
export interface StartEvent {
  readonly kind: 'start'
  readonly id: string | undefined
  readonly model: string | undefined
  /** Unix time in seconds. */
  readonly created: number | undefined
}

/** An event of one choice. An answer with one choice has choice 0. */
interface OfChoice {
  readonly choice: number
}

/** More text of the answer, of its reasoning, or of a refusal. */
export interface TextEvent extends OfChoice {
  readonly kind: 'text' | 'reasoning' | 'refusal'
  readonly text: string
}

/** The end of a block of reasoning that must go back to its maker unchanged; `text` is the whole text of the block. */
export interface SealedEvent extends OfChoice, Sealed {
  readonly kind: 'sealed'
}

/** A function call begins. Its arguments follow; those of several calls may alternate. */
export interface CallEvent extends OfChoice {
  readonly kind: 'call'
  /** Counts the calls of its choice from 0. */
  readonly call: number
  readonly id: string | undefined
  readonly name: string
  readonly opaque: Opaque | undefined
  /** The call of a custom tool, whose input is text. Only chat completions write it so. */
  readonly isCustom?: true
}

/** More of a call's arguments: text, which is JSON when the call is complete. */
export interface ArgumentsEvent extends OfChoice {
  readonly kind: 'arguments'
  readonly call: number
  readonly text: string
  /** The text is the input of a custom tool. */
  readonly isCustom?: true
}

/** A call is complete: it may be run. */
export interface CallEndEvent extends OfChoice {
  readonly kind: 'callEnd'
  readonly call: number
}

/** A complete image. */
export interface ImageEvent extends OfChoice {
  readonly kind: 'image'
  readonly mediaType: string
  readonly base64: string
}

/** Log probabilities of the tokens of the text (`tokens`) or the refusal that come with them. */
export interface LogprobsEvent extends OfChoice {
  readonly kind: 'logprobs'
  /** Each with `token`, `logprob`, `bytes` and `top_logprobs`, as chat completions and Responses have them. */
  readonly tokens: readonly JsonObject[] | undefined
  readonly refusalTokens: readonly JsonObject[] | undefined
}

/** A choice is complete. */
export interface FinishEvent extends OfChoice {
  readonly kind: 'finish'
  readonly reason: FinishReason
  /** The reason as the upstream sent it. */
  readonly raw: string | undefined
  /** The sequence of the request that ended the text, where the upstream names it. */
  readonly stopSequence?: string | undefined
}

/** Why a choice ended. `other`: a reason that the formats do not have in common, named in `raw`. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'

/** The tokens of the whole answer so far. The last one counts. */
export interface UsageEvent {
  readonly kind: 'usage'
  readonly counts: TokenCounts
  /** The usage as the upstream sent it, for a writer of the same format. */
  readonly own: Own | undefined
}

/** Tokens of one answer. A count that the upstream left out is undefined or absent. */
export interface TokenCounts {
  readonly prompt: number
  readonly completion: number
  /** Sum of both when absent. */
  readonly total?: number | undefined
  /** Prompt tokens read from a cache. */
  readonly cached?: number | undefined
  /** Prompt tokens written to a cache. */
  readonly cacheWrite?: number | undefined
  /** Cache writes kept for an hour. */
  readonly cacheWriteHour?: number | undefined
  /** Completion tokens spent on reasoning. */
  readonly reasoning?: number | undefined
  /** The counts that the upstream left out; they are then 0. */
  readonly lacks?: 'prompt' | 'completion' | 'both' | undefined
  readonly billed?: BilledFacts | undefined
}

/** Facts that few answers have, and that change their cost. Absent ones are undefined or absent. */
export interface BilledFacts {
  /** Audio and images in the prompt, in tokens. */
  readonly audioIn?: number | undefined
  readonly imageIn?: number | undefined
  /** Audio and images in the answer, in tokens. */
  readonly audioOut?: number | undefined
  readonly imageOut?: number | undefined
  /** Searches by tools of the provider. */
  readonly searches?: number | undefined
  /** Uses of other tools of the provider with a fee, by name: `file_search`, `code_interpreter`, `maps` and others. */
  readonly tools?: Readonly<Record<string, number>> | undefined
  /** The tier that served the request, such as `flex`. */
  readonly serviceTier?: string | undefined
  /** Ways of serving that multiply prices: Anthropic's speed `fast`, and the place of its computers, such as `us`. */
  readonly multiples?: readonly string[] | undefined
  /** USD, as the provider reports it. */
  readonly cost?: number | undefined
  /** The model that answered. Absent: the one that was asked for. */
  readonly model?: string | undefined
}

/** Members that the formats do not have in common. Only a writer of the same format writes them. */
export interface OwnEvent extends OfChoice, Own {
  readonly kind: 'own'
  /** The object that had them; members of the answer belong to no choice. */
  readonly at: 'answer' | 'choice' | 'message'
}

/** Unchanged members, and their format. */
export interface Own {
  readonly format: 'chat'
  readonly fields: JsonObject
}
