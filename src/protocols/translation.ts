import type { JsonObject } from '../base/json-value.ts'
import type { ServerSentEvent } from '../bytes/event-stream.ts'
import { answerWriter, writeAnswer } from '../formats/chat/answer-writer.ts'
import { isDone } from '../formats/chat/done.ts'
import { readConversation } from '../formats/chat/read-conversation.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import { errorOf, type ErrorBody } from '../formats/error-body.ts'
import { encodeJson, isObject, listOf, parseJsonBytes } from '../formats/json-value.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { UpstreamFormat } from '../formats/upstream-format.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { answeredError } from './native.ts'
import type { Endpoint, Dialect } from './protocol.ts'

const unknownError: ErrorBody = {
  message: 'error without a message',
  type: undefined,
  code: undefined,
  status: undefined,
  retryDelayMs: undefined,
}

/**
 * For upstreams whose format is not chat completions: writes requests from the caller's conversation, and answers as
 * chat completions.
 */
export function translated(format: UpstreamFormat, path: Dialect['path']): Dialect {
  return {
    path,
    encode({ body, stream: isStream }, model, { drop, overrides }) {
      const request = format.writeRequest(readConversation(body, drop), { model, isStream })
      return [encodeJson(format.override?.(request, overrides) ?? { ...request, ...overrides })]
    },
    decode: (body, { model }) => ({ kind: 'whole', ...writeAnswer(format.readAnswer(readAnswer(body)), { model }) }),
    stream({ model, members, includeUsage }: ChatRequest, { overrides }) {
      const reader = format.answerReader()
      const writer = answerWriter({ model, usage: includeUsage ? 'separate' : 'hidden' })
      return {
        hasOneChoice: !Object.hasOwn(overrides, 'n') && members.every(({ name }) => name !== 'n'),
        decode(event) {
          const events = isDone(event.data) ? 'done' : reader.read(readEvent(event))
          return events === 'done' ? 'done' : writer.write(events)
        },
        finish: () => writer.write(reader.end()),
      }
    },
  }
}

/**
 * Returns the path of the base URL. Adds the API's version if the path has none, so that `https://api.example.com` and
 * `https://api.example.com/v1` mean the same.
 */
export function versionedPath({ baseUrl }: Endpoint, version: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '')
  return /\/v\d+[a-z0-9]*(?:\/|$)/.test(path) ? path : `${path}/${version}`
}

/** The configured headers with names in lower case, so that they replace the protocol's own. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Reads a complete 200 answer as an object.
 *
 * @throws {UpstreamFailure} for an error, and for JSON other than an object
 */
function readAnswer(body: Uint8Array): JsonObject {
  const answer = parseOr(
    body,
    (cause) => new UpstreamFailure('malformed', 'the answer is not JSON', { status: 200, cause }),
  )
  if (isObject(answer)) return withoutError(answer)
  const [first] = listOf(answer)
  if (isObject(first)) withoutError(first)
  throw new UpstreamFailure('malformed', 'the answer is not a JSON object', { status: 200 })
}

/**
 * Reads the data of an event as an object.
 *
 * @throws {UpstreamFailure} for an error
 * @throws {MalformedAnswer} for JSON other than an object (failover.md row 34)
 */
function readEvent({ event: name, data }: ServerSentEvent): JsonObject {
  const event = parseOr(data, () => new MalformedAnswer('malformed', 'an event is not JSON'))
  if (!isObject(event)) throw new MalformedAnswer('malformed', 'an event is not a JSON object')
  if (name === 'error') throw answeredError(errorOf(event) ?? unknownError)
  return withoutError(event)
}

function withoutError(answer: JsonObject): JsonObject {
  const { error, type } = answer
  if (type !== 'error' && (error === undefined || error === null)) return answer
  throw answeredError(errorOf(answer) ?? unknownError)
}

function parseOr(bytes: Uint8Array, failure: (cause: unknown) => Error): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch (error) {
    throw failure(error)
  }
}
