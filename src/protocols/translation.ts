import { UpstreamFailure } from '../service/failure.ts'
import { errorOf } from '../wire/error-body.ts'
import type { ErrorBody } from '../wire/error-body.ts'
import type { ServerSentEvent } from '../wire/event-stream.ts'
import { MalformedAnswer } from '../wire/malformed-answer.ts'
import { isObject, listOf, parseJsonBytes } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import { answeredError } from './openai.ts'
import type { Connection } from './protocol.ts'

const unknownError: ErrorBody = {
  message: 'an error without a reason',
  type: undefined,
  code: undefined,
  status: undefined,
  retryDelayMs: undefined,
}

/**
 * The path of the base URL, with the API's version added when there is none in it: `https://api.example.com` and
 * `https://api.example.com/v1` are the same.
 */
export function versionedPath({ baseUrl }: Connection, version: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '')
  return /\/v\d+[a-z0-9]*(?:\/|$)/.test(path) ? path : `${path}/${version}`
}

/** The owner's headers, in lower case, so that they replace ours. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Reads a complete 200 answer as an object.
 *
 * @throws {UpstreamFailure} when it is an error, or no object
 */
export function readAnswer(body: Uint8Array): JsonObject {
  const answer = parseOr(
    body,
    (cause) => new UpstreamFailure('malformed', 'an answer that is not JSON', { status: 200, cause }),
  )
  if (isObject(answer)) return withoutError(answer)
  const [first] = listOf(answer)
  if (isObject(first)) withoutError(first)
  throw new UpstreamFailure('malformed', 'an answer that is not an object', { status: 200 })
}

/**
 * Reads the data of an event as an object.
 *
 * @throws {UpstreamFailure} when it is an error
 * @throws {MalformedAnswer} when it is no object: a stream that has begun may go on without it (failover.md row 34)
 */
export function readEvent({ event: name, data }: ServerSentEvent): JsonObject {
  const event = parseOr(data, () => new MalformedAnswer('malformed', 'an event that is not JSON'))
  if (!isObject(event)) throw new MalformedAnswer('malformed', 'an event that is not an object')
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
