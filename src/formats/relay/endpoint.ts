import type { PartReader } from '../format.ts'
import type { Shape } from '../request-shape.ts'
import type { AnswerShape } from './answer.ts'

/** One endpoint whose requests and answers pass through, as data (docs/api.md). */
export interface RelayEndpoint {
  /** Path of its requests. A provider has the same path below its base URL, without `/v1`. */
  readonly path: string
  /** The model of requests that name none. Absent: they must name one. */
  readonly defaultModel?: string
  /** Members of a request that are checked. All others pass unread. */
  readonly fields: Readonly<Record<string, Shape>>
  /** Names of `fields` that a request must have. */
  readonly required: readonly string[]
  readonly answer: AnswerShape
  /** Absent: its answers are never streamed. */
  readonly stream?: RelayStream
  /** Answers of different models cannot be compared: failover stays among providers of the same model. */
  readonly needsSameModel: boolean
  /** Each attempt is billed, so no other follows an attempt that may have done the work but gave no answer. */
  readonly stopsInDoubt?: true
}

/** How the answers of an endpoint are streamed. */
export interface RelayStream {
  /** The member by which a request asks for a stream, and its value then. */
  readonly member: string
  readonly value: 'true' | '"sse"'
  reader(): PartReader
  /** The end marker of a complete stream; empty if the format has none. */
  readonly end: Uint8Array
  /** Sent while no provider has answered. Absent: the head of the answer is sent with its first event. */
  readonly keepAlive?: Uint8Array
  /** A whole answer is also an event of a stream. Otherwise a whole answer to a request for a stream stays whole. */
  readonly isWholeAnEvent?: true
}
