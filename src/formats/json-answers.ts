import type { JsonObject } from '../base/json-value.ts'
import type { ServerSentEvent } from '../bytes/event-stream.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { AnswerEvent } from './answer.ts'
import { isObject, listOf, parseJsonBytes } from './exact-json.ts'
import type { AnsweredError } from './format.ts'
import { knownTexts } from './known-texts.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import { isDone } from './reply.ts'
import { errorInside, errorOf, type UpstreamError } from './upstream-error.ts'
import type { AnswerReader, UpstreamFormat } from './upstream-format.ts'

/** Readers of a format whose answers, and the events of whose streams, are JSON objects. */
export interface JsonAnswers {
  /**
   * Reads a whole answer that is not an error.
   *
   * @throws {UpstreamFailure} `malformed`
   */
  readAnswer(answer: JsonObject): readonly AnswerEvent[] | AnsweredError
  /** Starts reading a stream. */
  answerReader(): JsonAnswerReader
}

/**
 * An {@link AnswerReader} of parsed events. An event whose only content is text adds nothing but this text and counts
 * that later events have too, so that one like it need not be parsed.
 */
export interface JsonAnswerReader extends Pick<AnswerReader, 'end'> {
  /**
   * Reads one event: none for an unknown one, `'done'` for the format's end marker. Errors of the usual shapes were
   * recognised before.
   *
   * @throws {UpstreamFailure} when the answer cannot be used
   */
  read(event: JsonObject): readonly AnswerEvent[] | 'done' | AnsweredError
}

/** Parses answers and events for these readers, and recognises errors and `[DONE]`. */
export function jsonAnswers(format: JsonAnswers): Pick<UpstreamFormat, 'readAnswer' | 'answerReader'> {
  return {
    readAnswer(body) {
      const answer = parseAnswer(body)
      return errorIn(answer) ?? format.readAnswer(answer)
    },
    answerReader() {
      const reader = format.answerReader()
      const texts = knownTexts()
      /** The last event that was not parsed. */
      let unread: Uint8Array | undefined

      function readUnread(): void {
        if (unread !== undefined) reader.read(parseEvent(unread))
        unread = undefined
      }

      return {
        read({ event: name, data }: ServerSentEvent) {
          const known = texts.read(name, data)
          if (known !== undefined) {
            unread = data
            return [known]
          }
          if (isDone(data)) return 'done'
          readUnread()
          const event = parseEvent(data)
          const read = (name === 'error' ? answered(event) : errorIn(event)) ?? reader.read(event)
          texts.keep(name, data, read)
          return read
        },
        end() {
          readUnread()
          return reader.end()
        },
      }
    },
  }
}

const unknownError: UpstreamError = {
  message: 'error without a message',
  texts: [],
  codes: [],
  waits: new Map(),
  isPassedOn: false,
}

/** An answer as an object; of an array, which Gemini sends around errors, an error that is its first element. */
function parseAnswer(body: Uint8Array): JsonObject {
  const answer = parseOr(
    body,
    (cause) => new UpstreamFailure('malformed', 'the answer is not JSON', { status: 200, cause }),
  )
  if (isObject(answer)) return answer
  const [first] = listOf(answer)
  if (isObject(first) && errorIn(first) !== undefined) return first
  throw new UpstreamFailure('malformed', 'the answer is not a JSON object', { status: 200 })
}

function parseEvent(data: Uint8Array): JsonObject {
  const event = parseOr(data, () => new MalformedAnswer('malformed', 'an event is not JSON'))
  if (!isObject(event)) throw new MalformedAnswer('malformed', 'an event is not a JSON object')
  return event
}

/** Returns the error in an answer or event; undefined without one. */
function errorIn(answer: JsonObject): AnsweredError | undefined {
  const { error, type } = answer
  if (type === 'error' || (error !== undefined && error !== null)) return answered(answer)
  const instead = errorInside(answer)
  return instead && { kind: 'error', error: instead }
}

function answered(answer: JsonObject): AnsweredError {
  return { kind: 'error', error: errorOf(answer) ?? unknownError }
}

function parseOr(bytes: Uint8Array, failure: (cause: unknown) => Error): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch (error) {
    throw failure(error)
  }
}
