import type { JsonObject } from '../base/json-value.ts'
import type { AnswerEvent } from './answer.ts'
import type { Conversation } from './conversation.ts'

/** The target of a request. */
export interface Target {
  /** The upstream's name for the model. */
  readonly model: string
  readonly isStream: boolean
}

/** A format of providers: writes requests and reads answers (docs/decisions/0011-formats.md). */
export interface UpstreamFormat {
  /** @throws {UpstreamFailure} `bad_request` for a conversation that the format cannot express */
  writeRequest(conversation: Conversation, target: Target): JsonObject
  /** Applies configured overrides to a written request. Absent: they replace whole top-level fields. */
  readonly override?: (request: JsonObject, overrides: JsonObject) => JsonObject
  /**
   * Reads a whole answer that is not an error.
   *
   * @throws {UpstreamFailure} `malformed`
   */
  readAnswer(answer: JsonObject): readonly AnswerEvent[]
  /** Starts reading a stream. */
  answerReader(): AnswerReader
}

/** Reads the events of one stream, one after the other. */
export interface AnswerReader {
  /**
   * Reads one event of the upstream: none for an unknown one, `'done'` for the format's end marker.
   *
   * @param event parsed, and not an error
   * @throws {UpstreamFailure} when the answer cannot be used
   */
  read(event: JsonObject): readonly AnswerEvent[] | 'done'
  /** Call after `'done'`. Returns a finish for each choice without one (failover.md row 36). */
  end(): readonly AnswerEvent[]
}
