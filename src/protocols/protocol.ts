import type { ServerSentEvent } from '../bytes/event-stream.ts'
import type { Framing } from '../bytes/framing.ts'
import type { Ask, FormatName, FurtherFormat } from '../formats/ask.ts'
import type { ChangeNotes, MediaAnswer, PassThroughTarget } from '../formats/format.ts'
import type { OpaqueSeal } from '../formats/opaque-seal.ts'
import type { Part } from '../formats/part.ts'
import type { WholeReply } from '../formats/reply.ts'
import type { UpstreamFailure } from '../service/failure.ts'
import type { Origin, ResponseHeaders } from '../transport/transport.ts'

/*
 * How a family of providers is reached: paths, headers, errors, model lists. `openai.ts`, `anthropic.ts` and
 * `gemini.ts` are one file each, `echo/` answers without an upstream. A protocol has a dialect for each format of
 * callers that it serves: `native.ts` if the providers speak that format, so that bytes pass through, else one of
 * `translation.ts`, by way of a conversation. `as-responses.ts` chooses another endpoint for requests that a profile
 * says are crippled at the usual one. `protocol-list.ts` lists the protocols; brands are data of `config/catalogue.ts`,
 * and no code asks for their names.
 */

/** The settings of one provider that a protocol needs. */
export interface Endpoint extends Pick<PassThroughTarget, 'overrides' | 'defaults'>, Pick<Origin, 'proxy' | 'tls'> {
  /** The provider's id. */
  readonly id: string
  /** Brand of the provider, if it is known. */
  readonly brand?: string | undefined
  /** Without a trailing slash, such as `https://api.example.com/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  /** Extra headers, from the configuration. */
  readonly headers: Readonly<Record<string, string>>
  /** It gets the traces of requests. */
  readonly trace?: boolean | undefined
}

/** A model at a provider, as writers of requests need it. */
export interface ModelTarget extends Endpoint, PassThroughTarget {}

/** A model as an upstream lists it. */
export interface UpstreamModel {
  readonly name: string
  /** Tokens, where the upstream states them. */
  readonly context?: number
}

/** One page of a list of models. */
export interface ModelPage {
  readonly models: readonly UpstreamModel[]
  /** Names the next page; absent on the last one. */
  readonly cursor?: string
}

/** How a protocol lists the models of an upstream. */
export interface ModelListing {
  /** Returns path and query of the first page, or of the page at `cursor`. */
  page(endpoint: Endpoint, cursor?: string): string
  /** Reads a 200 answer. `undefined`: it is no list of models. */
  read(body: Uint8Array): ModelPage | undefined
}

/** Reads the events of one stream as parts in the caller's format. */
export interface StreamDecoder {
  /** Limit of an event in bytes. Absent: 1 MiB. */
  readonly eventBytesMax?: number | undefined
  /** The answer has one choice, so its finish is the end. */
  readonly hasOneChoice: boolean
  /** The model that the answer names, once it was read. Absent: none. */
  readonly model?: string | undefined
  /**
   * Returns the parts of one event: none for an event without content, `'done'` for the end marker.
   *
   * @throws {UpstreamFailure} for an error event
   * @throws {MalformedAnswer} for an event that is not of the upstream's format
   */
  decode(event: ServerSentEvent): readonly Part[] | 'done'
  /** The finish of every choice is held back until `end`: the answer is whole unless more content comes. */
  holdsEnd?(): boolean
  /** Call after `'done'`. Returns parts for choices without a finish (failover.md row 36). */
  finish(): readonly Part[]
  /** Call at the end of a complete stream, also without `'done'`. Returns its last parts. Absent: none follow. */
  end?(): readonly Part[]
}

/** What the request and the answer of one exchange share. */
export interface ExchangeNotes {
  /** Brand of the provider, if it is known. */
  readonly brand?: string | undefined
  /** Of the upstream and the model. Absent: data that only its maker can read is left out. */
  readonly seal?: OpaqueSeal | undefined
  readonly target?: ModelTarget | undefined
  /** Gets the names of members that are left out, or sent in another form. */
  readonly changes?: ChangeNotes | undefined
  /** Names of functions that `encode` has changed: the upstream's name → the caller's. */
  names?: ReadonlyMap<string, string> | undefined
  /** The dialect that `encode` has written the request in, if it is not its own. It reads the answer, too. */
  instead?: Dialect | undefined
}

/** Writes requests of one format for the upstreams of a protocol, and reads their answers. */
export interface Dialect {
  /** The upstream gets requests as the caller wrote them, with the headers of the {@link Ask}. */
  readonly isNative?: true
  /** Upstreams may lack the endpoint: the statuses 404 and 501 say nothing about the model. */
  readonly isOptional?: true
  /** Limit of a whole answer in bytes. Absent: 32 MiB. */
  readonly answerBytesMax?: number | undefined
  /** Returns path and query. `model` is the upstream's name for the model. */
  path(endpoint: Endpoint, model: string, stream: boolean): string
  /**
   * Returns the request body in pieces. `model` is the upstream's name for the model.
   *
   * @throws {UpstreamFailure} `bad_request` for a request that the upstream's format cannot express
   */
  encode(ask: Ask, model: string, target: ModelTarget, notes?: ExchangeNotes): readonly Uint8Array[]
  /**
   * Reads a complete 200 answer.
   *
   * @param notes those of `encode`
   * @throws {UpstreamFailure} when it is an error, malformed, or without content
   */
  decode(body: Uint8Array, ask: Ask, notes?: ExchangeNotes): WholeReply
  /** As `decode`, for an answer above 64 KiB. Absent: it takes no longer in one go. */
  decodeLarge?(body: Uint8Array, ask: Ask, pause: () => Promise<void>): Promise<WholeReply>
  /** The answer to this request, if it is neither JSON nor a stream of events. */
  media?(ask: Ask): MediaAnswer | undefined
  /** Starts reading a stream. Absent: answers are never streamed. @param notes those of `encode` */
  stream?(ask: Ask, target: ModelTarget, notes?: ExchangeNotes): StreamDecoder
}

/** A request without its headers. */
export interface UnsignedRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly path: string
  /** In pieces; empty for GET. */
  readonly body: readonly Uint8Array[]
  /** Headers of the caller that the provider gets. */
  readonly headers?: RequestHeaders | undefined
}

/** Names and values of request headers. */
export type RequestHeaders = Readonly<Record<string, string>>

/**
 * Returns the headers of one request: credentials, content type, extra ones of the configuration. While they are the
 * same it returns the same object, which makes a request cheaper. An error, or a promise that takes too long, is a
 * failure of the provider's credentials; an {@link UpstreamFailure} says so in its own words.
 */
export type Signer = (request: UnsignedRequest) => RequestHeaders | Promise<RequestHeaders>

/** Reaches one family of upstreams. Pure, except for signing: bytes in, bytes out, so that tests need only bytes. */
export interface Protocol {
  /** The formats that it serves, natively or translated. */
  readonly dialects: { readonly [Name in FormatName]?: Dialect }
  /** Dialects of upstreams that also speak a format themselves, as their configuration says, by its name. */
  readonly further?: Readonly<Record<FurtherFormat, Protocol['dialects']>>
  /** How streams are divided into events. Default: server-sent events. */
  readonly framing?: Framing
  /** Starts signing the requests to an endpoint. */
  sign(endpoint: Endpoint): Signer
  /** Reads an answer that is not 200. Names of `headers` are in lower case. */
  failure(status: number, headers: Pick<ResponseHeaders, 'get'>, body: Uint8Array, brand?: string): UpstreamFailure
  readonly models: ModelListing
}
