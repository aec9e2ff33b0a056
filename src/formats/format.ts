import type { JsonObject } from '../base/json-value.ts'
import type { ServerSentEvent } from '../bytes/event-stream.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import type { AnswerEvent } from './answer.ts'
import type { Ask, FormatName } from './ask.ts'
import type { Conversation } from './conversation.ts'
import type { Demand } from './demand.ts'
import type { WireError } from './error.ts'
import type { KeepAlive } from './keep-alive.ts'
import type { ListedModel } from './model.ts'
import type { Part } from './part.ts'
import { type Delivered, type StreamReply, watchable, type WholeReply } from './reply.ts'
import type { UpstreamError } from './upstream-error.ts'

/*
 * The way of a request through the formats. `check` of its format reads the body where it lies and keeps an `Ask`
 * (`ask.ts`): the bytes, the model, the places of members. Unknown members travel on. A provider of the same format
 * gets these bytes by `passThrough`, with a new model name spliced in, and its answer passes back as parts (`part.ts`).
 *
 * Other providers get a request by way of a conversation (`conversation.ts`): `talk` of the caller's format reads it,
 * the provider's `UpstreamFormat` (`upstream-format.ts`) writes it. Answers come back as answer events (`answer.ts`),
 * which the caller's format writes. So n formats need n folders, not n × n translations. A reader makes a finish only
 * of what ended, so no writer can complete a cut answer. `format-list.ts` lists the formats; `relay/` has those that
 * are only passed on, as data.
 */

/**
 * A language of requests and answers that callers speak (docs/decisions/0011-formats.md). Methods that take an
 * {@link Ask} are only given those of their own `check`.
 */
export interface Format {
  readonly name: FormatName
  /**
   * Path of its requests, which are POST. `{model}` in it stands for any text, which `check` finds in the
   * {@link Envelope}.
   */
  readonly path: string
  /** More paths of its requests. */
  readonly otherPaths?: readonly string[]
  /** Paths that clients of the format ask for, and that this service refuses. */
  readonly refusals?: readonly Refusal[]
  /** Header, in lower case, in which clients of the format send their API key, beside `authorization`. */
  readonly keyHeader?: string
  /**
   * Checks a body of up to 64 KiB.
   *
   * @throws {WireError} 400
   */
  check(body: Uint8Array, envelope: Envelope): Ask
  /** As `check`, awaiting `pause` between pieces of work of a few milliseconds. */
  checkLarge(body: Uint8Array, pause: () => Promise<void>, envelope: Envelope): Promise<Ask>
  /** Answers are text: limits of tokens take some for a request that states no limit. */
  readonly isText: boolean
  /** Answers have no tokens. */
  readonly isPromptOnly?: true
  /** The most that a request may make a provider do, and the size of its prompt. */
  demand(ask: Ask): Demand
  /** Limits the tokens of one answer, for hard limits of money. Absent: requests cannot state a limit. */
  limitAnswer?(ask: Ask, tokens: number): Ask
  /** Limit of a request in bytes, if it is lower than that of the configuration. */
  readonly requestBytesMax?: number
  /** Limit of a whole answer of a provider in bytes. Absent: {@link answerBytesDefault}. */
  readonly answerBytesMax?: number
  /**
   * Removes the reasoning of earlier answers, for a provider that refuses it. Undefined: there is nothing to change.
   * Absent: requests have none.
   */
  withoutReasoning?(ask: Ask): Ask | undefined
  /** Answers of different models cannot be compared: failover stays among providers of the same model. */
  readonly needsSameModel: boolean
  /** Providers may lack the endpoint: the statuses 404 and 501 say nothing about the model. */
  readonly isOptional?: true
  /** Each attempt is billed: none follows one that ended without a usable answer, but may have done the work. */
  readonly stopsInDoubt?: true
  /** Even the first event of a stream may take as long as a whole answer. */
  readonly startsLate?: true
  /** What providers of a model do not do if none serves this format: `makes embeddings`. Default: there is no model. */
  readonly unserved?: string
  /** The answer to a request to count tokens, where no provider of the model counts them. @param tokens estimated */
  estimate?(tokens: number): JsonObject
  /** A header that its clients send on every path. On paths that formats share it selects the shape of errors. */
  readonly clientHeader?: string
  /** Absent: models are listed as for chat completions. */
  readonly modelWriter?: ModelWriter
  /** An error as the body of a response to the request of this id. */
  errorBody(error: WireError, requestId: string): string
  /** The status of an error. Absent: the error's own. */
  errorStatus?(error: WireError): number
  readonly passThrough: PassThrough
  /** Absent: its requests are not translated. */
  readonly talk?: Talk
  readonly stream?: StreamOutput & Partial<StreamFormat>
}

/** Limit of a whole answer in bytes. */
export const answerBytesDefault: number = 32 * 1024 * 1024

/** A request around its body. */
export interface Envelope {
  /** Normalised, without the query. */
  readonly path: string
  readonly headers: Headers
  /** A parameter of the query; `null` without it. */
  parameter(name: string): string | null
}

/** A path that a format has elsewhere, and that only refuses here. */
export interface Refusal {
  /** An exact path, or one that ends in `/`, for all paths below it that have no other route. */
  readonly path: string
  readonly methods: readonly ('GET' | 'POST' | 'DELETE')[]
  /** The error; `undefined`: the method is not allowed. */
  error(headers: Headers): WireError | undefined
}

/** Writes models in a format's own shape: at its own path, and where its clients ask at the path of all formats. */
export interface ModelWriter {
  /** Path of the list. */
  readonly path: string
  /** Paths of single models are below it. */
  readonly modelPath: string
  list(models: readonly ListedModel[], query: URLSearchParams): JsonObject
  one(model: ListedModel): JsonObject
}

/** For providers that speak another format: requests become conversations, and answers are written from events. */
export interface Talk {
  /**
   * Its dialects carry data that only its maker can read as the maker sent it. Otherwise such data is wrapped, and data
   * in requests is of providers of the same format.
   */
  readonly keepsOpaque?: true
  /**
   * Reads a request.
   *
   * @param drop names of top-level fields that the provider refuses: they count as absent
   * @throws {UpstreamFailure} `bad_request` for content that a conversation cannot carry
   */
  read(ask: Ask, drop: readonly string[]): Conversation
  /** Writes a whole answer. */
  writeWhole(events: readonly AnswerEvent[], ask: Ask): WholeReply
  /** Starts writing a stream. */
  writer(ask: Ask): PartWriter
}

/** Writes one stream from answer events. */
export interface PartWriter {
  /** The answer has one choice, so its finish is the end. */
  readonly hasOneChoice: boolean
  /**
   * Writes the events of one piece of an answer. A part for each `finish` says so, at once; its data may be empty, and
   * follow later.
   */
  write(events: readonly AnswerEvent[]): readonly Part[]
  /** Call at the end of a complete stream. Returns its last parts. */
  end(): readonly Part[]
}

/** For providers that speak the same format: requests pass through, answers are inspected and repaired. */
export interface PassThrough {
  /** Returns the request body in pieces: the caller's bytes with the upstream's model and the changes of `target`. */
  write(ask: Ask, model: string, target: PassThroughTarget): readonly Uint8Array[]
  /**
   * The request in the form that the target takes, where its profile deviates and the request has the thing. The same
   * request if nothing has to change. Absent: the format has no such form.
   *
   * @throws {UpstreamFailure} `bad_request` for a request that the target cannot take in any form
   */
  fit?(ask: Ask, profile: TargetProfile, changes: ChangeNotes | undefined): Ask
  /** Whether `write` leaves reasoning of earlier answers out. Absent: it does where some is `foreign`. */
  losesReasoning?(ask: Ask, target: PassThroughTarget): boolean
  /**
   * Inspects and repairs a complete 200 answer.
   *
   * @throws {MalformedAnswer}
   */
  readWhole(body: Uint8Array, ask: Ask): WholeReply | AnsweredError
  /**
   * As `readWhole`, for an answer above 64 KiB, awaiting `pause` between pieces of work of some milliseconds. Absent:
   * answers take no longer in one go.
   */
  readLarge?(body: Uint8Array, ask: Ask, pause: () => Promise<void>): Promise<WholeReply | AnsweredError>
  /** Starts reading a stream. Absent: the format has none. */
  reader?(ask: Ask, target: PassThroughTarget): PartReader
  /** The answer to this request, if it is neither JSON nor a stream of events. */
  media?(ask: Ask): MediaAnswer | undefined
}

/** Bytes of a media type, such as audio. They pass through unread. */
export interface MediaAnswer {
  /** Returns the `content-type` for the caller; undefined for one that is not of these media. */
  contentType(given: string): string | undefined
  /** It is sent as it arrives. Otherwise it is gathered. */
  readonly isStreamed: boolean
}

/** The target of a request that passes through. */
export interface PassThroughTarget {
  /** Configured request fields: field → JSON value. They are sent as they are. */
  readonly overrides: Readonly<Record<string, unknown>>
  /** Fields for requests whose callers send none. Absent: none. */
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly profile: TargetProfile
}

/** Takes the names of members that a request is sent without, or in another form. */
export interface ChangeNotes {
  drop(name: string): void
  adjust(name: string): void
}

/** An error inside a 200 answer or a stream (failover.md rows 22 and 33). */
export interface AnsweredError {
  readonly kind: 'error'
  /** `undefined`: it has no description. */
  readonly error: UpstreamError | undefined
}

/** Reads the events of one stream, one after the other. */
export interface PartReader {
  /** Limit of an event in bytes. Absent: 1 MiB. */
  readonly eventBytesMax?: number
  /** The answer has one choice, so its finish is the end. */
  readonly hasOneChoice: boolean
  /** The model that the answer names, once it was read. Absent: none. */
  readonly model?: string | undefined
  /**
   * Returns the parts of one event: none for an event without content, `'done'` for the end marker.
   *
   * @throws {MalformedAnswer} for an event that is not of the format (failover.md row 34)
   */
  read(event: ServerSentEvent): readonly Part[] | 'done' | AnsweredError
  /**
   * Call after `'done'`. Returns parts for choices without a finish (failover.md row 36).
   *
   * @throws {MalformedAnswer} if the answer is incomplete
   */
  finish(): readonly Part[]
  /** Call at the end of a complete stream, also without `'done'`. Returns its last parts. Absent: none follow. */
  end?(): readonly Part[]
}

/** Writes streams of a format to callers. */
export interface StreamOutput {
  /** Returns the bytes of these parts; empty if all of them are for the record only. */
  frame(parts: readonly Part[]): Uint8Array
  /** The end marker of a complete stream; empty if the format has none. */
  readonly end: Uint8Array
  /** Sent while no provider has answered, so that clients do not time out. Absent: clients wait for the status. */
  readonly keepAlive?: KeepAlive
  /**
   * The answer to a stream request that failed before anything was sent, as an error with its own status, or as a
   * stream. Absent: the error itself.
   */
  refusal?(error: WireError): WireError | Uint8Array
  /** The last event of a stream that failed. */
  error(error: WireError, delivered: Delivered): Uint8Array
}

/** As {@link StreamOutput}, with conversion and resume. */
export interface StreamFormat extends StreamOutput {
  /**
   * Converts a whole answer to the parts of a stream (failover.md row 30).
   *
   * @throws {MalformedAnswer}
   */
  split(body: Uint8Array, ask: Ask): readonly Part[]
  /** Gathers a stream into a whole answer (failover.md row 31). */
  gatherer(ask: Ask): { add(part: Part): void; finish(): Uint8Array }
  /** Adds the text sent so far as an assistant message at the end, for providers that continue it. */
  continued(ask: Ask, text: string): Ask
  /**
   * Starts the rest of a stream that was cut.
   *
   * @param text of the last text of the stream that the client has, all of it; empty if a call is behind it
   * @param calls numbers of the calls in the other stream that the client has. Default: none
   */
  continuation(ask: Ask, delivered: Delivered, text: string, calls?: ReadonlySet<number>): Continuation
  /** Starts reading parts of a stream as events, to compare answers. */
  retracer(ask: Ask): Retracer
}

/** Reads parts of one stream of its own format, in order. Parts of plain text may be left out while no call is open. */
export interface Retracer {
  /** Calls end once they are complete. @returns undefined for content that cannot be compared */
  read(part: Part): readonly AnswerEvent[] | undefined
}

/** Writes parts of another stream as the rest of a stream whose beginning the client has. */
export interface Continuation {
  /**
   * Rewrites one part of the other stream; none if nothing is left of it.
   *
   * @param text the end of the part's text, which replaces it; only log probabilities of its tokens are kept
   */
  write(part: Part, text?: string): readonly Part[]
}

/** A stream reply that gives all these parts at once. @param model the one that the answer names */
export function streamOf(parts: readonly Part[], model?: string): StreamReply {
  let pending: readonly Part[] | undefined = parts
  return watchable({
    kind: 'stream',
    isEmpty: false,
    model,
    async read() {
      const all = pending
      pending = undefined
      return all
    },
    cancel() {
      pending = undefined
    },
  })
}
