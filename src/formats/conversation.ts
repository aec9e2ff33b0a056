import type { JsonObject } from '../base/json-value.ts'
import type { FormatName } from './ask.ts'

/** A request, independent of its format. Fields that the caller left out are undefined or empty. */
export interface Conversation {
  /** The format that it was read from, whose fields are in `own`. */
  readonly format: FormatName
  /** In the caller's order, system messages included. */
  readonly turns: readonly Turn[]
  readonly tools: Tools
  readonly answerFormat: AnswerFormat
  /** Kinds of content the answer may have, such as `text` and `image`, as the caller wrote them. */
  readonly modalities: readonly string[]
  /** Effort of the model's reasoning. */
  readonly effort: Effort | undefined
  /** Limit of the answer in tokens, reasoning included. */
  readonly maxTokens: number | undefined
  /** Texts before which the answer ends. None is empty. */
  readonly stops: readonly string[]
  /** Number of answers. */
  readonly choices: number | undefined
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly topK: number | undefined
  readonly presencePenalty: number | undefined
  readonly frequencyPenalty: number | undefined
  readonly seed: number | undefined
  /** Asks for log probabilities of the answer's tokens, and for `alternatives` per token. */
  readonly logprobs: { readonly alternatives: number | undefined } | undefined
  /** The caller's id for its user. */
  readonly user: string | undefined
  readonly serviceTier: string | undefined
  /** Requests with the same key share the provider's cache of prompts. */
  readonly cacheKey?: string | undefined
  /**
   * The top-level fields of the request without a place above, or with more than has a place; unchanged and never null.
   * A writer takes those of its own vendor.
   */
  readonly own: JsonObject
}

/** One message. A tool's result is a turn; writers of formats that have results in user messages put them there. */
export type Turn =
  | { readonly role: 'system'; readonly parts: readonly ContentPart[] }
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | ToolTurn

/** The result of a tool call. */
export interface ToolTurn {
  readonly role: 'tool'
  readonly callId: string
  /** The function's name; undefined when its call is not in the conversation. */
  readonly name: string | undefined
  readonly parts: readonly ContentPart[]
  /** The tool failed. */
  readonly isError: boolean
  readonly cacheControl: JsonObject | undefined
}

/** A piece of a message. `cacheControl` is Anthropic's `cache_control`, unchanged. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string; readonly cacheControl: JsonObject | undefined }
  | MediaPart
  | LinkPart

/** Media bytes in the request. */
export interface MediaPart {
  readonly kind: 'media'
  /** Lower-case, without parameters. */
  readonly mediaType: string
  readonly base64: string
  readonly filename: string | undefined
  readonly detail: Detail
  readonly cacheControl: JsonObject | undefined
}

/** Resolution at which an image is read, such as `low`, as chat completions and Responses name it. */
export type Detail = string | undefined

/** Content that the upstream fetches. */
export interface LinkPart {
  readonly kind: 'link'
  readonly url: string
  /** Sent as a file, not as an image. */
  readonly isFile: boolean
  readonly detail: Detail
  readonly cacheControl: JsonObject | undefined
}

/** A piece of an assistant's message, in the order the model made them. */
export type AssistantPart = ContentPart | ReasoningPart | CallPart

/** Reasoning of an earlier answer. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  /** Undefined if its maker hides it. */
  readonly text: string | undefined
  /** Undefined for plain text. */
  readonly opaque: Opaque | undefined
}

/** Reasoning with the data that its maker needs to accept it back. */
export interface Sealed {
  /** Undefined if its maker hides it. */
  readonly text: string | undefined
  readonly opaque: Opaque
}

/** A function call of an earlier answer. */
export interface CallPart {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  /** Its arguments; an empty object when they were no JSON object. */
  readonly input: JsonObject
  readonly opaque: Opaque | undefined
}

/**
 * Data that only its maker can read, such as the signature of reasoning. Sent back to its maker only, unchanged.
 * `openrouter`: of the makers behind it. `sealed`: data of any of them, wrapped by this service (`opaque-seal.ts`).
 */
export interface Opaque {
  readonly maker: 'anthropic' | 'google' | 'openai' | 'openrouter' | 'sealed'
  readonly data: string
}

/** The tools of a request. */
export interface Tools {
  /** Functions the model may call. */
  readonly functions: readonly FunctionTool[]
  /** Tools of a vendor's own kind, unchanged. */
  readonly own: readonly JsonObject[]
  readonly choice: ToolChoice | undefined
  /** At most one call in an answer. */
  readonly oneAtATime: boolean
}

/** A function the model may call. */
export interface FunctionTool {
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of its arguments, when there is one. */
  readonly parameters: JsonObject | undefined
  /** Arguments must match the schema. */
  readonly isStrict: boolean
  readonly cacheControl: JsonObject | undefined
}

/** The model's choice of tools. `required`: it must call one. */
export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }

/** The required form of the answer. `json`: any JSON object. */
export type AnswerFormat = { readonly kind: 'text' | 'json' } | SchemaFormat

/** The answer is JSON that matches a schema. */
export interface SchemaFormat {
  readonly kind: 'schema'
  readonly schema: JsonObject
  readonly name: string | undefined
  readonly description: string | undefined
  /** The answer must match the schema exactly. */
  readonly isStrict: boolean
}

/** Effort of reasoning; `none`: no reasoning. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
