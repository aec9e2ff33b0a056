import type { UpstreamFailure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import type { ServerSentEvent } from '../wire/event-stream.ts'
import type { Usage } from '../wire/usage.ts'

/** A complete answer. */
export interface WholeReply {
  readonly kind: 'whole'
  /** JSON of docs/api.md: the upstream's own bytes, with what it left out filled in. */
  readonly body: Uint8Array
  readonly usage: Usage | undefined
  /** Well-formed but with nothing in it, finish `stop`: worth asking another provider (failover.md row 27). */
  readonly isEmpty: boolean
}

/** An answer that arrives piece by piece. */
export interface StreamReply {
  readonly kind: 'stream'
  /** As for a whole reply; `false` as long as it is not known. */
  readonly isEmpty: boolean
  /**
   * The next chunks, at least one; `undefined` when the stream has ended as it should (a finish_reason or `[DONE]` was
   * seen).
   *
   * @throws {UpstreamFailure} when it ended otherwise
   */
  read(): Promise<readonly ChatChunk[] | undefined>
  /** Ends the upstream's work at once. May be called at any time, more than once. */
  cancel(): void
}

/** What a provider answers. It may be of the other kind than was asked for; the gateway converts. */
export type ChatReply = WholeReply | StreamReply

/** A chat service: one provider, or all of them behind failover. */
export type ChatService = Service<ChatRequest, ChatReply>

/** The facts of one provider that a protocol needs to speak to it. */
export interface Connection {
  /** The provider's id. */
  readonly id: string
  /** Without a trailing slash, such as `https://api.example.com/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  /** Extra headers of the owner's. */
  readonly headers: Readonly<Record<string, string>>
  /** Request fields forced for this provider: field → JSON value. */
  readonly overrides: Readonly<Record<string, unknown>>
  /** Request fields it knows by another name: ours → theirs. */
  readonly rename: Readonly<Record<string, string>>
  /** Request fields it refuses. */
  readonly drop: readonly string[]
  /** It counts the tokens of a stream only when asked to: it is asked, for the record, also where the caller did not. */
  readonly streamUsage: boolean
}

/** Turns the events of one upstream stream into chunks. Holds the state of that stream; made anew for each. */
export interface StreamDecoder {
  /**
   * The chunks one event means: none for what carries nothing (pings), `'done'` for the end marker.
   *
   * @throws {UpstreamFailure} for an error event
   * @throws {MalformedAnswer} for an event that is not what the protocol says
   */
  decode(event: ServerSentEvent): readonly ChatChunk[] | 'done'
}

/**
 * How one family of upstreams is spoken to. Pure: bytes in, bytes out, so that it is tested on recorded bytes. The
 * brand is data, the protocol is code.
 */
export interface Protocol {
  /** Full path and query below the origin, for a model as the upstream calls it. */
  path(connection: Connection, model: string, stream: boolean): string
  /** Request headers: credentials, content type, the owner's extra ones. */
  headers(connection: Connection): Readonly<Record<string, string>>
  /** The request body in pieces. `model` is the upstream's name for the model. */
  encode(request: ChatRequest, model: string, connection: Connection): readonly Uint8Array[]
  /**
   * Reads a complete 200 answer to `request`. @throws {UpstreamFailure} when it is an error, malformed, or has no
   * choices
   */
  decode(body: Uint8Array, request: ChatRequest): WholeReply
  /**
   * Begins the reading of a stream. `request` tells whether usage was asked for; where it was not, none is sent to the
   * client.
   */
  stream(request: ChatRequest, connection: Connection): StreamDecoder
  /** Reads an answer that is not 200. `headers` are lower-case. */
  failure(status: number, headers: ReadonlyMap<string, string>, body: Uint8Array): UpstreamFailure
}
