import type { Ask } from '../ask.ts'
import type { DemandFields } from '../demand.ts'
import type { MediaAnswer, PartReader } from '../format.ts'
import type { KeepAlive } from '../keep-alive.ts'
import type { Shape } from '../request-shape.ts'
import type { AnswerShape } from './answer.ts'

/** One endpoint whose requests and answers pass through, as data (docs/api.md). */
export interface RelayEndpoint {
  /** Path of its requests. A provider has the same path below its base URL, without `/v1`. */
  readonly path: string
  readonly request: JsonRequests | FormRequests
  /** The model of requests that name none. Absent: they must name one. */
  readonly defaultModel?: string
  /** What every whole answer in JSON has. Absent: none is in JSON. */
  readonly answer?: AnswerShape
  readonly media?: RelayMedia
  /** The members of requests that determine their cost. Default: {@link anyAnswers}. */
  readonly demand?: DemandFields
  /** Answers are text, and providers bill its tokens, so that answers without usage are estimated. */
  readonly isText?: true
  /** Absent: its answers are never streamed as events. */
  readonly stream?: RelayStream
  /** Limit of a request in bytes, if it is lower than that of the configuration. */
  readonly requestBytesMax?: number
  /** Limit of an answer in bytes. Absent: the usual one. */
  readonly answerBytesMax?: number
  /** Answers of different models cannot be compared: failover stays among providers of the same model. */
  readonly needsSameModel: boolean
  /**
   * Each attempt is billed, so no other follows an attempt that may have done the work but gave no usable answer,
   * unless the configuration allows it (`failover.retry_billed`).
   */
  readonly stopsInDoubt?: true
  /** Even the first event of a stream may take as long as a whole answer. */
  readonly startsLate?: true
}

/** `n` answers of any length. */
export const anyAnswers: DemandFields = {
  prompt: ['input', 'instructions', 'prompt'],
  answerTokens: [],
  answers: ['n'],
}

/** Requests that are JSON objects. */
export interface JsonRequests {
  readonly kind: 'json'
  /** Members that are checked. All others pass unread. */
  readonly fields: Readonly<Record<string, Shape>>
  /** Names of `fields` that must be there. */
  readonly required: readonly string[]
}

/** Requests that are forms, `multipart/form-data`. */
export interface FormRequests {
  readonly kind: 'form'
  /** Parts that must be there, each under one of these names. */
  readonly required: readonly (readonly string[])[]
}

/** Answers that are neither JSON nor events. */
export interface RelayMedia {
  readonly answer: MediaAnswer
  /** The member or part that asks for them, and its values. Absent: all requests that ask for no stream of events. */
  readonly asked?: { readonly member: string; readonly values: readonly string[] }
}

/** How the answers of an endpoint are streamed. */
export interface RelayStream {
  /** The member or part by which a request asks for a stream, and its value then. */
  readonly member: string
  readonly value: true | 'sse'
  reader(ask: Ask): PartReader
  /** The end marker of a complete stream. Absent: the provider's. */
  readonly end?: Uint8Array
  /** Sent while no provider has answered. Absent: the head of the answer is sent with its first event. */
  readonly keepAlive?: KeepAlive
  /** A whole answer is also an event of a stream. Otherwise a whole answer to a request for a stream stays whole. */
  readonly isWholeAnEvent?: true
}
