import type { ServerSentEvent } from '../bytes/event-stream.ts'
import type { AnswerEvent } from './answer.ts'
import type { AssistantPart, Conversation } from './conversation.ts'
import type { AnsweredError, ChangeNotes, PassThroughTarget } from './format.ts'

/** The target of a request. */
export interface Target {
  /** The upstream's name for the model. */
  readonly model: string
  readonly isStream: boolean
}

/** A format of providers: writes requests and reads answers (docs/decisions/0011-formats.md). */
export interface UpstreamFormat {
  /** Names of functions that the format allows. Others are changed, and changed back in answers. Absent: all. */
  readonly functionNames?: RegExp
  /**
   * Writes the body of a request, in pieces, with the provider's `overrides`.
   *
   * @throws {UpstreamFailure} `bad_request` for a conversation that the format cannot express
   */
  write(conversation: Conversation, target: Target & PassThroughTarget, changes?: ChangeNotes): readonly Uint8Array[]
  /** Whether `write` leaves reasoning of this turn out. */
  losesReasoning(parts: readonly AssistantPart[], target: PassThroughTarget): boolean
  /**
   * Reads a complete 200 answer.
   *
   * @throws {MalformedAnswer} or {UpstreamFailure} `malformed`
   */
  readAnswer(body: Uint8Array): readonly AnswerEvent[] | AnsweredError
  /** Limit of an event of a stream in bytes. Absent: 1 MiB. */
  readonly eventBytesMax?: number
  /** Starts reading a stream. */
  answerReader(): AnswerReader
}

/** Reads the events of one stream, one after the other. */
export interface AnswerReader {
  /**
   * Reads one event of the upstream: none for an unknown one, `'done'` for the format's end marker.
   *
   * @throws {MalformedAnswer} for an event that is not of the format (failover.md row 34)
   * @throws {UpstreamFailure} when the answer cannot be used
   */
  read(event: ServerSentEvent): readonly AnswerEvent[] | 'done' | AnsweredError
  /** Call after `'done'`. Returns a finish for each choice without one (failover.md row 36). */
  end(): readonly AnswerEvent[]
}
